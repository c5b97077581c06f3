// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
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
                TestGmp.awaitAsleep(s, 1);
                body.accept(st.machine());
                GStack.exit(st);
            });
        }
    }

    /** As if the M had spun until it found the goroutine. */
    private static void found(Machine m) {
        M.setSpinningOpaque(m.mp, 1);
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

    /** Another M spins in its place. */
    @Test
    void whoIsAloneHasASpinnerReady() {
        alone(m -> {
            m.s.spunInVain = false;
            long before = spins(m.s);
            found(m);
            while (spins(m.s) == before) {
                Thread.onSpinWait();
            }
        });
    }

    /** Unless the last one that did found nothing. */
    @Test
    void afterASpinInVainItWakesNobody() {
        alone(m -> {
            m.s.spunInVain = true;
            found(m);
            assertEquals(0, Schedt.spinnersVolatile(m.s.sched));
        });
    }

    /** While the M works another spins, and finds something or nothing; then the M has nothing to do and would spin as well. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whetherItWasInVain(boolean foundSomething) {
        alone(m -> {
            m.s.spunInVain = foundSomething;
            long _ = Schedt.addSpinners(m.s.sched, Schedt.SPINS);
            m.hasStandIn = true;
            m.s.spinnerFound = foundSomething;
            assertFalse(Wakep.becomeSpinning(m));
            assertEquals(!foundSomething, m.s.spunInVain);
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
                s.spunInVain = true;
                AtomicBoolean ran = new AtomicBoolean();
                Go.go(() -> { // It is stolen: its starter keeps its own P.
                    inVain.set(s.spunInVain);
                    ran.set(true);
                });
                while (!ran.get()) {
                    Thread.onSpinWait();
                }
            });
            assertFalse(inVain.get());
        }
    }

    /** What was queued while it spun, so that nobody was woken, is not left to wait. */
    @Test
    void whatWaitsIsSeenToWhileItWorks() {
        alone(m -> {
            long _ = Schedt.addSpinners(m.s.sched, Schedt.SPINS);
            M.setSpinningOpaque(m.mp, 1);
            AtomicBoolean ran = new AtomicBoolean();
            Go.go(() -> ran.set(true));
            m.s.spunInVain = true;
            Wakep.resetspinning(m);
            while (!ran.get()) {
                Thread.onSpinWait();
            }
        });
    }
}
