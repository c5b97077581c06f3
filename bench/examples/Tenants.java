// SPDX-License-Identifier: Apache-2.0
// Two classes of work, each on a scheduler of its own: 50 goroutines that compute without end, and one that
// sleeps for 5 ms again and again. How late does it wake up? With "shared" both are on one scheduler.
//
//   gmp run Tenants.java [SECONDS] [shared]

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import org.gmp4j.Gmp;
import org.gmp4j.Go;

public class Tenants {
    private static final int COMPUTING = 50;
    private static final Duration SLEEP = Duration.ofMillis(5);
    private static volatile double sink;

    public static void main(String[] args) throws Exception {
        double seconds = args.length > 0 ? Double.parseDouble(args[0]) : 3;
        boolean shared = List.of(args).contains("shared");
        Gmp batch = Gmp.builder().name("batch").procs(1).build();
        Gmp requests = shared ? batch : Gmp.builder().name("requests").procs(1).build();
        for (int i = 0; i < COMPUTING; i++) {
            batch.go(Tenants::compute);
        }
        long[] late = requests.call(() -> late((int) (seconds * 1_000 / SLEEP.toMillis())));
        Arrays.sort(late);
        System.out.printf("%s: %d sleeps, none too short (%s), late by p50 %.2f ms, p90 %.2f, p99 %.2f%n", shared ? "shared" : "apart",
                late.length, late[0] >= 0 ? "right" : "wrong", at(late, 0.5), at(late, 0.9), at(late, 0.99));
        System.exit(0); // The others go on for ever.
    }

    private static long[] late(int sleeps) {
        long[] late = new long[sleeps];
        for (int i = 0; i < sleeps; i++) {
            long began = System.nanoTime();
            Go.sleep(SLEEP);
            late[i] = System.nanoTime() - began - SLEEP.toNanos();
        }
        return late;
    }

    private static double at(long[] sorted, double quantile) {
        return sorted[(int) (quantile * (sorted.length - 1))] / 1e6;
    }

    private static void compute() {
        for (double x = 1;; x = Math.sin(x) + 1) {
            sink = x;
        }
    }
}
