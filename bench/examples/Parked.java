// SPDX-License-Identifier: Apache-2.0
// ./gmp run [-XX:+UseSerialGC ...] bench/examples/Parked.java [GOROUTINES [ROUNDS]]
// So many goroutines wait in a receive: what memory they take, heap and all. Before that 1,000 wait in each of 500 rounds.

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;

public class Parked {
    public static void main(String[] args) throws IOException {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 1_000_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 500;
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            for (int i = 0; i < rounds; i++) {
                park(gmp, 1_000, false); // Until the compilers are done: interpreted frames are larger.
            }
            park(gmp, n, true);
        }
    }

    private static void park(Gmp gmp, int n, boolean print) throws IOException {
        Chan<Integer> never = Chan.make();
        gmp.run(() -> {
            for (int i = 0; i < n; i++) {
                Go.go(never::recv);
                if (i % 100 == 0) {
                    Go.gosched(); // Those made so far run, and park.
                }
            }
            Go.gosched();
        });
        if (print) {
            for (int i = 0; i < 4; i++) {
                System.gc(); // Serial leaves some garbage in place but at every fourth.
            }
            Runtime heap = Runtime.getRuntime();
            System.out.printf("%,d goroutines parked (%s), %s: %.2f GB resident, of it %.2f GB in use on the heap%n", n,
                    gmp.numGoroutine() >= n ? "right" : "WRONG", ManagementFactory.getGarbageCollectorMXBeans().getLast().getName(),
                    resident() / 1e9,
                    (heap.totalMemory() - heap.freeMemory()) / 1e9);
        }
        never.close();
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
