// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import org.gmp4j.bench.measure.IdleCpu;

/** The works whose figures are memory and CPU time. */
final class Resources {
    /** How many wait; the peers in other languages have the same number. */
    static final int PARKED = 500_000;
    private static final Duration TICK = Duration.ofMillis(10);
    private static final int IDLE_SHARES = 3;
    private static final Duration QUICK_TICK = Duration.ofNanos(100_000);
    private static final int COLLECTIONS = 2;

    private static volatile boolean stop;

    private Resources() {
    }

    /** Runs one; {@code false} if it is none of these. */
    static boolean run(String work, Kit kit, Meter m) {
        switch (work) {
            case "parked" -> parked(kit, m);
            case "idle" -> idle(kit, m);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Measures the resident bytes of one of many waiting goroutines. */
    private static void parked(Kit kit, Meter m) {
        m.warmUp(nanos -> kit.run(() -> { // Until the compilers are done: interpreted frames are larger.
            long end = System.nanoTime() + nanos;
            do {
                Kit.Gate gate = kit.gate();
                park(kit, gate, 1000);
                gate.open();
            } while (System.nanoTime() - end < 0);
        }));
        kit.run(() -> {
            long before = resident();
            int n = m.size(PARKED);
            Kit.Gate gate = kit.gate();
            park(kit, gate, n);
            m.value("parked", "bytes", Math.max(1, resident() - before) / (double) n);
            gate.open();
        });
    }

    private static void park(Kit kit, Kit.Gate gate, int n) {
        Kit.Latch ready = kit.latch(n);
        for (int i = 0; i < n; i++) {
            kit.go(() -> {
                ready.done();
                gate.await();
            });
            if (i % 100 == 0) {
                kit.yield(); // Those made so far run, and wait.
            }
        }
        ready.await();
        kit.sleep(Duration.ofMillis(1)); // The last ones are on their way into their wait.
    }

    /** Returns the resident bytes after collections, so that garbage does not count. */
    private static long resident() {
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new IllegalStateException("no VmRSS in /proc/self/status");
    }

    /** Measures the CPU of a program in which one thread wakes every 10 ms and sleeps again. */
    private static void idle(Kit kit, Meter m) {
        m.warmUp(nanos -> kit.run(() -> { // Many ticks, or the compilers would be at work for long.
            long end = System.nanoTime() + nanos;
            do {
                kit.sleep(QUICK_TICK);
            } while (System.nanoTime() - end < 0);
        }));
        stop = false;
        kit.run(() -> kit.go(() -> {
            while (!stop) {
                kit.sleep(TICK);
            }
        }));
        try {
            IdleCpu.measure(null, m.settings().nanos()); // What happens once is over then.
            m.value("idle", "ms/s", IdleCpu.measure(null, IDLE_SHARES * m.settings().nanos()).percent() * 10);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        stop = true;
    }
}
