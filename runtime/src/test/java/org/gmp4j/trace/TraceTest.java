// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceTest {
    private static final Duration QUANTUM = Duration.ofNanos(200_000);

    @TempDir
    private Path dir;

    private static long steals(Scheduler s) {
        long n = 0;
        for (var pr : s.procs()) {
            n += P.NSTEAL.getOpaque(pr.pp);
        }
        return n;
    }

    private static long preemptions(Scheduler s) {
        long n = 0;
        for (var pr : s.procs()) {
            n += PStat.NPREEMPT.getOpaque(pr.pp);
        }
        return n;
    }

    static void pingPong(Chan<Integer> there, Chan<Integer> back, int n) {
        Go.go(() -> {
            for (int i = 0; i < n; i++) {
                back.send(there.recv());
            }
        });
        for (int i = 0; i < n; i++) {
            there.send(i);
            assertEquals(i, back.recv());
        }
    }

    static void awaitCount(Gmp gmp, int n) {
        while (gmp.numGoroutine() != n) {
            Thread.onSpinWait();
        }
    }

    static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Go.preemptPoint();
        }
    }

    /** On one P: a goroutine is runnable for 40 ms. */
    static void makeOneWait() {
        Go.go(() -> Thread.onSpinWait());
        spin(40_000_000);
    }

    private static void block(Duration d) {
        try {
            Go.blocking(() -> {
                Thread.sleep(d);
                return null;
            });
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Of all that goroutines do; counts those that it starts. One at least is preempted, however late a busy machine lets sysmon look. */
    private static int mix(Gmp gmp, Scheduler s) throws InterruptedException {
        long preempted = preemptions(s);
        int started = 0;
        CountDownLatch done = new CountDownLatch(1);
        WaitGroup all = new WaitGroup();
        all.add(14);
        for (int i = 0; i < 4; i++) {
            gmp.go(() -> {
                pingPong(Chan.make(), Chan.make(3), 300);
                all.done();
            });
            gmp.go(() -> {
                Go.sleep(Duration.ofMillis(1));
                block(Duration.ofMillis(1));
                all.done();
            });
            started += 3;
        }
        for (int i = 0; i < 6; i++) {
            gmp.go(() -> {
                do {
                    spin(2_000_000);
                } while (preemptions(s) == preempted);
                Go.gosched();
                all.done();
            });
            started++;
        }
        gmp.go(() -> {
            all.await();
            WaitGroup many = new WaitGroup();
            many.add(100);
            for (int i = 0; i < 100; i++) {
                Go.go(() -> {
                    spin(20_000);
                    many.done();
                });
            }
            many.await();
            done.countDown();
        });
        done.await();
        return started + 101;
    }

    @Test
    void sumsAgree() throws Exception {
        Path file = dir.resolve("mix");
        try (TestGmp g = TestGmp.with(b -> b.procs(2).quantum(QUANTUM))) {
            Scheduler s = g.scheduler();
            awaitCount(g.gmp, 0); // Whoever waited for a goroutine is told before it has quite ended.
            long stolen = steals(s);
            Trace t = Trace.start(g.gmp, file);
            int started = mix(g.gmp, s);
            awaitCount(g.gmp, 0);
            t.stop();
            Decoded d = new Decoded(file).check();
            assertEquals(started, d.last.get("created"));
            assertEquals(started, d.last.get("ended"));
            assertEquals(0, d.last.get("goroutines after"));
            assertEquals(t.events(), d.last.get("events"));
            assertEquals(steals(s) - stolen, d.instants("steal", "goroutines"));
            for (String state : List.of("running", "runnable", "runnable: preempted", "runnable: gosched", "syscall", "waiting: sleep",
                    "waiting: chan receive", "waiting: sync.WaitGroup.Wait")) {
                assertFalse(d.named("goroutines", state).isEmpty(), state);
            }
            assertTrue(d.arrows.size() > 1000, "arrows: " + d.arrows.size());
            assertTrue(d.in("goroutines").stream().allMatch(l -> l.name.contains("TraceTest.")),
                    () -> d.in("goroutines").stream().map(l -> l.name).distinct().toList().toString());
            assertFalse(Files.exists(dir.resolve("mix.spool")));
        }
    }

    @Test
    void whatUsersMark() throws Exception {
        Path file = dir.resolve("marks");
        try (TestGmp g = TestGmp.procs(2)) {
            Trace t = Trace.start(g.gmp, file);
            String longest = "x".repeat(5_000);
            g.run(() -> {
                try (Trace.Task outer = Trace.task("order")) {
                    Trace.Task inner = outer.task("payment");
                    end(inner);
                    Trace.region("outside", () -> Trace.region("inside", Go::gosched));
                    Trace.log("note", "ö");
                    Trace.log("note", longest);
                    end(outer);
                }
            });
            t.stop();
            Trace.log("note", "nobody hears it");
            Decoded d = new Decoded(file).check();
            assertEquals(1, d.named("tasks", "order").size());
            assertEquals(1, d.lanes.values().stream().flatMap(l -> l.slices.stream()).filter(x -> x.name().equals("payment")).count());
            Decoded.Lane regions = d.lanes.values().stream().filter(l -> l.name.startsWith("regions")).findFirst().orElseThrow();
            assertEquals(List.of("inside", "outside"), regions.slices.stream().map(Decoded.Slice::name).toList());
            assertEquals(1, d.instants("note: ö", null));
            assertEquals(1, d.instants("note: " + longest.substring(0, 4_000 - 6), null));
        }
    }

    /** A second end does nothing. */
    static void end(AutoCloseable c) {
        try {
            c.close();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** What was there before, and still is afterwards. */
    @Test
    void goroutinesThatOutliveIt() throws Exception {
        Path file = dir.resolve("part");
        try (TestGmp g = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            for (int i = 0; i < 10; i++) {
                g.go(c::recv);
            }
            g.run(TestGmp::awaitOthers);
            awaitCount(g.gmp, 10);
            try (Trace t = Trace.start(g.gmp, file)) {
                g.run(() -> c.send(1));
                g.go(c::recv);
                awaitCount(g.gmp, 10);
                assertThrows(IllegalStateException.class, () -> Trace.start(g.gmp, dir.resolve("second")));
                t.stop();
            }
            c.close();
            Decoded d = new Decoded(file).check();
            assertEquals(List.of(10L, 2L, 2L, 10L),
                    List.of(d.last.get("goroutines before"), d.last.get("created"), d.last.get("ended"), d.last.get("goroutines after")));
            assertEquals(3, d.in("goroutines").size()); // Of those that did something.
        }
        assertThrows(IllegalStateException.class, () -> Trace.start(dir.resolve("none")));
    }

    /** An interrupt would close the file that it writes. */
    @Test
    void stoppedByOneWhoIsInterrupted() throws Exception {
        try (TestGmp g = TestGmp.procs(2)) {
            Trace t = Trace.start(g.gmp, dir.resolve("outside"));
            Trace[] inside = {t};
            g.run(Go::gosched);
            Thread.currentThread().interrupt();
            t.stop();
            assertTrue(Thread.interrupted());
            new Decoded(dir.resolve("outside")).check();
            inside[0] = Trace.start(g.gmp, dir.resolve("inside"));
            g.gmp.threadFactory().newThread(() -> {
                Thread.currentThread().interrupt();
                try {
                    inside[0].stop();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }).start();
            awaitCount(g.gmp, 0);
            new Decoded(dir.resolve("inside")).check();
        }
    }

    @Test
    void whoIsRefusedLeavesTheFileAsItWas() throws Exception {
        Path file = Files.writeString(dir.resolve("precious"), "precious");
        try (TestGmp g = TestGmp.procs(1)) {
            Trace t = Trace.start(g.gmp, dir.resolve("first"));
            assertThrows(IllegalStateException.class, () -> Trace.start(g.gmp, file));
            assertThrows(IllegalStateException.class, () -> Trace.start(g.gmp, dir.resolve("none")));
            t.stop();
        }
        assertEquals("precious", Files.readString(file));
        try (Stream<Path> files = Files.list(dir)) {
            assertEquals(List.of("first", "precious"), files.map(f -> f.getFileName().toString()).sorted().toList());
        }
    }

    /** Whatever step the memory does not suffice for: tracing can be ended, and begun again. */
    @Tag("long")
    @ParameterizedTest
    @ValueSource(strings = {"trace", "flight", "watch", "invariants"})
    void withAFullHeap(String what) {
        ChildJvm.Result r = new ChildJvm(TraceFullHeapProgram.class).with("-Xmx40m", "-XX:+UseSerialGC").run(what, dir.toString());
        assertEquals("refused true, then true\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** From outside and from a goroutine, on and off, while two Ps are at work: each trace is right by itself. */
    @Test
    void onAndOff() throws Exception {
        try (TestGmp g = TestGmp.with(b -> b.procs(2).quantum(QUANTUM))) {
            AtomicBoolean over = new AtomicBoolean();
            for (int i = 0; i < 4; i++) {
                g.go(() -> {
                    while (!over.get()) {
                        pingPong(Chan.make(), Chan.make(), 20);
                        block(Duration.ofNanos(100_000));
                    }
                });
            }
            try {
                for (int i = 0; i < 8; i++) {
                    Path file = dir.resolve("t" + i);
                    if (i % 2 == 0) {
                        Trace t = Trace.start(g.gmp, file);
                        Thread.sleep(2);
                        t.stop();
                    } else {
                        g.call(() -> {
                            Trace t = Trace.start(g.gmp, file);
                            Go.sleep(Duration.ofMillis(2));
                            t.stop();
                            return null;
                        });
                    }
                    new Decoded(file).check();
                }
            } finally {
                over.set(true);
            }
        }
    }

    @Test
    void severalSchedulersAndPsThatComeAndGo() throws Exception {
        Path file = dir.resolve("two");
        try (TestGmp a = TestGmp.procs(1); TestGmp b = TestGmp.procs(2)) {
            Scheduler sa = a.scheduler();
            Scheduler sb = b.scheduler();
            awaitCount(a.gmp, 0);
            awaitCount(b.gmp, 0);
            Trace t = Trace.start(file);
            int n = mix(a.gmp, sa);
            b.gmp.setProcs(4);
            n += mix(b.gmp, sb);
            b.gmp.setProcs(1);
            Chan<Integer> c = Chan.make();
            a.go(() -> c.send(1));
            b.run(() -> assertEquals(1, c.recv())); // One wakes the other's.
            n += 2;
            while (a.gmp.numGoroutine() + b.gmp.numGoroutine() > 0) {
                Thread.onSpinWait();
            }
            t.stop();
            Decoded d = new Decoded(file);
            d.last.put("schedulers", 2L);
            d.check();
            assertEquals(n, d.last.get("created"));
            assertEquals(n, d.last.get("ended"));
            assertEquals(2, d.lanes.values().stream().filter(l -> l.name.equals("goroutines")).count());
            assertTrue(d.in("Ps").stream().anyMatch(l -> l.name.equals("P3")));
            assertTrue(d.lanes.values().stream().filter(l -> l.name.equals("the world")).anyMatch(l -> l.slices.size() == 3));
        }
    }

    /** Its M ends with it, and another takes the P. */
    @Test
    void aThreadThatEnds() throws Exception {
        Path file = dir.resolve("thread");
        try (TestGmp g = TestGmp.procs(1)) {
            Trace t = Trace.start(g.gmp, file);
            for (int i = 0; i < 5; i++) {
                g.run(() -> Go.lockOSThread());
            }
            Thread v = g.gmp.threadFactory().newThread(() -> Go.sleep(Duration.ofMillis(1)));
            v.start();
            v.join();
            awaitCount(g.gmp, 0);
            t.stop();
            Decoded d = new Decoded(file).check();
            assertEquals(6, d.last.get("created"));
            assertTrue(d.in("Ps").stream().flatMap(l -> l.slices.stream()).filter(x -> x.name().matches("M\\d+")).count() > 5);
        }
    }

    @Test
    void closedMeanwhileOrNowhereToWrite() throws Exception {
        Path file = dir.resolve("closed");
        Gmp gmp = Gmp.builder().procs(2).build();
        Trace t = Trace.start(gmp, file);
        gmp.run(() -> pingPong(Chan.make(), Chan.make(), 10));
        gmp.close();
        t.stop();
        t.stop();
        assertEquals(2, new Decoded(file).check().last.get("ended"));
        try (TestGmp g = TestGmp.procs(1)) {
            assertThrows(IOException.class, () -> Trace.start(g.gmp, dir.resolve("no/such/dir")));
            Trace again = Trace.start(g.gmp, file); // It left nothing behind.
            again.stop();
            assertThrows(IllegalStateException.class, () -> Trace.start(gmp, file));
        }
    }

    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            Gmp.main(() -> pingPong(Chan.make(), Chan.make(), 10));
            if (args.length > 0) {
                try (Gmp second = Gmp.builder().name("a/b").build()) {
                    second.run(() -> { });
                }
            }
        }
    }

    @Test
    void byGmpdebug() throws Exception {
        Path file = dir.resolve("debug");
        ChildJvm.Result r = new ChildJvm(Program.class).env("GMPDEBUG", "trace=" + file).run();
        assertEquals(0, r.exit(), r.err());
        Decoded d = new Decoded(file).check();
        assertEquals(2, d.last.get("created"));
        r = new ChildJvm(Program.class).env("GMPDEBUG", "trace=" + file).run("twice");
        assertEquals(0, r.exit(), r.err());
        assertEquals(2, new Decoded(file).check().last.get("created"));
        assertEquals(1, new Decoded(dir.resolve("debug.a_b")).check().last.get("created"));
        r = new ChildJvm(Program.class).env("GMPDEBUG", "trace=" + dir.resolve("no/dir")).run();
        assertEquals(2, r.exit());
        assertEquals(1, r.err().lines().count(), r.err());
        assertTrue(r.err().startsWith("gmp4j: GMPDEBUG: a trace cannot be written to"), r.err());
    }
}
