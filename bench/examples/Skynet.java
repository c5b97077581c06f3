// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/Skynet.java [LEAVES]
// A tree of goroutines, ten children each; a leaf sends its number up, the others add up. 1,000,000 leaves by default.

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;

public class Skynet {
    public static void main(String[] args) {
        int leaves = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
        for (int procs : new int[] {1, 2, 8}) {
            try (Gmp gmp = Gmp.builder().procs(procs).build()) {
                for (int run = 1; run <= 3; run++) {
                    long[] sum = new long[1];
                    long start = System.nanoTime();
                    gmp.run(() -> {
                        LongChan up = LongChan.make();
                        Go.go(() -> node(up, 0, leaves));
                        sum[0] = up.recv();
                    });
                    long time = System.nanoTime() - start;
                    boolean right = sum[0] == (long) leaves * (leaves - 1) / 2;
                    System.out.printf("%d Ps: %,d leaves, sum %,d (%s), %.0f ms%n", procs, leaves, sum[0],
                            right ? "right" : "WRONG", time / 1e6);
                    if (!right) {
                        System.exit(1);
                    }
                }
            }
        }
    }

    private static void node(LongChan up, long first, int size) {
        if (size == 1) {
            up.send(first);
            return;
        }
        LongChan mine = LongChan.make();
        int children = Math.min(10, size);
        long next = first;
        for (int i = 0; i < children; i++) {
            int part = size / children + (i < size % children ? 1 : 0);
            long from = next;
            Go.go(() -> node(mine, from, part));
            next += part;
        }
        long sum = 0;
        for (int i = 0; i < children; i++) {
            sum += mine.recv();
        }
        up.send(sum);
    }
}
