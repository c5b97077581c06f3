// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/Tokens.java [GOROUTINES] [TOKENS]
// A ring of goroutines hands tokens on through channels; the last adds up what arrives. On 1, 2 and 8 Ps.

import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;

public class Tokens {
    public static void main(String[] args) {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
        int tokens = args.length > 1 ? Integer.parseInt(args[1]) : 20;
        for (int procs : new int[] {1, 2, 8}) {
            try (Gmp gmp = Gmp.builder().procs(procs).build()) {
                AtomicLong sum = new AtomicLong();
                long start = System.nanoTime();
                gmp.run(() -> pass(n, tokens, sum));
                long expected = (long) tokens * (tokens + 1) / 2 + (long) tokens * n;
                System.out.printf("%d Ps: %,d goroutines, %d tokens, sum %,d (%s), %.1f s%n", procs, n, tokens, sum.get(),
                        sum.get() == expected ? "right" : "WRONG, expected " + expected,
                        (System.nanoTime() - start) / 1e9);
                if (sum.get() != expected) {
                    System.exit(1);
                }
            }
        }
    }

    private static void pass(int n, int tokens, AtomicLong sum) {
        Chan<Long> first = Chan.make();
        Chan<Long> in = first;
        WaitGroup all = new WaitGroup();
        for (int i = 0; i < n; i++) {
            Chan<Long> from = in;
            Chan<Long> to = Chan.make();
            all.go(() -> {
                for (long v : from) {
                    to.send(v + 1);
                }
                to.close();
            });
            in = to;
        }
        Go.go(() -> {
            for (long t = 1; t <= tokens; t++) {
                first.send(t);
            }
            first.close();
        });
        for (long v : in) {
            sum.addAndGet(v);
        }
        all.await();
    }
}
