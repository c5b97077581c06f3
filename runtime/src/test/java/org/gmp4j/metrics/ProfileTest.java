// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.metrics.Profile.Sample;
import org.gmp4j.sync.Mutex;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where goroutines waited, held locks, ran. */
class ProfileTest {
    /** Go's command, where its tool is to read what is written: building that takes a minute at first, so it is not in the suite. */
    private static final Path GO = Path.of(System.getProperty("gmp.gotool", "/nowhere"));

    private static boolean at(Sample s, String method) {
        return s.frames().stream().anyMatch(f -> f.getMethodName().equals(method));
    }

    private static List<Sample> of(Profile p, String method) {
        return p.samples().stream().filter(s -> at(s, method)).toList();
    }

    private static void waitsHere(Chan<Integer> c) {
        Integer _ = c.recv();
    }

    private static void waits(TestGmp g) {
        g.run(() -> {
            Chan<Integer> c = Chan.make();
            Labels.run(Map.of("tenant", "blue"), () -> Go.go(() -> {
                waitsHere(c);
                waitsHere(c);
            }));
            TestGmp.awaitOthers();
            c.send(1);
            TestGmp.awaitOthers();
            c.send(2);
            TestGmp.awaitOthers();
        });
    }

    @Test
    void block() throws IOException {
        try (TestGmp g = TestGmp.procs(1)) {
            waits(g);
            assertEquals(List.of(), g.gmp.blockProfile().samples()); // Off at first.
            g.gmp.setBlockProfileRate(Duration.ofNanos(1));
            waits(g);
            g.gmp.setBlockProfileRate(Duration.ZERO);
            waits(g);
            List<Sample> found = of(g.gmp.blockProfile(), "waitsHere");
            assertEquals(2, found.stream().mapToLong(Sample::count).sum(), found::toString); // A place for each line.
            assertTrue(found.stream().allMatch(s -> s.nanos() > 0 && s.labels().equals(Map.of("tenant", "blue"))), found::toString);
            assertEquals("recv", found.getFirst().frames().getFirst().getMethodName(), found::toString);

            PprofDecoded d = new PprofDecoded(g.gmp.blockProfile().pprof());
            assertEquals(List.of("contentions count", "delay nanoseconds"), d.types);
            assertTrue(d.samples.stream().anyMatch(s -> s.values().equals(List.of(1L, found.getFirst().nanos()))
                    && s.labels().equals(List.of("tenant=blue"))));
            assertThrows(IllegalArgumentException.class, () -> g.gmp.setBlockProfileRate(Duration.ofNanos(-1)));
        }
    }

    /** Shorter waits than the rate are taken seldom, and stand for others: what they come to is about what there was. */
    @Test
    void blockShare() {
        try (TestGmp g = TestGmp.procs(1)) {
            g.gmp.setBlockProfileRate(Duration.ofHours(1_000));
            waits(g);
            assertEquals(List.of(), g.gmp.blockProfile().samples()); // By chance once in some millions of runs.
        }
    }

    private static void holdsHere(Mutex m) {
        m.lock();
        Go.go(() -> {
            m.lock();
            m.unlock();
        });
        TestGmp.awaitOthers();
        m.unlock();
    }

    @Test
    void mutex() {
        try (TestGmp g = TestGmp.procs(1)) {
            g.run(() -> holdsHere(new Mutex()));
            assertEquals(List.of(), g.gmp.mutexProfile().samples());
            g.gmp.setMutexProfileFraction(1);
            g.run(() -> holdsHere(new Mutex()));
            g.run(() -> { // No goroutine waits.
                Mutex m = new Mutex();
                m.lock();
                m.unlock();
            });
            g.gmp.setMutexProfileFraction(0);
            g.run(() -> holdsHere(new Mutex()));
            List<Sample> found = g.gmp.mutexProfile().samples();
            assertEquals(1, found.size(), found::toString);
            assertEquals(1, found.getFirst().count());
            assertTrue(at(found.getFirst(), "holdsHere"), found::toString);
            assertEquals("org.gmp4j.sync.Mutex", found.getFirst().frames().getFirst().getClassName(), found::toString);
            assertThrows(IllegalArgumentException.class, () -> g.gmp.setMutexProfileFraction(-1));
        }
    }

    private static void runsHere(AtomicBoolean over) {
        while (!over.get()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void cpu() throws IOException, InterruptedException {
        AtomicBoolean over = new AtomicBoolean();
        Chan<Integer> c = Chan.make();
        try (TestGmp g = TestGmp.procs(1)) {
            g.go(() -> waitsHere(c));
            g.go(() -> Labels.run(Map.of("tenant", "red"), () -> runsHere(over)));
            try (CpuProfiler p = g.gmp.startCpuProfile(Duration.ofMillis(1))) {
                while (of(p.profile(), "runsHere").stream().filter(s -> s.labels().equals(Map.of("tenant", "red")))
                        .mapToLong(Sample::count).sum() < 3) {
                    Thread.sleep(1);
                }
                over.set(true);
                c.close();
                Profile all = p.stop();
                assertTrue(of(all, "waitsHere").isEmpty() || of(all, "runsHere").getFirst().count() >= 3, all::toString);
                assertEquals(all.samples().stream().mapToLong(Sample::count).sum() * 1_000_000, all.nanos());
                PprofDecoded d = new PprofDecoded(all.pprof());
                assertEquals(List.of("samples count", "cpu nanoseconds"), d.types);
                assertTrue(d.samples.stream().anyMatch(s -> s.labels().equals(List.of("tenant=red"))), all::toString);
            }
            assertThrows(IllegalArgumentException.class, () -> g.gmp.startCpuProfile(Duration.ofNanos(1)));
        }
    }

    /** Go's own tool reads them. */
    @Test
    void goToolPprof(@TempDir Path dir) throws IOException, InterruptedException {
        Assumptions.assumeTrue(Files.isExecutable(GO));
        try (TestGmp g = TestGmp.procs(1)) {
            g.gmp.setBlockProfileRate(Duration.ofNanos(1));
            waits(g);
            Path file = dir.resolve("block");
            g.gmp.blockProfile().write(file);
            String top = go(dir, "tool", "pprof", "-top", "-sample_index=contentions", "-tagfocus=tenant=blue", file.toString());
            assertTrue(top.contains("Type: contentions"), top);
            assertTrue(top.contains("org.gmp4j.metrics.ProfileTest.waitsHere"), top);
            assertFalse(top.contains("org.gmp4j.sched."), top);
            Chan<Integer> c = Chan.make();
            g.run(() -> {
                Go.go(() -> waitsHere(c));
                TestGmp.awaitOthers();
            });
            g.gmp.goroutines().write(file);
            c.close();
            top = go(dir, "tool", "pprof", "-top", file.toString());
            assertTrue(top.contains("Type: goroutine"), top);
            assertTrue(top.contains("org.gmp4j.Chan.recv"), top);
        }
    }

    private static String go(Path dir, String... args) throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>(List.of(GO.toString()));
        command.addAll(List.of(args));
        ProcessBuilder b = new ProcessBuilder(command).directory(dir.toFile()).redirectErrorStream(true);
        b.environment().put("GOTOOLCHAIN", "local");
        Process p = b.start();
        String out = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, p.waitFor(), out);
        return out;
    }
}
