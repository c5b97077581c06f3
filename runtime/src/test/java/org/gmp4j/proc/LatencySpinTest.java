// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Go;
import org.gmp4j.SpinPolicy;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Who spins under a latency policy: {@link Wakep}. A spin lasts far longer than the tests, and no goroutine is preempted. */
class LatencySpinTest {
    private static TestGmp with(int procs) {
        return TestGmp.with(
                b -> b.procs(procs).spin(SpinPolicy.latency(Duration.ofSeconds(10))).quantum(Duration.ofMinutes(1)));
    }

    /** How often Ms went to sleep. */
    private static long sleeps(Scheduler s) {
        long n = 0;
        for (Machine m : s.machines()) {
            n += M.NSLEEP.getOpaque(m.mp) + M.NSLEEPPOLL.getOpaque(m.mp);
        }
        return n;
    }

    /** The M that worked last spins for the goroutine that sleeps, in the place of another, and wakes nobody for it. */
    @Test
    void oneSleeperNeedsOneM() {
        int rounds = 1_000;
        try (TestGmp gmp = with(2)) {
            Scheduler s = gmp.scheduler();
            long slept = gmp.call(() -> {
                sleep(3 * rounds, 20_000); // Until the loops of Ms are compiled: interpreted, an M that is woken looks too late.
                long before = sleeps(s);
                sleep(rounds, 100_000);
                return sleeps(s) - before;
            });
            assertTrue(slept < rounds / 10, "Ms slept " + slept + " times");
        }
    }

    private static void sleep(int times, long nanos) {
        for (int i = 0; i < times; i++) {
            Go.sleep(Duration.ofNanos(nanos));
        }
    }

    /** After a spin in vain, a spinner that finds work beside an M at work has another M spin: there is a use for it again. */
    @Test
    void whatRunsBesideOthersHasASpinnerReady() {
        try (TestGmp gmp = with(4)) {
            Scheduler s = gmp.scheduler();
            gmp.run(() -> {
                s.spunInVain = true;
                AtomicBoolean spins = new AtomicBoolean();
                Go.go(() -> { // It is stolen: its starter keeps its own P.
                    while (Schedt.nmspinningVolatile(s.sched) == 0) {
                        Thread.onSpinWait();
                    }
                    spins.set(true);
                });
                while (!spins.get()) {
                    Thread.onSpinWait();
                }
            });
        }
    }

    /**
     * The only spinner finds work after a spin in vain, and an M that left the timers to it sleeps: that one is woken to watch them.
     */
    @Test
    void timersAreWatchedWhileTheSpinnerWorks() {
        try (TestGmp gmp = with(2)) {
            Scheduler s = gmp.scheduler();
            for (int i = 0; i < 20; i++) {
                gmp.run(() -> {
                    AtomicBoolean rang = new AtomicBoolean();
                    Go.go(() -> {
                        Go.sleep(Duration.ofMillis(2));
                        rang.set(true);
                    });
                    Go.sleep(Duration.ofNanos(200_000)); // Now an M spins for both, and finds this one first.
                    s.spunInVain = true;
                    while (!rang.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
        }
    }
}
