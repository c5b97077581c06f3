// SPDX-License-Identifier: Apache-2.0
// ./gmp run [-XX:+UseParallelGC ...] bench/examples/Leaks.java [GOROUTINES]
// So many goroutines wait, each for a channel that is reachable, and ten for channels that nobody has: how long the leak report takes.

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;

public class Leaks {
    private static final int LEAKED = 10;
    private static final int REPORTS = 3;

    public static void main(String[] args) {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
        Gmp gmp = Gmp.builder().build(); // Not closed: those that have leaked never end.
        Chan<?>[] reachable = new Chan<?>[n];
        gmp.run(() -> {
            park(reachable);
            park(new Chan<?>[LEAKED]);
        });
        for (int i = 1; i <= REPORTS; i++) {
            long start = System.nanoTime();
            System.gc();
            long collected = System.nanoTime();
            int found = gmp.leaks().total();
            long end = System.nanoTime();
            System.out.printf("report %d: %,d ms, after a collection alone of %,d ms; %d of %,d have leaked (%s)%n", i,
                    (end - collected) / 1_000_000, (collected - start) / 1_000_000, found, n + LEAKED,
                    found == LEAKED ? "right" : "WRONG");
        }
        for (Chan<?> c : reachable) {
            c.close();
        }
    }

    private static void park(Chan<?>[] chans) {
        for (int i = 0; i < chans.length; i++) {
            Chan<?> c = Chan.make();
            chans[i] = c;
            Go.go(c::recv);
            if (i % 100 == 0) {
                Go.gosched(); // Those made so far run, and park.
            }
        }
        Go.gosched();
    }
}
