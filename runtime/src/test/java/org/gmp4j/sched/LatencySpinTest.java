// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who spins under a latency policy: {@link Wakep}. */
class LatencySpinTest {
    private static TestGmp with(int procs) {
        return TestGmp.with(b -> b.procs(procs).spin(SpinPolicy.latency(Duration.ofMillis(10))).quantum(Duration.ofMinutes(1)));
    }

    /** On a goroutine that keeps its P, of two, while all other Ms sleep. */
    private static void alone(Consumer<Machine> body) {
        try (TestGmp gmp = with(2)) {
            Scheduler s = gmp.scheduler();
            gmp.run(() -> {
                GStack st = GStack.enter();
                try {
                    TestGmp.awaitAsleep(s, 1);
                    st.machine().hasStandIn = false;
                    body.accept(st.machine());
                } finally {
                    GStack.exit(st);
                }
            });
        }
    }

    /** As if the M had spun until it found the goroutine. */
    private static void found(Machine m) {
        M.SPINNING.setOpaque(m.mp, 1);
        long _ = Schedt.addSpinners(m.s.sched, Schedt.SPINS);
        Wakep.resetspinning(m);
    }

    /** How often an M has begun to spin. */
    private static long spins(Scheduler s) {
        long n = 0;
        for (Processor pr : s.procs()) {
            n += PStat.NSPIN.getOpaque(pr.pp);
        }
        return n;
    }

    /** Another M spins in its place, and whether that finds something is seen from then on. */
    @Test
    void whoIsAloneHasASpinnerReady() {
        alone(m -> {
            m.s.spin.inVain = false;
            m.s.spin.found = true;
            long before = spins(m.s);
            found(m);
            while (spins(m.s) == before) {
                Thread.onSpinWait();
            }
            assertTrue(m.hasStandIn);
            assertFalse(m.s.spin.found);
        });
    }

    /** Unless the last one that did found nothing. */
    @Test
    void afterASpinInVainItWakesNobody() {
        alone(m -> {
            m.s.spin.inVain = true;
            found(m);
            assertEquals(0, Schedt.NMSPINNING.getVolatile(m.s.sched));
        });
    }

    /** While the M worked another spun, and found something or nothing; now the M has nothing to do. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whetherItWasInVain(boolean foundSomething) {
        alone(m -> {
            m.s.spin.inVain = foundSomething;
            long _ = Schedt.addSpinners(m.s.sched, Schedt.SPINS); // So that it need not spin itself.
            m.hasStandIn = true;
            m.s.spin.found = foundSomething;
            assertFalse(Wakep.becomeSpinning(m));
            assertEquals(!foundSomething, m.s.spin.inVain);
            assertFalse(m.hasStandIn);
            long _ = Schedt.addSpinners(m.s.sched, -Schedt.SPINS);
        });
    }

    /** An M that lost its P, and slept until it got another, has no stand-in any more. */
    @Test
    void whoSleptHasNone() {
        alone(m -> {
            Machine other = m.s.machine(Schedt.MIDLE.get(m.s.sched));
            other.hasStandIn = true;
            AtomicReference<Boolean> hasStandIn = new AtomicReference<>();
            Go.go(() -> hasStandIn.set(other.hasStandIn));
            while (hasStandIn.get() == null) {
                Thread.onSpinWait();
            }
            assertEquals(false, hasStandIn.get());
        });
    }

    /** An M that was woken to spin, where enough others do, has found nothing and needs no other in its place. */
    @Test
    void whoNeedNotSpinHasNone() {
        alone(m -> {
            m.s.spin.inVain = false;
            m.s.spin.found = true;
            long _ = Schedt.addSpinners(m.s.sched, Schedt.SPINS + Schedt.IS_ON_ITS_WAY);
            M.SPINNING.setOpaque(m.mp, 1);
            Wakep.begun(m);
            assertEquals(Schedt.SPINS, Schedt.NMSPINNING.getVolatile(m.s.sched));
            assertFalse(m.hasStandIn);
            assertTrue(m.s.spin.found);
            long _ = Schedt.addSpinners(m.s.sched, -Schedt.SPINS);
        });
    }

    /** When a spinner finds work beside an M that is at work, it was of use. */
    @Test
    void whatRunsBesideOthersHasASpinnerReady() {
        try (TestGmp gmp = with(4)) {
            Scheduler s = gmp.scheduler();
            AtomicBoolean inVain = new AtomicBoolean(true);
            gmp.run(() -> {
                s.spin.inVain = true;
                s.spin.found = false;
                AtomicBoolean ran = new AtomicBoolean();
                Go.go(() -> { // It is stolen: its starter keeps its own P.
                    inVain.set(s.spin.inVain);
                    ran.set(true);
                });
                while (!ran.get()) {
                    Thread.onSpinWait();
                }
            });
            assertFalse(inVain.get());
            assertTrue(s.spin.found);
        }
    }

    /** Work that was queued while it spun, so that no M was woken, does not wait. */
    @Test
    void whatWaitsIsSeenToWhileItWorks() {
        alone(m -> {
            long _ = Schedt.addSpinners(m.s.sched, Schedt.SPINS);
            M.SPINNING.setOpaque(m.mp, 1);
            AtomicBoolean ran = new AtomicBoolean();
            Go.go(() -> ran.set(true));
            m.s.spin.inVain = true;
            Wakep.resetspinning(m);
            while (!ran.get()) {
                Thread.onSpinWait();
            }
        });
    }
}
