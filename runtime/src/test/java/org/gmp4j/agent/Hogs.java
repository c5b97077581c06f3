// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

/** Code that calls nothing and does not end by itself; {@link PointsTest} stops it. */
public final class Hogs {
    static volatile long sink;
    private static final int[] NUMBERS = new int[4096];

    private Hogs() {
    }

    static void forever() {
        for (;;) {
        }
    }

    static void rounds(int n) {
        for (int i = 0; i < n; i++) {
            sink = i;
        }
    }

    static void counting() {
        long i = 0;
        while (i != Long.MAX_VALUE) {
            i++;
        }
        sink = i;
    }

    /** The inner loop vectorises. */
    static void sums() {
        for (;;) {
            int s = 0;
            for (int i = 0; i < NUMBERS.length; i++) {
                s += NUMBERS[i];
            }
            sink = s;
        }
    }

    static void nested() {
        for (long i = 0; i < Long.MAX_VALUE; i++) {
            for (long j = 0; j < 1_000; j++) {
                for (long k = 0; k < 1_000; k++) {
                    sink = i ^ j ^ k;
                }
            }
        }
    }

    static void calling() {
        for (;;) {
            inner(1_000);
        }
    }

    private static void inner(int n) {
        for (int i = 0; i < n; i++) {
            sink += i;
        }
    }

    static void recursion() {
        sink = fib(70);
    }

    private static long fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static void insideTry() {
        for (;;) {
            try {
                if (sink == Long.MIN_VALUE) {
                    throw new IllegalStateException();
                }
            } catch (IllegalStateException e) {
                sink = 1;
            } finally {
                sink++;
            }
        }
    }

    static void insideLock() {
        synchronized (NUMBERS) {
            for (;;) {
                sink++;
            }
        }
    }

    static void insideLambda() {
        Runnable r = () -> {
            while (sink != Long.MIN_VALUE) {
            }
        };
        r.run();
    }

    static void states() {
        int state = 0;
        for (;;) {
            switch (state) {
                case 0 -> state = 3;
                case 3 -> state = 5;
                case 5 -> state = 1;
                default -> state = 0;
            }
        }
    }
}
