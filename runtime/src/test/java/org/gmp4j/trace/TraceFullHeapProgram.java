// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sched.Ballast;

/** Ends traces with ever more memory, so that it runs out between any two steps; and stops the world under checks meanwhile. */
final class TraceFullHeapProgram {
    private static final int STEP = 16 << 10;
    private static final int MOST = 200 << 10;
    private static final int GOROUTINES = 300;
    private static final int FILLS = 20;
    private static final Duration LONG = Duration.ofSeconds(10);
    private static volatile Object left;

    private interface Step {
        void run() throws Exception;
    }

    private interface Attempt {
        boolean with(int room) throws Exception;
    }

    private TraceFullHeapProgram() {
    }

    public static void main(String[] args) throws Exception {
        Path file = Path.of(args[1], args[0]);
        Gmp gmp = Gmp.builder().procs(2).debug(args[0].equals("invariants") ? "invariants=1" : "").build();
        for (int i = 0; i < GOROUTINES; i++) { // Their states take memory.
            gmp.go(() -> Go.sleep(Duration.ofMinutes(1)));
        }
        trace(gmp, file).stop(); // All classes are there.
        boolean refused = switch (args[0]) {
            case "trace" -> eachRoom(room -> refuses(room, trace(gmp, file)::stop));
            case "flight" -> eachRoom(room -> refuses(room, flight(gmp)::close));
            case "watch" -> eachRoom(room -> watches(room, gmp, file));
            default -> stops(gmp);
        };
        trace(gmp, file).stop();
        System.out.println("refused " + refused + ", then " + (Files.size(file) > 0));
        System.exit(0);
    }

    private static boolean eachRoom(Attempt attempt) throws Exception {
        boolean refused = false;
        for (int room = 0; room < MOST; room += STEP) {
            refused |= attempt.with(room);
        }
        return refused;
    }

    private static Trace trace(Gmp gmp, Path file) throws Exception {
        Trace t = Trace.start(gmp, file);
        gmp.run(Go::gosched);
        return t;
    }

    private static FlightRecorder flight(Gmp gmp) {
        FlightRecorder r = FlightRecorder.start(gmp, LONG);
        gmp.run(Go::gosched);
        return r;
    }

    /** Whether it was refused with so much memory; then it is done with more. */
    private static boolean refuses(int room, Step step) throws Exception {
        left = new byte[room];
        Ballast.fill();
        left = null;
        boolean refused = false;
        try {
            step.run();
        } catch (OutOfMemoryError e) {
            refused = true;
        } finally {
            Ballast.drop();
        }
        step.run();
        return refused;
    }

    /** The recorder's thread meets a full heap; afterwards it still writes what was asked for. */
    private static boolean watches(int room, Gmp gmp, Path file) throws Exception {
        Files.deleteIfExists(file);
        AtomicBoolean over = new AtomicBoolean();
        for (int i = 0; i < 4; i++) { // Some are always late.
            gmp.go(() -> {
                while (!over.get()) {
                    Go.gosched();
                }
            });
        }
        Duration atOnce = Duration.ofNanos(1);
        try (FlightRecorder r = flight(gmp)) {
            left = new byte[room];
            Ballast.fill();
            left = null;
            try {
                r.snapshotOnLatency(atOnce, file);
                Thread.sleep(30);
            } finally {
                Ballast.drop();
            }
            while (!Files.exists(file) || Files.size(file) == 0) {
                Thread.sleep(1);
            }
        } finally {
            over.set(true);
        }
        return true;
    }

    /** A thread stops the world again and again while memory runs out: there may be none for the check, and the world goes on. */
    private static boolean stops(Gmp gmp) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        Thread t = new Thread(() -> {
            for (int i = 0; !over.get(); i++) {
                try {
                    int _ = gmp.setProcs(i % 3 + 1);
                } catch (OutOfMemoryError e) {
                    Thread.onSpinWait();
                }
            }
        });
        t.start();
        for (int i = 0; i < FILLS; i++) {
            Ballast.fill();
            Thread.sleep(5);
            Ballast.drop();
            Thread.sleep(5);
        }
        over.set(true);
        t.join();
        gmp.run(Go::gosched);
        return true;
    }
}
