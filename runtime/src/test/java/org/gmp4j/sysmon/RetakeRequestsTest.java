// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.gmp4j.sysmon.RetakeScans.QUANTUM;
import static org.gmp4j.sysmon.RetakeScans.retake;
import static org.gmp4j.sysmon.RetakeScans.told;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.gmp4j.Go;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@link Retake}: a goroutine is asked to yield when its slice is over and another one waits. */
class RetakeRequestsTest {
    private static final long PATIENCE = 10_000_000_000L;

    /**
     * Work that was queued since the last scan, while an M searches, is no reason to ask a goroutine to yield. It is one if it still waits
     * at the next scan.
     */
    @Test
    void othersTakeWhatIsNew() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            long sched = gmp.s.sched;
            Retake retake = retake(gmp.s, new Stalls(gmp.s.config.debug()));
            gmp.run(() -> {
                boolean _ = retake.look(System.nanoTime());
                long _ = Schedt.addSpinners(sched, Schedt.SPINS); // It stands for an M that searches.
                Go.go(() -> { });
                long first = told(retake, sched);
                long second = told(retake, sched);
                long _ = Schedt.addSpinners(sched, -Schedt.SPINS);
                assertEquals(0, first, "the M may take it");
                assertEquals(1, second, "the M has not taken it");
            });
        }
    }

    /** Work in the global queue is a reason to ask for the P even while an M searches, because that M may need any time. */
    @Test
    void theGlobalQueueIsNotNew() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            long sched = gmp.s.sched;
            Retake retake = retake(gmp.s, new Stalls(gmp.s.config.debug()));
            gmp.run(() -> {
                boolean _ = retake.look(System.nanoTime());
                long _ = Schedt.addSpinners(sched, Schedt.SPINS); // It stands for an M that searches.
                Thread outside = new Thread(() -> Newproc.newproc(gmp.s, () -> { }));
                outside.start();
                while (outside.isAlive()) {
                    Thread.onSpinWait();
                }
                Go.go(() -> { });
                long told = told(retake, sched);
                long _ = Schedt.addSpinners(sched, -Schedt.SPINS);
                assertEquals(1, told);
            });
        }
    }

    /** Sysmon seldom scans a goroutine that has had its quantum and keeps no other waiting: an idle P takes new work. */
    @Test
    void whoRunsAlone() throws Exception {
        Duration quantum = Duration.ofMillis(1);
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(quantum).debug("asyncpreemptoff=1"))) {
            Retake retake = retake(gmp.scheduler());
            assertTrue(gmp.gmp.call(() -> {
                boolean seen = false;
                for (long end = System.nanoTime() + PATIENCE; !seen && System.nanoTime() < end;) { // The other M may still spin.
                    boolean _ = retake.look(System.nanoTime());
                    long later = System.nanoTime() + 2 * quantum.toNanos();
                    var _ = retake.look(later);
                    seen = Schedt.NPIDLE.getVolatile(gmp.scheduler().sched) == 1 && retake.seen.untilOver(later) == quantum.toNanos();
                    Go.gosched();
                }
                return seen;
            }));
        }
    }

    /** A goroutine that has had its quantum is asked to yield only when another waits. */
    @Test
    void whoRunsAloneIsNotTold() throws InterruptedException {
        try (Unwatched gmp = new Unwatched(QUANTUM.toNanos())) {
            Retake retake = retake(gmp.s, new Stalls(gmp.s.config.debug()));
            gmp.run(() -> {
                boolean _ = retake.look(System.nanoTime());
                assertEquals(0, told(retake, gmp.s.sched));
                assertEquals(0, told(retake, gmp.s.sched));
                Go.go(() -> { });
                assertEquals(1, told(retake, gmp.s.sched));
            });
        }
    }

    /** The first G of the ring, and without a ring of runnext, identifies the work: a G behind it changes nothing, a taken one does. */
    @Test
    void whoIsFirst() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)).debug("asyncpreemptoff=1"))) { // It keeps its P.
            assertTrue(gmp.gmp.call(() -> {
                long pp = Machine.current().pp();
                P.SCHEDTICK.setOpaque(pp, 1); // In slice 0, as in each 61st, the P would take this goroutine again after gosched.
                WatchedP r = new WatchedP();
                assertFalse(r.changed(pp), "nobody waits, as before");
                Go.go(() -> { });
                assertTrue(r.changed(pp), "one in runnext");
                assertFalse(r.changed(pp));
                Go.go(() -> { });
                assertTrue(r.changed(pp), "the first is in the ring");
                Go.go(() -> { });
                assertFalse(r.changed(pp), "another runnext");
                Go.gosched();
                assertTrue(r.changed(pp), "they have run");
                return true;
            }));
        }
    }
}
