// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/Philosophers.java [PHILOSOPHERS] [MEALS]
// Dining philosophers: a fork is a channel with room for one; whoever cannot get the second fork at once puts the first
// one back and lets the others go on. On 1, 2 and 8 Ps, three times each.

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.gmp4j.sync.WaitGroup;

public class Philosophers {
    public static void main(String[] args) {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 5;
        int meals = args.length > 1 ? Integer.parseInt(args[1]) : 100_000;
        for (int procs : new int[] {1, 2, 8}) {
            for (int run = 1; run <= 3; run++) {
                run(procs, n, meals);
            }
        }
    }

    private static void run(int procs, int n, int meals) {
        long start = System.nanoTime();
        int[] eaten = new int[n];
        try (Gmp gmp = Gmp.builder().procs(procs).build()) {
            gmp.run(() -> dine(n, meals, eaten));
        }
        long time = System.nanoTime() - start;
        boolean right = true;
        for (int e : eaten) {
            right &= e == meals;
        }
        System.out.printf("%d Ps: %d philosophers, %,d meals each (%s), %.0f ms%n", procs, n, meals,
                right ? "right" : "WRONG", time / 1e6);
        if (!right) {
            System.exit(1);
        }
    }

    private static void dine(int n, int meals, int[] eaten) {
        List<Chan<int[]>> forks = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            Chan<int[]> fork = Chan.make(1);
            fork.send(new int[1]); // Counts its uses: only its holder may.
            forks.add(fork);
        }
        WaitGroup done = new WaitGroup();
        for (int i = 0; i < n; i++) {
            int me = i;
            done.go(() -> philosopher(forks.get(me), forks.get((me + 1) % n), meals, eaten, me));
        }
        done.await();
        int uses = 0;
        for (Chan<int[]> fork : forks) {
            uses += fork.recv()[0];
        }
        if (uses != 2 * n * meals) {
            throw new IllegalStateException("two held one fork: " + uses + " uses");
        }
    }

    private static void philosopher(Chan<int[]> left, Chan<int[]> right, int meals, int[] eaten, int me) {
        int[][] held = new int[2][];
        Select first = Select.of().recv(left, f -> held[0] = f).recv(right, f -> held[0] = f);
        Select thenRight = Select.of().recv(right, f -> held[1] = f).orElse(() -> { });
        Select thenLeft = Select.of().recv(left, f -> held[1] = f).orElse(() -> { });
        while (eaten[me] < meals) {
            boolean leftFirst = first.run() == 0;
            boolean both = (leftFirst ? thenRight : thenLeft).run() == 0;
            if (both) {
                held[0][0]++;
                held[1][0]++;
                eaten[me]++;
                (leftFirst ? right : left).send(held[1]);
            }
            (leftFirst ? left : right).send(held[0]);
            if (!both) {
                Go.gosched(); // With empty hands: five that yield with a fork each do so for ever.
            }
        }
    }
}
