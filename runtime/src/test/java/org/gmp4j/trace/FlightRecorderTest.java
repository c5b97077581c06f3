// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@link FlightRecorder}, and when it writes. With a full heap: {@link TraceTest#withAFullHeap}. */
class FlightRecorderTest {
    @TempDir
    private Path dir;

    @Test
    void theRecorderKeepsTheLatest() throws Exception {
        Path file = dir.resolve("flight");
        try (TestGmp g = TestGmp.procs(2); FlightRecorder r = FlightRecorder.start(g.gmp, Duration.ofMinutes(1), 1)) {
            g.run(() -> TraceTest.pingPong(Chan.make(), Chan.make(), 20_000)); // 120,000 events; there is room for 74,000.
            TraceTest.awaitCount(g.gmp, 0);
            r.snapshot(file);
            Decoded d = new Decoded(file);
            assertEquals(-1, d.last.get("goroutines before"));
            assertTrue(d.last.get("events") > 30_000 && d.last.get("events") < 76_000, d.last::toString);
            assertEquals(2, d.last.get("ended"));
            assertEquals(0, d.last.get("created"));
            g.run(() -> TraceTest.pingPong(Chan.make(), Chan.make(), 10));
            r.snapshot(file);
            assertEquals(2, new Decoded(file).check().last.get("created"));
            TraceTest.end(r);
            assertThrows(IllegalStateException.class, () -> r.snapshot(file));
            assertThrows(IllegalStateException.class, () -> r.snapshotOnStall(file));
            assertThrows(IllegalStateException.class, () -> r.snapshotOnLatency(Duration.ofMillis(20), file));
        }
    }

    /**
     * Makes goroutines wait until the file is there. One wait is not always long: when the JVM stops its threads for long, sysmon takes
     * the P of the goroutine that computes, and the other runs early.
     */
    private static void waitUntilWritten(TestGmp g, Path file) {
        while (!Files.exists(file)) {
            g.run(TraceTest::makeOneWait);
        }
    }

    /** What is asked for while the one before is being written is written too. */
    @Test
    void asksAgainMeanwhile() throws Exception {
        try (TestGmp g = TestGmp.with(b -> b.procs(1).quantum(Duration.ofSeconds(1)));
                FlightRecorder r = FlightRecorder.start(g.gmp, Duration.ofMinutes(1))) {
            for (int i = 0; i < 3; i++) {
                Path file = dir.resolve("late" + i);
                r.snapshotOnLatency(Duration.ofMillis(20), file);
                waitUntilWritten(g, file);
            }
        }
    }

    @Test
    void aSnapshotWhenOneWaitsLong() throws Exception {
        Path late = dir.resolve("late");
        Path stall = dir.resolve("stall");
        try (TestGmp g = TestGmp.with(b -> b.procs(1).quantum(Duration.ofSeconds(1)));
                FlightRecorder r = FlightRecorder.start(g.gmp, Duration.ofMinutes(1))) {
            r.snapshotOnLatency(Duration.ofMillis(20), late);
            r.snapshotOnStall(stall);
            g.run(() -> Go.gosched());
            waitUntilWritten(g, late);
            awaitFile(late);
            Chan<Integer> c = Chan.make();
            g.run(() -> {
                Go.go(() -> c.send(1));
                sleepInTheKernel();
                assertEquals(1, c.recv());
            });
            awaitFile(stall);
        }
        assertTrue(new Decoded(late).named("goroutines", "runnable").stream().anyMatch(s -> s.nanos() > 20_000_000));
    }

    @Test
    void snapshotsOfAClosedScheduler() throws Exception {
        FlightRecorder r;
        try (TestGmp g = TestGmp.procs(1)) {
            r = FlightRecorder.start(g.gmp, Duration.ofSeconds(10));
            g.run(Go::gosched);
        }
        for (int i = 0; i < 3; i++) {
            Path file = dir.resolve("snapshot" + i);
            r.snapshot(file);
            assertEquals(i == 0, new Decoded(file).last.get("events") > 0);
        }
        r.close();
    }

    /** A snapshot that cannot be written spoils no later one. */
    @Test
    void whatCannotBeWrittenSpoilsNothing() throws Exception {
        Path zip = dir.resolve("closed.zip");
        Path within;
        try (FileSystem f = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
            within = f.getPath("/late");
        }
        Path file = dir.resolve("late");
        try (TestGmp g = TestGmp.with(b -> b.procs(1).quantum(Duration.ofSeconds(1)));
                FlightRecorder r = FlightRecorder.start(g.gmp, Duration.ofMinutes(1))) {
            for (Path p : List.of(within, file)) {
                r.snapshotOnLatency(Duration.ofMillis(20), p);
                g.run(TraceTest::makeOneWait);
                Thread.sleep(50); // It is looked at each 10 ms; a test that hangs has failed.
            }
            awaitFile(file);
        }
    }

    /** In a JVM of its own: what a recorder writes to must be there until the last M has ended. */
    static final class ClosesBoth {
        private ClosesBoth() {
        }

        public static void main(String[] args) throws InterruptedException {
            for (int i = 0; i < 1000; i++) {
                Gmp gmp = Gmp.builder().procs(2).build();
                FlightRecorder r = FlightRecorder.start(gmp, Duration.ofSeconds(1), 1);
                for (int n = 0; n < 4; n++) {
                    gmp.go(() -> {
                        for (int k = 0; k < 20; k++) {
                            Go.gosched();
                        }
                    });
                }
                Thread t = Thread.ofPlatform().start(gmp::close);
                TraceTest.awaitCount(gmp, 0);
                r.close();
                t.join();
            }
        }
    }

    @Tag("long")
    @Test
    void isClosedWhileItsSchedulerIs() {
        ChildJvm.Result r = new ChildJvm(ClosesBoth.class).with("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=/dev/null").run();
        assertEquals(0, r.exit(), r::toString);
    }

    /** What is told of a stall, on sysmon, while another thread closes the scheduler, and waits for sysmon. */
    @Test
    void whoIsToldOfAStallWaitsForNoEnd() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        AtomicReference<Gmp> gmp = new AtomicReference<>();
        AtomicReference<FlightRecorder> r = new AtomicReference<>();
        gmp.set(Gmp.builder().procs(1).stalled(stall -> {
            told.countDown();
            try {
                Thread.sleep(300); // By then it is being closed.
                r.get().snapshot(dir.resolve("stall"));
                r.get().close();
                gmp.get().close();
            } catch (Throwable t) {
                thrown.complete(t);
            }
        }).build());
        r.set(FlightRecorder.start(gmp.get(), Duration.ofMinutes(1), 1));
        gmp.get().run(() -> {
            Go.go(() -> Thread.onSpinWait());
            sleepInTheKernel();
        });
        told.await();
        gmp.get().close();
        assertTrue(thrown.get().getMessage().contains("the thread that watches the scheduler"), thrown.get()::toString);
        assertEquals(2, new Decoded(dir.resolve("stall")).check().last.get("ended"));
    }

    @SuppressWarnings("restricted")
    private static void sleepInTheKernel() {
        Linker linker = Linker.nativeLinker();
        MethodHandle usleep = linker.downcallHandle(linker.defaultLookup().findOrThrow("usleep"),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        try {
            int _ = (int) usleep.invokeExact(200_000);
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** Its last event is in it. */
    private static void awaitFile(Path file) throws Exception {
        for (;;) {
            if (Files.exists(file) && Files.size(file) > 0 && new String(Files.readAllBytes(file), "ISO-8859-1").contains("end of trace")) {
                return;
            }
            Thread.sleep(5);
        }
    }
}
