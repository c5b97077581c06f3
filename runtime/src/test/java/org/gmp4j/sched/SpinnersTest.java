// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.gmp4j.sched.WakepTest.ROUNDS;
import static org.gmp4j.sched.WakepTest.await;
import static org.gmp4j.sched.WakepTest.twoPs;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Go;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.struct.SchedStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** How many Ms spin at once, and how late one that was woken has to be before the next submitter wakes another. */
class SpinnersTest {
    /** M7: of two submitters at once, with all Ps idle, one makes a spinner. The hook keeps it spinning. */
    @Stress
    void oneSpinnerAtATime() throws Exception {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(4))) {
            Scheduler s = gmp.scheduler();
            AtomicBoolean hold = new AtomicBoolean();
            AtomicInteger held = new AtomicInteger();
            s.setIdleHook(() -> {
                if (hold.get()) {
                    held.incrementAndGet();
                    while (hold.get()) {
                        Thread.onSpinWait();
                    }
                }
                return false;
            });
            CyclicBarrier barrier = new CyclicBarrier(2);
            for (int i = 0; i < 4 * ROUNDS; i++) {
                while (Schedt.NPIDLE.getVolatile(s.sched) < 4 || Schedt.nmspinningVolatile(s.sched) != 0) {
                    Thread.onSpinWait();
                }
                long late = SchedStat.NLATE.getOpaque(s.sched);
                held.set(0);
                hold.set(true);
                new Threads().add(2, "submitter", () -> {
                    barrier.await();
                    Wakep.wakep(s);
                }).run();
                while (held.get() == 0) {
                    Thread.onSpinWait();
                }
                int spinning = Schedt.nmspinningVolatile(s.sched);
                long woken = 1 + SchedStat.NLATE.getOpaque(s.sched) - late;
                hold.set(false);
                assertTrue(spinning >= 1 && spinning <= woken, () -> spinning + " spin, " + woken + " were woken");
            }
        }
    }

    /** An M that was woken has no CPU yet, while a P and a CPU are idle: another is woken for what is submitted. */
    @Test
    void oneThatWasWokenIsLate() {
        assertEquals(ROUNDS, lateBeside(Schedt.IS_ON_ITS_WAY, -1));
    }

    /** It was woken a moment ago. */
    @Test
    void oneThatWasWokenIsAwaited() {
        assertEquals(0, lateBeside(Schedt.IS_ON_ITS_WAY, 60));
    }

    /** Many were: each of them had to be late for some time. */
    @Test
    void theMoreAreLateTheLonger() {
        assertEquals(0, lateBeside(100_000_000 * Schedt.IS_ON_ITS_WAY, -1));
    }

    /** Another spins, which will look. */
    @Test
    void oneThatSpinsLooks() {
        assertEquals(0, lateBeside(Schedt.SPINS, -1));
    }

    /**
     * Starts goroutines while {@code spinners} are counted, of which the last was woken {@code -seconds} ago. Those for which another
     * is woken run there.
     *
     * @return for how many that was so
     */
    private static long lateBeside(long spinners, int seconds) {
        AtomicLong all = new AtomicLong();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(3).quantum(Duration.ofMinutes(1)))) {
            gmp.run(() -> {
                long sched = GStack.current().s.sched;
                for (int round = 0; round < ROUNDS; round++) {
                    AtomicInteger ran = new AtomicInteger();
                    while (Schedt.NPIDLE.getVolatile(sched) < 2 || !Schedt.NMSPINNING.compareAndSet(sched, 0, spinners)) {
                        Thread.onSpinWait();
                    }
                    Schedt.WOKENAT.setOpaque(sched, System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds));
                    long before = SchedStat.NLATE.getOpaque(sched);
                    Go.go(() -> ran.set(1));
                    long late = SchedStat.NLATE.getOpaque(sched) - before;
                    if (late != 0) { // It may be 2: the M that was woken has found the goroutine, and woken another by the same rule.
                        long _ = all.incrementAndGet();
                        await(ran, 1);
                    }
                    long _ = Schedt.addSpinners(sched, -spinners);
                    Go.gosched();
                }
            });
        }
        return all.get();
    }

    /** M7: one that comes to run where enough spin ceases to; where the others are on their way, it goes on. */
    @Test
    void oneThatComesLateIsOneTooMany() {
        try (TestGmp gmp = twoPs()) {
            gmp.run(() -> {
                GStack st = GStack.enter();
                try {
                    assertEquals(Schedt.SPINS, begunBeside(st.machine(), Schedt.SPINS));
                    assertEquals(Schedt.IS_ON_ITS_WAY + Schedt.SPINS, begunBeside(st.machine(), Schedt.IS_ON_ITS_WAY));
                } finally {
                    GStack.exit(st);
                }
            });
        }
    }

    /** One may not stay that could not begin: half of the Ps may spin, but here only one is busy. Under a busy policy two spun for ever. */
    @Test
    void oneThatComesLateIsOneTooManyForTheBusyPs() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(4).quantum(Duration.ofMinutes(1)))) {
            gmp.run(() -> {
                GStack st = GStack.enter();
                try {
                    assertEquals(Schedt.SPINS, begunBeside(st.machine(), Schedt.SPINS));
                } finally {
                    GStack.exit(st);
                }
            });
        }
    }

    /** M7: an M that is awake spins though another is on its way, but not beside one that spins. */
    @Test
    void oneThatIsAwakeSpinsBesideOneOnItsWay() {
        try (TestGmp gmp = twoPs()) {
            gmp.run(() -> {
                GStack st = GStack.enter();
                try {
                    assertTrue(spinsBeside(st.machine(), Schedt.IS_ON_ITS_WAY));
                    assertFalse(spinsBeside(st.machine(), Schedt.SPINS));
                } finally {
                    GStack.exit(st);
                }
            });
        }
    }

    private static boolean spinsBeside(Machine m, long other) {
        long sched = m.s.sched;
        while (Schedt.NPIDLE.getVolatile(sched) == 0 || !Schedt.NMSPINNING.compareAndSet(sched, 0, other)) {
            Thread.onSpinWait();
        }
        boolean spins = Wakep.becomeSpinning(m);
        M.SPINNING.setOpaque(m.mp, 0);
        long _ = Schedt.addSpinners(sched, -other - (spins ? Schedt.SPINS : 0));
        return spins;
    }

    /** Who spins when an M that was woken has come to run beside the {@code other}. */
    private static long begunBeside(Machine m, long other) {
        long sched = m.s.sched;
        while (Schedt.NPIDLE.getVolatile(sched) == 0 || !Schedt.NMSPINNING.compareAndSet(sched, 0, Schedt.IS_ON_ITS_WAY + other)) {
            Thread.onSpinWait();
        }
        M.SPINNING.setOpaque(m.mp, 1);
        Wakep.begun(m);
        long spinners = Schedt.NMSPINNING.getVolatile(sched);
        int spins = M.SPINNING.get(m.mp);
        M.SPINNING.setOpaque(m.mp, 0);
        long _ = Schedt.addSpinners(sched, -other - spins);
        assertEquals(spinners != other, spins != 0);
        return spinners;
    }
}
