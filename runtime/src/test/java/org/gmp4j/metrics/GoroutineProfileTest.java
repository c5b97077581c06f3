// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Goroutines by what they do; their labels; and the format of pprof, read by a decoder that shares nothing with the encoder. */
class GoroutineProfileTest {
    private static final int WAITING = 5;

    private static void waits(Chan<Integer> c) {
        Integer _ = c.recv();
    }

    /** A profile in which five wait in one place, one in another with labels that it inherited, and a third has not begun. */
    private static GoroutineProfile profile() {
        AtomicReference<GoroutineProfile> taken = new AtomicReference<>();
        try (TestGmp g = TestGmp.procs(1)) {
            Scheduler s = g.scheduler();
            g.run(() -> {
                Chan<Integer> c = Chan.make();
                for (int i = 0; i < WAITING; i++) {
                    Go.go(() -> waits(c));
                }
                Labels.run(Map.of("tenant", "blue", "path", "/x"), () -> {
                    assertEquals(Map.of("tenant", "blue", "path", "/x"), Labels.current());
                    Labels.run(Map.of("tenant", "red"), () -> Go.go(() -> {
                        Go.go(() -> assertEquals(Map.of("tenant", "red", "path", "/x"), Labels.current()));
                        c.send(7);
                    }));
                    assertEquals("blue", Labels.current().get("tenant"));
                });
                assertEquals(Map.of(), Labels.current());
                TestGmp.awaitOthers(); // One of the five has the 7, and its sender has ended.
                Labels.run(Map.of("tenant", "red"), () -> Go.go(() -> c.recv()));
                Go.gosched();
                TestGmp.awaitOthers();
                Go.go(new NotBegun());
                StopTheWorld.withWorldStopped(s, () -> taken.set(g.gmp.goroutines())); // Or sysmon might have it run meanwhile.
                c.close();
            });
        }
        return taken.get();
    }

    private static final class NotBegun implements Runnable {
        @Override
        public void run() {
            assertEquals(Map.of(), Labels.current());
        }
    }

    @Test
    void groups() {
        GoroutineProfile p = profile();
        assertEquals(WAITING - 1 + 1 + 1 + 1, p.total(), p::toString); // And the one that took it.
        GoroutineProfile.Group most = p.groups().getFirst();
        assertEquals(WAITING - 1, most.count());
        assertEquals("chan receive", most.state());
        assertEquals(Map.of(), most.labels());
        assertTrue(most.frames().stream().anyMatch(f -> f.getMethodName().equals("waits")), p::toString);
        String text = p.toString();
        assertTrue(text.startsWith("goroutine profile: total " + p.total() + "\n\n4 goroutines [chan receive]:\n\torg.gmp4j.Chan.recv("),
                text);
        assertTrue(text.contains("\n1 goroutine [chan receive]:\n\tlabels: {tenant=red}\n"), text);
        assertTrue(text.contains("\n1 goroutine [runnable]:\n\t(not started) " + NotBegun.class.getName() + "\n"), text);
        assertTrue(text.contains("\n1 goroutine [running]:\n"), text);
    }

    @Test
    void labelsAreForGoroutines() {
        assertEquals(Map.of(), Labels.current());
        assertThrows(IllegalStateException.class, () -> Labels.run(Map.of(), () -> { }));
    }

    @Test
    void labelsEndWithTheirGoroutine() {
        try (TestGmp g = TestGmp.procs(1)) {
            g.run(() -> {
                Labels.run(Map.of("tenant", "red"), () -> Go.go(() -> assertEquals("red", Labels.current().get("tenant"))));
                TestGmp.awaitOthers();
                Go.go(() -> assertEquals(Map.of(), Labels.current())); // On the same stack.
                TestGmp.awaitOthers();
            });
        }
    }

    @Test
    void pprof() throws IOException {
        PprofDecoded d = new PprofDecoded(profile().pprof());
        assertEquals("", d.strings.getFirst());
        assertEquals(List.of("goroutine count"), d.types);
        assertEquals(4L, d.samples.getFirst().values().getFirst());
        List<String> where = d.samples.getFirst().where().stream().map(id -> d.functionOf.get(d.functionIn.get(id))).toList();
        assertTrue(where.contains("org.gmp4j.metrics.GoroutineProfileTest.waits"), where::toString);
        assertEquals("org.gmp4j.Chan.recv", where.getFirst());
        assertEquals(List.of("state=chan receive"), d.samples.getFirst().labels());
        assertTrue(d.samples.stream().anyMatch(s -> s.labels().equals(List.of("state=chan receive", "tenant=red"))));
        assertEquals(7L, d.samples.stream().mapToLong(s -> s.values().getFirst()).sum());
    }
}
