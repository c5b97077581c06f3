// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.Mutex;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that ends by a fatal error or an uncaught exception leaves its trace behind. */
class TraceAtTheEndTest {
    @TempDir
    private Path dir;

    /** Begins a trace in its second argument if there is one. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            Gmp.main(() -> {
                try {
                    Trace _ = args.length > 1 ? Trace.start(Path.of(args[1])) : null;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                Go.go(() -> Go.sleep(Duration.ofHours(1)));
                Go.sleep(Duration.ofMillis(1));
                if (args[0].equals("another")) {
                    another();
                    return;
                }
                if (args[0].equals("panic")) {
                    throw new IllegalStateException("so");
                }
                Go.go(() -> {
                    for (;;) {
                        Thread.onSpinWait();
                    }
                });
                new Mutex().unlock();
            });
        }

        /** Returns when the report of another goroutine's misuse has begun; it has many stacks to print. */
        private static void another() {
            Chan<Integer> never = Chan.make();
            for (int i = 0; i < 1_000; i++) {
                Go.go(never::recv);
            }
            Go.go(() -> new Mutex().unlock());
            while (Thread.getAllStackTraces().keySet().stream().noneMatch(t -> t.getName().equals("gmp-halt"))) {
                Go.gosched();
            }
        }
    }

    /** Goes to sleep for good. */
    static final class Deadlock {
        private Deadlock() {
        }

        public static void main(String[] args) {
            Gmp.main(() -> Chan.make().recv());
        }
    }

    /** Drops a virtual thread, and ends when that has been collected. */
    static final class Dropping {
        private Dropping() {
        }

        public static void main(String[] args) throws InterruptedException {
            Gmp gmp = Gmp.makeDefault();
            Executors.newVirtualThreadPerTaskExecutor().execute(LockSupport::park);
            do {
                System.gc();
                Thread.startVirtualThread(() -> { }).join();
            } while (gmp.numGoroutine() > 0);
        }
    }

    private static void check(Path file, Result r, String first) throws IOException {
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith(first), r::toString);
        assertTrue(Files.readString(file, StandardCharsets.ISO_8859_1).contains("end of trace"), r::toString);
    }

    @Test
    void deadlock() throws IOException {
        Path file = dir.resolve("deadlock");
        check(file, new ChildJvm(Deadlock.class).env("GMPDEBUG", "trace=" + file).run(), "fatal error: all goroutines are asleep");
    }

    @Test
    void panic() throws IOException {
        Path file = dir.resolve("panic");
        check(file, new ChildJvm(Program.class).run("panic", file.toString()), "panic: java.lang.IllegalStateException: so");
    }

    /** It is the end of its goroutine. */
    @Test
    void aThreadIsCollected() throws IOException {
        Path file = dir.resolve("collected");
        Result r = new ChildJvm(Dropping.class).env("GMPDEBUG", "trace=" + file).run();
        assertEquals(0, r.exit(), r::toString);
        Decoded d = new Decoded(file).check();
        assertEquals(d.last.get("created"), d.last.get("ended"), r::toString);
    }

    /** While another goroutine runs, which has no points. */
    @Test
    void misuse() throws IOException {
        Path file = dir.resolve("misuse");
        check(file, new ChildJvm(Program.class).env("GMPDEBUG", "trace=" + file).run("misuse"),
                "fatal error: sync: unlock of unlocked mutex");
    }

    /** Main returns meanwhile, which would end the program as one that has done what it was to do. */
    @Test
    void misuseByAnother() throws IOException {
        Path file = dir.resolve("another");
        check(file, new ChildJvm(Program.class).run("another", file.toString()), "fatal error: sync: unlock of unlocked mutex");
    }
}
