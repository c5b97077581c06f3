// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Loops of every shape that javac makes; each method takes a number and returns what it computed. {@link LoopShapesTest}
 * runs them with and without points.
 */
public final class LoopShapes {
    private static int sink;

    private LoopShapes() {
    }

    static long forLoop(int n) {
        long s = 0;
        for (int i = 0; i < n; i++) {
            s += i * 31L;
        }
        return s;
    }

    static long whileLoop(int n) {
        long x = n + 27;
        long steps = 0;
        while (x != 1) {
            x = (x & 1) == 0 ? x >> 1 : 3 * x + 1;
            steps++;
        }
        return steps;
    }

    static long doWhile(int n) {
        int i = 0;
        do {
            i += 3;
        } while (i < n);
        return i;
    }

    /** The header is the first instruction of the method. */
    static long doFirst(int n) {
        do {
            n--;
        } while (n > 0);
        return n;
    }

    static long nested(int n) {
        long s = 0;
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) {
                for (int k = j; k < j + 3; k++) {
                    s = s * 17 + i + j + k;
                }
            }
        }
        return s;
    }

    static long labelled(int n) {
        long s = 0;
        outer: for (int i = 0; i < n; i++) {
            int j = 0;
            while (true) {
                if (j > i) {
                    continue outer;
                }
                if ((i * j & 63) == 62) {
                    break outer;
                }
                s += i ^ j++;
            }
        }
        return s;
    }

    @SuppressWarnings("fallthrough")
    static long switches(int n) {
        long s = 1;
        int state = 0;
        for (int i = 0; i < n; i++) {
            switch (state) {
                case 0:
                    state = 2;
                    continue;
                case 1:
                    s += i;
                    state = 0;
                    break;
                case 2:
                    s *= 3;
                case 3:
                    s ^= i;
                    state = 1;
                    break;
                default:
                    return -1;
            }
            switch (i & 0xFFF) {
                case 1000 -> s += 5;
                case -7 -> s -= 5;
                case 40_000 -> s = 0;
                default -> s++;
            }
        }
        return s;
    }

    static long strings(int n) {
        long s = 0;
        for (String word = "a"; s < n; word = word.length() > 4 ? "a" : word + "b") {
            s += switch (word) {
                case "a" -> 1;
                case "ab" -> 2;
                case "abb" -> {
                    int t = 0;
                    while (t * t < s) {
                        t++;
                    }
                    yield t;
                }
                default -> 3;
            };
        }
        return s;
    }

    sealed interface Shape permits Square, Circle {
    }

    record Square(int side) implements Shape {
    }

    record Circle(int radius) implements Shape {
    }

    static long patterns(int n) {
        long area = 0;
        for (int i = 0; i < n; i++) {
            Shape shape = (i & 1) == 0 ? new Square(i) : new Circle(i);
            area += switch (shape) {
                case Square(int side) when side > 10 -> (long) side * side;
                case Square _ -> 1;
                case Circle(int radius) -> 3L * radius * radius;
            };
        }
        return area;
    }

    static long finallies(int n) {
        long s = 0;
        for (int i = 0; i < n; i++) {
            try {
                try {
                    if (i % 7 == 3) {
                        throw new IllegalStateException("seven");
                    }
                    if (i % 11 == 5) {
                        continue;
                    }
                    s += i;
                } finally {
                    for (int j = 0; j < i % 5; j++) {
                        s ^= j;
                    }
                }
            } catch (IllegalStateException e) {
                s += e.getMessage().length();
            }
        }
        return s;
    }

    static long retries(int n) {
        int tries = 0;
        while (true) {
            try {
                return attempt(tries, n);
            } catch (ArithmeticException e) {
                tries++;
            }
        }
    }

    private static int attempt(int tries, int n) {
        if (tries < n) {
            throw new ArithmeticException();
        }
        return tries;
    }

    static long monitors(int n) {
        Object lock = new Object();
        long s = 0;
        synchronized (lock) {
            for (int i = 0; i < n; i++) {
                synchronized (lock) {
                    if ((i & 3) == 1) {
                        continue;
                    }
                    s += i;
                }
            }
        }
        return s;
    }

    static synchronized long locks(int n) {
        ReentrantLock lock = new ReentrantLock();
        int i = 0;
        for (;;) {
            lock.lock();
            try {
                if (i++ == n) {
                    return i;
                }
            } finally {
                lock.unlock();
            }
        }
    }

    static long resources(int n) throws IOException {
        long s = 0;
        for (int i = 0; i < n; i++) {
            try (StringReader in = new StringReader("text" + i)) {
                for (int c; (c = in.read()) >= 0;) {
                    s += c;
                }
            }
        }
        return s;
    }

    static long lambdas(int n) {
        IntBinaryOperator power = (base, exponent) -> {
            int r = 1;
            while (exponent-- > 0) {
                r *= base;
            }
            return r;
        };
        Supplier<int[]> numbers = () -> {
            int[] a = new int[n];
            for (int i = 0; i < n; i++) {
                a[i] = power.applyAsInt(i, 3);
            }
            return a;
        };
        return IntStream.of(numbers.get()).asLongStream().sum();
    }

    /** An object whose constructor has not run is on the stack while its arguments branch, and opens the loop. */
    static long objects(int n) {
        int[] left = {n};
        while (new StringBuilder(left[0] > 5 ? "more" : "less").append(left[0]--).length() > 5) {
            sink++;
        }
        Object o;
        do {
            o = new StringBuilder(left[0] < 0 ? -left[0] : left[0]).append(left[0]);
        } while (--left[0] > -n);
        return o.toString().hashCode();
    }

    static long arrays(int n) {
        List<int[]> all = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            int[] a = new int[16];
            Arrays.setAll(a, j -> j * all.size());
            all.add(a);
        }
        long s = 0;
        for (int[] a : all) {
            for (int v : a) {
                s += v;
            }
        }
        return s;
    }

    static long maps(int n) {
        Map<String, Integer> counts = new HashMap<>();
        for (int i = 0; i < n; i++) {
            counts.merge("k" + i % 13, i, Integer::sum);
        }
        long s = 0;
        for (Map.Entry<String, Integer> e : counts.entrySet()) {
            s += e.getKey().hashCode() ^ e.getValue();
        }
        return s;
    }

    static long wide(int n) {
        long a0 = 1, a1 = 2, a2 = 3, a3 = 4, a4 = 5, a5 = 6, a6 = 7, a7 = 8;
        double d0 = 0.5, d1 = 1.5;
        for (int i = 0; i < n; i += 300) {
            a0 += a7;
            a7 = a6 ^ a5;
            a6 = a4 + a3;
            d0 = d0 * d1 + i;
            while (d0 > 1e6) {
                d0 /= 3;
                a1++;
            }
            a2 = a1 * 31 + a0;
        }
        return a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7 + (long) d0;
    }

    private static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static long recursion(int n) {
        return fib(Math.min(n, 18));
    }

    static long deep(int n) {
        return n == 0 ? 0 : 1 + deep(n - 1);
    }

    /** A loop before {@code super()}, and one behind. */
    private static class Base {
        final long value;

        Base(long value) {
            this.value = value;
        }
    }

    private static final class Derived extends Base {
        long more;

        Derived(int n) {
            long s = 0;
            for (int i = 0; i < n; i++) {
                s += i;
            }
            super(s);
            for (long i = value; i > 1; i /= 2) {
                more++;
            }
        }

        Derived(Derived other, int n) {
            super(n > 0 ? new Derived(other, n - 1).value + 1 : other.value);
        }
    }

    static long constructors(int n) {
        Derived d = new Derived(n);
        return new Derived(d, 20).value + d.more;
    }

    private static final class Holder {
        static final long VALUE;

        static {
            long v = 1;
            for (int i = 0; i < 100; i++) {
                v = v * 31 + i;
            }
            VALUE = v;
        }
    }

    static long initializer(int n) {
        return Holder.VALUE + n;
    }
}
