// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/Spawns.java [GOROUTINES]
// So many goroutines start and end, six times over: what stays resident does not grow.

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

import org.gmp4j.Gmp;
import org.gmp4j.Go;

public class Spawns {
    public static void main(String[] args) throws IOException {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 10_000_000;
        LongAdder ran = new LongAdder();
        Runnable count = ran::increment;
        try (Gmp gmp = Gmp.builder().procs(2).build()) {
            for (int round = 1; round <= 6; round++) {
                gmp.run(() -> {
                    for (int i = 0; i < n; i++) {
                        Go.go(count);
                        if (i % 100 == 99) {
                            Go.gosched();
                        }
                    }
                    while (Go.numGoroutine() > 1) {
                        Go.gosched();
                    }
                });
                System.gc();
                boolean right = ran.sum() == (long) n * round;
                System.out.printf("%,d goroutines so far (%s), %.1f MB resident%n", ran.sum(), right ? "right" : "WRONG",
                        resident() / 1e6);
            }
        }
    }

    private static long resident() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        throw new IOException("no VmRSS in /proc/self/status");
    }
}
