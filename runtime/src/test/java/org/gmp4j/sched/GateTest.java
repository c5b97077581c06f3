// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Go;
import org.gmp4j.report.CallProfile;
import org.gmp4j.report.SchedTrace;
import org.gmp4j.sched.base.Gate;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@link Gate}: the test takes the P, not sysmon, whose quantum is a minute here, but for where sysmon is asked. */
class GateTest {
    private static final int NAPS = 5;
    private static final int ROUNDS = 500_000;
    private static final int STOPS = 10;
    private static final int LOOKS = 100; // Longer than it takes to take a P.
    private static final int STORES = 12;
    private static final int PAUSES = 255;
    private static final int JUNK = 1 << 24;

    private volatile Scheduler s;
    private volatile long gp;
    private volatile long mp;
    private volatile long pp;
    private final AtomicInteger phase = new AtomicInteger();

    @BeforeEach
    void available() {
        assumeTrue(Gate.possible());
    }

    private static TestGmp procs(int n) {
        return TestGmp.with(b -> b.procs(n).quantum(Duration.ofMinutes(1)));
    }

    /** On the goroutine: says where it runs. */
    private void begin() {
        GStack st = GStack.enter();
        s = st.s;
        gp = st.gp;
        mp = st.machine().mp;
        pp = st.machine().pp();
        GStack.exit(st);
        phase.set(1);
    }

    private void await(int n) {
        while (phase.get() < n) {
            Thread.onSpinWait();
        }
    }

    private boolean take() {
        return Gate.take(s, mp, P.SCHEDTICK.getOpaque(pp));
    }

    private void taken() {
        while (!take()) { // A safepoint, or sysmon's look at the same moment.
            Thread.onSpinWait();
        }
    }

    /** Runs body against a goroutine that calls nothing until then. */
    private void against(Runnable body) {
        try (TestGmp gmp = procs(1)) {
            gmp.go(() -> {
                begin();
                await(2);
                GStack.exit(GStack.enter());
                assertEquals(M.GATE_OPEN, M.GATE.getOpaque(Machine.of().mp));
            });
            await(1);
            try {
                body.run();
            } finally {
                phase.set(2);
            }
        }
    }

    @Test
    void itTakesAP() {
        against(() -> {
            taken();
            assertEquals(0, M.P.getOpaque(mp));
            assertEquals(0, P.M.getOpaque(pp));
            assertEquals(pp, M.OLDP.getOpaque(mp));
            assertEquals(GStatus.GSYSCALL, GStatus.readgstatus(gp));
            int status = PStatus.get(pp);
            assertTrue(status == PStatus.PSYSCALL || status == PStatus.PIDLE, () -> PStatus.name(status)); // Or sysmon has it.
            assertEquals(M.GATE_SHUT, M.GATE.getOpaque(mp));
            assertFalse(take(), "once more");
            assertTrue(s.machine(mp).astray());
            assertTrue(SchedTrace.text(s, 0, false).endsWith(" ] strays=1\n"), "after what Go prints");
            CallProfile profile = new CallProfile(Set.of(-G.GOID.get(gp))) {
                @Override
                protected boolean isOwn(StackTraceElement[] frames) {
                    return true;
                }
            };
            profile.sample();
            assertEquals(1, profile.own(), "a stray that computes");
        });
    }

    @Test
    void notInALaterSlice() {
        against(() -> {
            assertFalse(Gate.take(s, mp, P.SCHEDTICK.getOpaque(pp) - 1));
            keepsItsP();
        });
    }

    @Test
    void notOfAHeldG() {
        against(() -> {
            assertTrue(GStatus.castogscanstatus(gp, GStatus.GRUNNING));
            assertFalse(take());
            keepsItsP();
            GStatus.casfromgscanstatus(gp, GStatus.GRUNNING);
            taken();
        });
    }

    private void keepsItsP() {
        assertEquals(PStatus.PRUNNING, PStatus.get(pp));
        assertEquals(mp, P.M.getOpaque(pp));
        assertEquals(pp, M.P.getOpaque(mp));
        assertEquals(M.GATE_OPEN, M.GATE.getOpaque(mp));
    }

    @Test
    void notInsideTheRuntime() {
        try (TestGmp gmp = procs(1)) {
            gmp.go(() -> {
                GStack st = GStack.enter();
                begin();
                await(2);
                GStack.exit(st);
            });
            await(1);
            assertFalse(take());
            keepsItsP();
            phase.set(2);
        }
    }

    /** A goroutine that enters during a request refuses it, and the requester sees that. */
    @Test
    void whoComesInTimeKeepsItsP() {
        try (TestGmp gmp = procs(1)) {
            gmp.go(() -> {
                begin();
                await(2);
                GStack st = GStack.enter();
                keepsItsP();
                GStack.exit(st);
                phase.set(3);
            });
            await(1);
            assertTrue(M.GATE.compareAndSet(mp, M.GATE_OPEN, M.GATE_ASKED));
            phase.set(2);
            await(3);
            assertFalse(M.GATE.compareAndSet(mp, M.GATE_ASKED, M.GATE_TAKING));
        }
    }

    /** One that comes while it is being taken waits until that is done. */
    @Test
    void whoComesTooLateWaits() {
        try (TestGmp gmp = procs(1)) {
            gmp.go(() -> {
                begin();
                await(2);
                GStack.exit(GStack.enter());
                phase.set(3);
            });
            await(1);
            assertTrue(M.GATE.compareAndSet(mp, M.GATE_OPEN, M.GATE_TAKING));
            phase.set(2);
            while (M.LOCKS.getOpaque(mp) == 0) {
                Thread.onSpinWait();
            }
            LockSupport.parkNanos(1_000_000);
            assertEquals(2, phase.get());
            M.GATE.setRelease(mp, M.GATE_OPEN);
            await(3);
        }
    }

    /** A signal comes while another thread is at it, as one that was sent before: the P is the other's to take. */
    @Test
    void theHandlerLooksAtTheGate() {
        against(() -> {
            assertTrue(M.GATE.compareAndSet(mp, M.GATE_OPEN, M.GATE_ASKED));
            long refused = M.SIGLATE.getOpaque(mp);
            assertTrue(Preempt.handoff(mp, P.SCHEDTICK.getOpaque(pp)));
            while (M.SIGLATE.getOpaque(mp) == refused && M.SIGHANDOFF.getOpaque(mp) == 0) {
                Thread.onSpinWait();
            }
            assertEquals(pp, M.P.getOpaque(mp));
            assertTrue(M.GATE.compareAndSet(mp, M.GATE_ASKED, M.GATE_OPEN));
        });
    }

    /** When the JDK parks a goroutine, no acquirem comes before the M's own loop. */
    @Test
    void theMsLoopLooksAtTheGate() {
        try (TestGmp gmp = procs(1)) {
            gmp.go(() -> {
                begin();
                await(2);
                Thread.yield();
                phase.set(4);
            });
            await(1);
            assertTrue(M.GATE.compareAndSet(mp, M.GATE_OPEN, M.GATE_TAKING));
            phase.set(2);
            while (M.LOCKS.getOpaque(mp) == 0) {
                Thread.onSpinWait();
            }
            try {
                for (int i = 0; i < 50; i++) {
                    LockSupport.parkNanos(1_000_000);
                    assertEquals(GStatus.GRUNNING, GStatus.readgstatus(gp), "the loop goes on");
                    assertEquals(2, phase.get(), "the loop has run the goroutine again");
                }
            } finally {
                M.GATE.setRelease(mp, M.GATE_OPEN);
            }
            await(4);
        }
    }

    /** What sleeps in the kernel sleeps as long as it asked to, and another runs meanwhile. */
    @ParameterizedTest
    @EnumSource(Nap.class)
    void sleepIsNotCutShort(Nap nap) {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)))) {
            gmp.run(() -> {
                long before = GStack.current().s.signals().taken();
                for (int i = 0; i < NAPS; i++) {
                    AtomicBoolean stop = new AtomicBoolean();
                    AtomicBoolean ran = new AtomicBoolean();
                    Go.go(() -> {
                        ran.set(true);
                        while (!stop.get()) {
                            Go.gosched();
                        }
                    });
                    try {
                        do { // Sysmon may have been too late for one nap.
                            assertEquals(nap.end, nap.take(), "ended early");
                        } while (!ran.get());
                    } catch (Throwable t) {
                        throw new AssertionError(t);
                    } finally {
                        stop.set(true);
                    }
                    Go.gosched();
                }
                assertTrue(GStack.current().s.signals().taken() > before);
            });
        }
    }

    /** No signal asks a goroutine to yield, because a signal would cut the sleep short if the thread fell asleep meanwhile. */
    @Test
    void stopsSendNoSignal() throws InterruptedException {
        try (TestGmp gmp = procs(1)) {
            Scheduler s = gmp.scheduler();
            AtomicBoolean begun = new AtomicBoolean();
            AtomicBoolean over = new AtomicBoolean();
            gmp.go(() -> {
                begun.set(true);
                while (!over.get()) {
                    Thread.onSpinWait();
                }
            });
            while (!begun.get() && !Thread.currentThread().isInterrupted()) {
                Thread.onSpinWait();
            }
            for (int i = 0; i < STOPS; i++) {
                StopTheWorld.withWorldStopped(s, () -> { });
            }
            over.set(true);
            assertEquals(0, s.signals().sent());
        }
    }

    /**
     * Takers against goroutines that enter the runtime: between enter and exit the P stays. What they store just before keeps
     * the raised m.locks in the store buffer for a while: what the membarrier is for.
     */
    @Stress
    void insideTheRuntimeThePStays() throws InterruptedException {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1);
        int[] junk = new int[JUNK];
        AtomicReference<String> wrong = new AtomicReference<>();
        AtomicBoolean stop = new AtomicBoolean();
        int takes = 0;
        try (TestGmp gmp = procs(1)) {
            gmp.go(() -> {
                begin();
                int at = 1;
                for (int i = 0; i < ROUNDS && wrong.get() == null; i++) {
                    for (int k = (i & PAUSES) + STORES; k > 0; k--) {
                        at = at * 1_103_515_245 + 12_345;
                        if (k <= STORES) {
                            junk[(at >>> 8) & JUNK - 1] = at;
                        }
                    }
                    GStack st = GStack.enter();
                    Machine m = st.machine();
                    if (m.mp != mp) {
                        mp = m.mp; // Sysmon was here while the thread had no CPU.
                    }
                    long mine = m.pp();
                    for (int k = 0; k < LOOKS; k++) {
                        if (mine == 0 || m.pp() != mine || P.M.getOpaque(mine) != m.mp || PStatus.get(mine) != PStatus.PRUNNING) {
                            wrong.set("inside the runtime: m.p " + m.pp() + ", was " + mine);
                        }
                    }
                    GStack.exit(st);
                }
                stop.set(true);
            });
            await(1);
            while (!stop.get()) {
                takes += take() ? 1 : 0;
            }
            assertEquals(null, wrong.get());
            assertTrue(takes > 0);
        }
    }

}
