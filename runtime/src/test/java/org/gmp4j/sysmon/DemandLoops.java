// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;

import org.gmp4j.Chan;
import org.gmp4j.Go;

/**
 * The classes that get points on demand in {@link DemandProgram}. Each has a loop that takes some ten milliseconds for {@link #ROUNDS}. The
 * loop is written out in each class, because a class gets its points once, and for its own code.
 */
final class DemandLoops {
    static final long ROUNDS = 20_000_000;
    private static final int DEEP = 1_100;
    /** Whether the loops without an end stop. */
    static volatile boolean stop;

    private DemandLoops() {
    }

    /** Parks below so many frames that they hide the caller's frames: HotSpot shows the innermost 1,024. */
    private static void parkBelow(int frames) {
        if (frames == 0) {
            LockSupport.park();
        } else {
            parkBelow(frames - 1);
        }
    }

    static final class Again implements LongUnaryOperator {
        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }
    }

    /** Has loops whose counter is an int, which C2 compiles without a safepoint poll unless the collector asks for them. */
    static final class Counted {
        static long computes() {
            long h = 1;
            while (!stop) {
                for (int i = 0; i < 100_000; i++) {
                    h = h * 6_364_136_223_846_793_005L + (h >>> 7);
                }
                Go.gosched();
            }
            return h;
        }

        static long sum(int n) {
            long h = n;
            for (int i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }
    }

    static final class Endless implements LongUnaryOperator {
        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n || !stop && n == 0; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }
    }

    static final class Parked implements LongUnaryOperator {
        static Chan<Integer> chan;

        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            for (int i = 0; n == 0 && i < 2; i++) {
                h += chan.recv();
            }
            return h;
        }
    }

    /** Has two loops beside the one that overruns: one that waits in all its rounds, and one that computes, but not for a quantum. */
    static final class Served implements LongUnaryOperator {
        static Chan<Integer> chan;

        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }

        static int waits() {
            int sum = 0;
            for (int i = 0; i < 2; i++) {
                sum += chan.recv();
            }
            return sum;
        }

        static long computes() {
            long h = 1;
            while (!stop) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
                if ((h >>> 48) == 0) { // In one of 65,536 rounds.
                    Go.gosched();
                }
            }
            return h;
        }
    }

    /** Has a method that waits for jobs, and computes for each in a loop within its loop. */
    static final class Worker implements LongUnaryOperator {
        static Chan<Integer> jobs;

        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }

        static long works() {
            long h = 1;
            for (int n = jobs.recv(); n != 0; n = jobs.recv()) {
                for (int i = 0; i < n; i++) {
                    h = h * 6_364_136_223_846_793_005L + (h >>> 7);
                }
            }
            return h;
        }
    }

    /** Has the loop of a server, which calls a method that overruns, and more often one that computes for less than a quantum. */
    static final class Server implements LongUnaryOperator {
        static Chan<Long> requests;

        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }

        static long brief(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 9);
            }
            return h;
        }

        long serves() {
            long h = 0;
            for (long n = requests.recv(); n != 0; n = requests.recv()) {
                h += n == ROUNDS ? applyAsLong(n) : brief(n);
            }
            return h;
        }
    }

    static final class OnThread implements LongUnaryOperator {
        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            for (; n == 0 && !stop;) {
                parkBelow(DEEP);
            }
            return h;
        }
    }

    /** {@link OtherAgent} changes it. */
    static final class Work implements LongUnaryOperator {
        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }

        static String changedBy() {
            return "no agent";
        }
    }

    static final class Unread implements LongUnaryOperator {
        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }
    }
}
