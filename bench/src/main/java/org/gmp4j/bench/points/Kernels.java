// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.points;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/** Loops and recursions of many shapes, to see what preemption points cost them. Each is a public nested class. */
public final class Kernels {
    /** Their names. */
    public static final List<String> NAMES =
            Arrays.stream(Kernels.class.getClasses()).map(Class::getSimpleName).sorted().toList();

    private static final long SEED = 42;

    private Kernels() {
    }

    /** A reduction that C2 vectorises. */
    public static final class VectorSum implements Kernel {
        private final int[] a = new Random(SEED).ints(200_000).toArray();

        @Override
        public long run() {
            int sum = 0;
            for (int i = 0; i < a.length; i++) {
                sum += a[i];
            }
            return sum;
        }
    }

    /** Floating point, in order: a chain of additions. */
    public static final class DotProduct implements Kernel {
        private final double[] a = new Random(SEED).doubles(100_000).toArray();
        private final double[] b = new Random(SEED + 1).doubles(100_000).toArray();

        @Override
        public long run() {
            double sum = 0;
            for (int i = 0; i < a.length; i++) {
                sum += a[i] * b[i];
            }
            return Double.doubleToLongBits(sum);
        }
    }

    /** Three nested loops, the innermost vectorised. */
    public static final class MatrixProduct implements Kernel {
        private static final int N = 96;
        private final float[][] a = matrix(SEED);
        private final float[][] b = matrix(SEED + 1);
        private final float[][] c = new float[N][N];

        private static float[][] matrix(long seed) {
            Random random = new Random(seed);
            float[][] m = new float[N][N];
            for (float[] row : m) {
                for (int i = 0; i < N; i++) {
                    row[i] = random.nextFloat();
                }
            }
            return m;
        }

        @Override
        public long run() {
            for (int i = 0; i < N; i++) {
                float[] row = c[i];
                Arrays.fill(row, 0);
                for (int k = 0; k < N; k++) {
                    float x = a[i][k];
                    float[] from = b[k];
                    for (int j = 0; j < N; j++) {
                        row[j] += x * from[j];
                    }
                }
            }
            return Float.floatToIntBits(c[N - 1][N - 1]);
        }
    }

    /** Numbers out of bytes, a call of a small method with a loop of its own for each. */
    public static final class ParseBytes implements Kernel {
        private final byte[] text;
        private int at;

        /** Makes the text. */
        public ParseBytes() {
            StringBuilder s = new StringBuilder();
            new Random(SEED).ints(20_000, 0, 1_000_000).forEach(n -> s.append(n).append(' '));
            text = s.toString().getBytes(StandardCharsets.US_ASCII);
        }

        @Override
        public long run() {
            long sum = 0;
            for (at = 0; at < text.length; at++) {
                sum += number();
            }
            return sum;
        }

        private int number() {
            int n = 0;
            for (; text[at] != ' '; at++) {
                n = n * 10 + text[at] - '0';
            }
            return n;
        }
    }

    /** FNV-1a: a chain of multiplications. */
    public static final class Hash implements Kernel {
        private final byte[] data = new byte[150_000];

        /** Makes the data. */
        public Hash() {
            new Random(SEED).nextBytes(data);
        }

        @Override
        public long run() {
            long h = 0xcbf29ce484222325L;
            for (byte b : data) {
                h = (h ^ b) * 0x100000001b3L;
            }
            return h;
        }
    }

    /** Heapsort: loops inside a loop, with branches that cannot be predicted. */
    public static final class Sort implements Kernel {
        private final int[] data = new Random(SEED).ints(4_000).toArray();
        private final int[] a = new int[data.length];

        @Override
        public long run() {
            System.arraycopy(data, 0, a, 0, a.length);
            for (int i = a.length / 2 - 1; i >= 0; i--) {
                sift(i, a.length);
            }
            for (int end = a.length - 1; end > 0; end--) {
                int last = a[end];
                a[end] = a[0];
                a[0] = last;
                sift(0, end);
            }
            return a[a.length / 3];
        }

        private void sift(int from, int end) {
            int root = from;
            int value = a[root];
            for (int child = 2 * root + 1; child < end; child = 2 * root + 1) {
                if (child + 1 < end && a[child] < a[child + 1]) {
                    child++;
                }
                if (a[child] <= value) {
                    break;
                }
                a[root] = a[child];
                root = child;
            }
            a[root] = value;
        }
    }

    /** A loop that ends when it likes, inside two that count. */
    public static final class Mandelbrot implements Kernel {
        @Override
        public long run() {
            int inside = 0;
            for (int py = 0; py < 48; py++) {
                for (int px = 0; px < 48; px++) {
                    double cx = px / 16.0 - 2;
                    double cy = py / 16.0 - 1.5;
                    double x = 0;
                    double y = 0;
                    int n = 0;
                    while (x * x + y * y < 4 && n < 100) {
                        double t = x * x - y * y + cx;
                        y = 2 * x * y + cy;
                        x = t;
                        n++;
                    }
                    inside += n;
                }
            }
            return inside;
        }
    }

    /** Recursion without a loop: the shape of calls depends on what C2 inlines. */
    public static final class Fib implements Kernel {
        @Override
        public long run() {
            return fib(24);
        }

        private static int fib(int n) {
            return n < 2 ? n : fib(n - 1) + fib(n - 2);
        }
    }

    /** Recursion on an object, with a loop in each call. */
    public static final class Permutations implements Kernel {
        private final int[] a = {0, 1, 2, 3, 4, 5, 6, 7};
        private long sum;

        @Override
        public long run() {
            sum = 0;
            permute(0);
            return sum;
        }

        private void permute(int from) {
            if (from == a.length - 1) {
                sum += a[0] * 3 + a[from];
                return;
            }
            for (int i = from; i < a.length; i++) {
                swap(from, i);
                permute(from + 1);
                swap(from, i);
            }
        }

        private void swap(int i, int j) {
            int t = a[i];
            a[i] = a[j];
            a[j] = t;
        }
    }

    /** Calls of the JDK, and garbage. */
    public static final class StringBuilding implements Kernel {
        @Override
        public long run() {
            long sum = 0;
            for (int i = 0; i < 300; i++) {
                StringBuilder s = new StringBuilder();
                for (int j = 0; j < 20; j++) {
                    s.append(j * i).append(',');
                }
                sum += s.toString().hashCode();
            }
            return sum;
        }
    }

    /** Loads that depend on one another. */
    public static final class LinkedWalk implements Kernel {
        private final Node first;

        private record Node(int value, Node next) {
        }

        /** Makes the list, in another order than memory's. */
        public LinkedWalk() {
            Node node = null;
            for (int i = 0; i < 20_000; i++) {
                node = new Node(i, node);
            }
            first = node;
        }

        @Override
        public long run() {
            long sum = 0;
            for (int i = 0; i < 4; i++) {
                for (Node n = first; n != null; n = n.next) {
                    sum += n.value;
                }
            }
            return sum;
        }
    }

    /** Two loops one after the other, the first with one inside that strides. */
    public static final class Sieve implements Kernel {
        private final boolean[] composite = new boolean[60_000];

        @Override
        public long run() {
            Arrays.fill(composite, false);
            int n = composite.length;
            for (int i = 2; i * i < n; i++) {
                if (!composite[i]) {
                    for (int j = i * i; j < n; j += i) {
                        composite[j] = true;
                    }
                }
            }
            int primes = 0;
            for (int i = 2; i < n; i++) {
                if (!composite[i]) {
                    primes++;
                }
            }
            return primes;
        }
    }

    /** A state machine: a switch in a loop, with jumps back out of its cases. */
    public static final class StateMachine implements Kernel {
        private final byte[] input = new byte[40_000];

        /** Makes the input. */
        public StateMachine() {
            new Random(SEED).nextBytes(input);
        }

        @Override
        public long run() {
            int state = 0;
            int words = 0;
            int numbers = 0;
            for (byte b : input) {
                int c = b & 63;
                switch (state) {
                    case 0:
                        if (c < 8) {
                            continue;
                        }
                        state = c < 20 ? 1 : 2;
                        break;
                    case 1:
                        if (c >= 20) {
                            numbers++;
                            state = c < 40 ? 0 : 3;
                        }
                        break;
                    case 2:
                        if (c < 8) {
                            words++;
                            state = 0;
                        }
                        break;
                    default:
                        state = c & 1;
                        break;
                }
            }
            return words * 100_000L + numbers;
        }
    }

    /** A small method with a loop that a caller's loop inlines: whether it still does is the question. */
    public static final class SmallLoops implements Kernel {
        private final long[] words = new Random(SEED).longs(10_000).toArray();

        @Override
        public long run() {
            long sum = 0;
            for (long w : words) {
                sum += varintLength(w & 0xFFFF);
            }
            return sum;
        }

        private static int varintLength(long v) {
            int n = 1;
            long left = v;
            while ((left & ~0x7FL) != 0) {
                left >>>= 7;
                n++;
            }
            return n;
        }
    }
}
