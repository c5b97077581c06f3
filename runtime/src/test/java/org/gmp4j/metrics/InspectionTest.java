// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.metrics.Inspection.Kind;
import org.gmp4j.sync.Mutex;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is asked for from outside: by the bean here, by {@code DebugPagesTest} over HTTP. */
class InspectionTest {
    private static final double LITTLE = 0.01;

    private static JmxBean bean(TestGmp g) {
        return new JmxBean(g.scheduler(), List::toString);
    }

    /** Until the text has all of these. */
    private static String await(Supplier<String> text, String... parts) {
        for (;;) {
            String now = text.get();
            if (List.of(parts).stream().allMatch(now::contains)) {
                return now;
            }
        }
    }

    private static void waitsHere(Chan<Integer> c, Mutex m, AtomicBoolean over) {
        while (!over.get()) {
            Integer _ = c.recv();
            m.lock();
            Go.gosched();
            m.unlock();
        }
    }

    private static void works(Chan<Integer> c, Mutex m, AtomicBoolean over) {
        while (!over.get()) {
            boolean _ = c.trySend(1);
            m.lock();
            Go.gosched();
            m.unlock();
        }
        c.close();
    }

    /** What such a profile turns on is off afterwards, and what the program has turned on stays. */
    @Test
    void profiles() throws IOException {
        AtomicBoolean over = new AtomicBoolean();
        try (TestGmp g = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            Mutex m = new Mutex();
            g.go(() -> waitsHere(c, m, over));
            g.go(() -> works(c, m, over));
            JmxBean bean = bean(g);
            try {
                String cpu = await(() -> bean.profile("cpu", LITTLE), "InspectionTest.works(");
                assertTrue(cpu.startsWith("cpu profile\n"), cpu);
                String block = await(() -> bean.profile("block", LITTLE), "InspectionTest.waitsHere(");
                assertTrue(block.startsWith("block profile\n") && block.contains(" contentions, "), block);
                assertFalse(g.scheduler().blockProfile.isOn(), "it stays on");
                String mutex = await(() -> bean.profile("mutex", LITTLE), "Mutex.unlock");
                assertTrue(mutex.startsWith("mutex profile\n"), mutex);
                assertFalse(g.scheduler().mutexProfile.isOn(), "it stays on");
                PprofDecoded d = new PprofDecoded(bean.profilePprof("block", LITTLE));
                assertEquals(List.of("contentions count", "delay nanoseconds"), d.types);

                g.gmp.setMutexProfileFraction(7);
                String _ = bean.profile("mutex", LITTLE);
                assertEquals(7, g.scheduler().mutexProfile.rate());
                assertTrue(g.scheduler().mutexProfile.openWindow(1));
                assertEquals(7, g.scheduler().mutexProfile.rate());
                g.gmp.setMutexProfileFraction(0);
                assertEquals(1, g.scheduler().mutexProfile.rate());
                assertEquals("another mutex profile of it is being taken",
                        assertThrows(IllegalStateException.class, () -> bean.profile("mutex", LITTLE)).getMessage());
                g.scheduler().mutexProfile.closeWindow();
                assertFalse(g.scheduler().mutexProfile.isOn());
            } finally {
                over.set(true);
            }
        }
    }

    /** A profile has what came in its time only. */
    @Test
    void whatWasBeforeIsLeftOut() {
        try (TestGmp g = TestGmp.procs(1)) {
            g.gmp.setBlockProfileRate(Duration.ofNanos(1));
            g.run(() -> {
                Chan<Integer> c = Chan.make();
                Go.go(() -> c.send(1));
                Integer _ = c.recv();
            });
            assertFalse(g.gmp.blockProfile().samples().isEmpty());
            assertEquals("block profile\n", bean(g).profile("block", LITTLE));
        }
    }

    @Test
    void anInterruptEndsItAndTurnsItOff() throws InterruptedException {
        try (TestGmp g = TestGmp.procs(1)) {
            for (Kind kind : Kind.values()) {
                Thread t = new Thread(() -> assertThrows(InterruptedException.class, () -> Inspection.profile(g.scheduler(), kind, 3600)));
                t.start();
                t.interrupt();
                t.join();
                assertFalse(g.scheduler().blockProfile.isOn() || g.scheduler().mutexProfile.isOn());
            }
        }
    }

    @Test
    void aTraceAndWhatIsRefused(@TempDir Path dir) throws Exception {
        try (TestGmp g = TestGmp.procs(1)) {
            JmxBean bean = bean(g);
            Path file = dir.resolve("t");
            bean.trace(file.toString(), LITTLE);
            assertTrue(Files.size(file) > 0);
            assertEquals("[procs=1]", bean.set(new String[] {"procs=1"}));
            assertTrue(bean.leaks().startsWith("goroutineleak profile: total 0\n"));
            assertEquals(List.of("goroutineleak count"), new PprofDecoded(bean.leaksPprof()).types);

            Thread first = new Thread(() -> assertThrows(InterruptedException.class, () -> Inspection.trace(dir.resolve("u"), 3600)));
            first.start();
            while (Stream.of(first.getStackTrace()).noneMatch(f -> f.getMethodName().equals("sleep"))) {
                Thread.onSpinWait();
            }
            assertEquals("this Gmp is being traced already",
                    assertThrows(IllegalStateException.class, () -> bean.trace(dir.resolve("v").toString(), LITTLE)).getMessage());
            assertFalse(Files.exists(dir.resolve("v")));
            first.interrupt();
            first.join();
            assertTrue(Files.size(dir.resolve("u")) > 0, "what there was is written");
            bean.trace(file.toString(), LITTLE);
            for (double bad : new double[] {0, -1, 3601, Double.NaN}) {
                assertEquals("seconds is " + bad + ": use more than 0, and at most 3600",
                        assertThrows(IllegalArgumentException.class, () -> bean.profile("cpu", bad)).getMessage());
            }
            refused("there is no profile \"heap\": use cpu, block or mutex", () -> bean.profile("heap", LITTLE));
            refused("cannot write " + dir + "/no/t: there is no such folder", () -> bean.trace(dir + "/no/t", LITTLE));
            refused("cannot write " + dir + ": Is a directory", () -> bean.trace(dir.toString(), LITTLE));
        }
    }

    private static void refused(String sentence, Runnable call) {
        assertEquals(sentence, assertThrows(IllegalArgumentException.class, call::run).getMessage());
    }
}
