// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
import org.gmp4j.metrics.GoroutineProfile.Group;
import org.gmp4j.metrics.Metrics;
import org.gmp4j.report.SchedTrace;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The symptoms that {@code DIAGNOSING.md} describes: each provoked, and recognised as the page says. */
class SymptomsTest {
    private static final int MANY = 100;

    private static long number(Map<String, Object> m, String name) {
        return (long) m.get(name);
    }

    private static long inLocalQueues(Map<String, Object> m) {
        return LongStream.of((long[]) m.get("/sched/runqueue/local:goroutines")).sum();
    }

    /**
     * There is one thread, as many as maxThreads allows, so no thread can take its queue. Rounds in which it slept
     * in the kernel do not count: sysmon took its P then, found no thread for it, and left the queue to the global one.
     */
    @Test
    void idlePsBesideALongQueue() {
        try (TestGmp g = TestGmp.with(b -> b.procs(4).maxThreads(1).quantum(Duration.ofMinutes(1)))) {
            AtomicInteger ran = new AtomicInteger();
            AtomicReference<Map<String, Object>> metrics = new AtomicReference<>();
            AtomicReference<String> trace = new AtomicReference<>();
            g.run(() -> {
                do {
                    Go.gosched(); // Those of the last round run.
                    for (int i = 0; i < MANY; i++) {
                        Go.go(ran::incrementAndGet);
                    }
                    metrics.set(g.gmp.metrics().read());
                    trace.set(SchedTrace.text(GStack.current().scheduler(), 0, false));
                } while (!trace.get().contains(" runqueue=0 "));
            });
            Map<String, Object> m = metrics.get();
            assertTrue(number(m, "/sched/procs/idle:procs") > 0, m::toString);
            assertTrue(inLocalQueues(m) > MANY / 2, m::toString);
            assertEquals(1, number(m, "/sched/threads/total:threads"), "and this is why");
            assertEquals(0, number(m, "/sched/threads/idle:threads"));
            assertTrue(trace.get().matches("(?s)SCHED 0ms: gomaxprocs=4 idleprocs=[1-3] threads=1 .* \\[( \\d+)* \\d{2,}( \\d+)* ] .*"),
                    trace::get);
        }
    }

    /** A policy of busy spinning: one searches, finds nothing, and never sleeps. */
    @Test
    void spinningWithoutWork() {
        try (TestGmp g = TestGmp.with(b -> b.procs(2).spin(SpinPolicy.busy()))) {
            Scheduler s = g.scheduler();
            Chan<Integer> c = Chan.make();
            AtomicBoolean waits = new AtomicBoolean();
            g.go(() -> {
                waits.set(true);
                Integer _ = c.recv();
            });
            Map<String, Object> before;
            do {
                before = g.gmp.metrics().read();
            } while (!waits.get() || number(before, "/sched/threads/spinning:threads") != 1
                    || number(before, "/sched/procs/idle:procs") != 1 // Another M that was woken has come, and has gone to sleep.
                    || number(before, "/sched/goroutines/waiting:goroutines") != 1);
            before = g.gmp.metrics().read(); // A reading is of no one moment: that one may have counted runs before it saw it wait.
            Map<String, Object> m;
            do {
                m = g.gmp.metrics().read();
            } while (number(m, "/sched/steals/tried:probes") == number(before, "/sched/steals/tried:probes")
                    && number(m, "/sched/procs/idle:procs") == 0); // It probes those that are not idle.
            assertEquals(1, number(m, "/sched/threads/spinning:threads"));
            assertEquals(0, number(m, "/sched/runqueue/global:goroutines") + inLocalQueues(m));
            assertEquals(number(before, "/sched/steals/succeeded:probes"), number(m, "/sched/steals/succeeded:probes"));
            assertEquals(LongStream.of((long[]) before.get("/sched/runs/by-p:goroutines")).sum(),
                    LongStream.of((long[]) m.get("/sched/runs/by-p:goroutines")).sum(), "runs");
            String trace = SchedTrace.text(s, 0, false);
            assertTrue(trace.contains(" spinningthreads=1 ") && trace.contains(" runqueue=0 [ 0 0 ]"), trace);
            c.close();
        }
    }

    /** One starts goroutines faster than they are run. Rounds in which it lost its P do not count. */
    @Test
    void aGrowingGlobalQueue() {
        try (TestGmp g = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            AtomicInteger ran = new AtomicInteger();
            g.run(() -> {
                Map<String, Object> last = g.gmp.metrics().read();
                for (int grown = 0; grown < 3;) {
                    int before = ran.get();
                    for (int i = 0; i < 2_000; i++) {
                        Go.go(ran::incrementAndGet);
                    }
                    Map<String, Object> m = g.gmp.metrics().read();
                    String trace = SchedTrace.text(GStack.current().scheduler(), 0, false);
                    if (ran.get() == before) {
                        assertTrue(number(m, "/sched/runqueue/global:goroutines") > number(last, "/sched/runqueue/global:goroutines"));
                        assertTrue(number(m, "/sched/runqueue/overflows:events") > number(last, "/sched/runqueue/overflows:events"));
                        assertTrue(number(m, "/sched/goroutines/runnable:goroutines") >= 2_000);
                        assertTrue(trace.matches("(?s).* runqueue=[0-9]{4,} .*"), trace);
                        grown++;
                    }
                    last = m;
                }
            });
        }
    }

    /** It is locked to its thread, or waits for what does not come; others move. */
    @Test
    void aGoroutineThatNeverMoves() {
        try (TestGmp g = TestGmp.procs(2)) {
            Chan<Integer> never = Chan.make();
            AtomicBoolean end = new AtomicBoolean();
            AtomicInteger began = new AtomicInteger();
            g.go(() -> {
                Go.lockOSThread();
                Machine mine = Machine.current();
                began.incrementAndGet();
                while (!end.get()) {
                    Go.gosched();
                    assertEquals(mine, Machine.current());
                }
                Go.unlockOSThread();
            });
            g.go(() -> {
                began.incrementAndGet();
                Integer _ = never.recv();
            });
            while (began.get() < 2 || g.gmp.goroutines().groups().stream().noneMatch(p -> p.state().equals("chan receive"))) {
                Thread.onSpinWait();
            }
            assertTrue(g.gmp.goroutines().groups().stream().filter(Group::locked).count() == 1);
            String dump = g.gmp.dump();
            assertTrue(dump.contains(", locked to thread]:"), dump);
            assertTrue(dump.contains(" [chan receive]:"), dump);
            String trace = SchedTrace.text(g.scheduler(), 0, true);
            assertTrue(trace.matches("(?s).*\\n  G\\d+: status=\\d\\([^)]*\\) m=\\S+ lockedm=\\d+\\n.*"), trace);
            end.set(true);
            never.close();
        }
    }

    /** The page has each metric, and none that is not there. */
    @Test
    void thePageHasAllMetrics() throws IOException {
        Set<String> named = new TreeSet<>();
        Matcher name = Pattern.compile("`(/(?:sched|sync|cpu)/[a-z/-]+:[a-z-]+)`").matcher(Files.readString(Path.of("SEEING.md")));
        while (name.find()) {
            named.add(name.group(1));
        }
        Set<String> known = new TreeSet<>();
        Metrics.all().forEach(d -> known.add(d.name()));
        assertEquals(known, named);
    }
}
