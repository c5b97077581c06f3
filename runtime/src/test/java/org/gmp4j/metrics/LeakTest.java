// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.gmp4j.sync.Mutex;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Goroutines that have leaked, by what is reachable and by what is left. */
class LeakTest {
    private static final String FOUND = """
            7 chan receive
            1 chan receive (nil chan)
            1 chan send
            1 park (CountDownLatch)
            1 select
            1 select (no cases)
            1 semacquire
            1 sync.Cond.Wait
            1 sync.Mutex.Lock
            1 sync.RWMutex.RLock
            1 sync.WaitGroup.Wait
            """;

    /** Neither one too many nor one too few, and what is alive goes on afterwards; with collectors that differ. */
    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseParallelGC -XX:+ExplicitGCInvokesConcurrent", "-XX:+UseG1GC"})
    void leaked(String collector) {
        Result r = new ChildJvm(LeakProgram.class).with(collector.split(" ")).run("createsites=1");
        assertEquals("", r.err(), r::toString);
        assertEquals(FOUND + "true\ntrue\ntrue\ntrue\n17\n", r.out(), r::toString);
    }

    /** Said, not taken for no leaks. */
    @ParameterizedTest
    @ValueSource(strings = {"-XX:+DisableExplicitGC", "-XX:+UseG1GC -XX:+ExplicitGCInvokesConcurrent", "-XX:+UseZGC"})
    void notInThisJvm(String option) {
        Result r = new ChildJvm(LeakProgram.class).with(option.split(" ")).run();
        assertTrue(r.err().contains("IllegalStateException: no leak report in this JVM: it needs the collector"), r::toString);
        assertEquals("", r.out(), r::toString);
        assertEquals(1, r.exit(), r::toString);
    }

    /** Without memory for a report there is none, and no goroutine loses its stack. */
    @Tag("long")
    @Test
    void withAFullHeap() {
        Result r = new ChildJvm(LeakFullHeapProgram.class).with("-Xmx24m", "-XX:+UseSerialGC").run();
        assertEquals("leaks 0, refused true, found true\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Plain threads wake goroutines while the world stands, by channels that nothing else refers to then. */
    @Stress
    void wokenMeanwhile() throws InterruptedException {
        try (TestGmp g = TestGmp.procs(2)) {
            AtomicBoolean over = new AtomicBoolean();
            Threads all = new Threads();
            for (int i = 0; i < 2; i++) {
                all.add("waker", () -> {
                    while (!over.get()) {
                        Mutex m = new Mutex();
                        m.lock();
                        Chan<Integer> ends = Chan.make(2);
                        wakeOne(g.gmp, m, ends);
                        assertEquals(1, ends.recv());
                        assertEquals(1, ends.recv());
                    }
                });
            }
            all.add("search", () -> {
                try {
                    for (int i = 0; i < 10; i++) {
                        g.gmp.assertNoLeaks();
                    }
                } finally {
                    over.set(true);
                }
            });
            all.run();
            g.check();
        }
    }

    private static void wakeOne(Gmp gmp, Mutex m, Chan<Integer> ends) {
        Chan<Integer> c = Chan.make();
        gmp.go(() -> ends.send(c.recv()));
        gmp.go(() -> {
            m.lock();
            m.unlock();
            ends.send(1);
        });
        c.send(1);
        m.unlock();
    }

    @Test
    void left() throws InterruptedException {
        try (TestGmp g = TestGmp.procs(2)) {
            Chan<Integer> there = Chan.make();
            g.go(() -> there.recv());
            LeakCheck before = g.gmp.leakCheck();
            before.assertNoLeaks(Duration.ZERO);
            Chan<Integer> c = Chan.make();
            g.go(() -> Select.of().recv(c, v -> { }).run());
            g.run(() -> assertEquals(1, before.left().total())); // Not itself.
            AssertionError e = assertThrows(AssertionError.class, () -> before.assertNoLeaks(Duration.ofMillis(5)));
            assertTrue(e.getMessage().startsWith("goroutines are left\ngoroutine profile: total 1\n\n1 goroutine ["), e.getMessage());
            assertTrue(e.getMessage().contains("LeakTest"), e.getMessage());
            g.go(() -> {
                Go.sleep(Duration.ofMillis(20));
                c.close();
            });
            before.assertNoLeaks(Duration.ofMinutes(1)); // As soon as they have ended.
            there.close();
        }
    }

    @Test
    void closed() {
        Gmp gmp = Gmp.builder().procs(1).build();
        gmp.close();
        assertThrows(IllegalStateException.class, gmp::leaks);
    }
}
