// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.netpoll.Netpoller;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.sysmon.Unwatched;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.gmp4j.time.Time;
import org.junit.jupiter.api.Test;

/** {@link Wakep}'s protocol, step against step: no work is left lying while an M sleeps. */
class WakepTest {
    /** The M that {@link #beforeTheSleep} has found. */
    private static final AtomicLong SLEEPER = new AtomicLong();
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();
    static final int ROUNDS = 20;

    /** Two Ps, and no preemption that could mend what wakep missed. */
    static TestGmp twoPs() {
        return TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)));
    }

    static void await(AtomicInteger phase, int n) {
        while (phase.get() < n) {
            Thread.onSpinWait();
        }
    }

    /**
     * An M has looked everywhere and is about to give its P up; at that moment work is submitted, and no M is woken for
     * it: there is a spinner still, and no idle P yet. The M's last look has to find it. The submitter keeps its own P.
     */
    @Test
    void workAppearsBeforeTheSleep() {
        workAppearsBesides(0);
    }

    /** Sysmon watches the poller while a P is idle, but it wakes no M for queued work, or the tests of this class could not fail. */
    @Test
    void sysmonLeavesWorkToItsWakers() {
        try (TestGmp gmp = twoPs()) {
            gmp.run(() -> {
                Scheduler s = GStack.current().s;
                AtomicInteger phase = new AtomicInteger();
                AtomicBoolean ran = new AtomicBoolean();
                beforeTheSleep(phase);
                long _ = Schedt.addSpinners(s.sched, Schedt.SPINS); // So that the M's last search finds another that spins.
                Go.go(() -> ran.set(true));
                phase.set(2);
                while (Schedt.NPIDLE.getVolatile(s.sched) == 0 || OsThread.state((int) M.PROCID.get(SLEEPER.get())) != 'S') {
                    Thread.onSpinWait(); // The M's last search follows the release of its P.
                }
                long _ = Schedt.addSpinners(s.sched, -Schedt.SPINS);
                for (long end = System.nanoTime() + 100_000_000; System.nanoTime() < end;) {
                    Thread.onSpinWait(); // Sysmon scans several times.
                }
                assertFalse(ran.get());
            });
        }
    }

    /** The same while another is on its way, which may not come for long. */
    @Test
    void workAppearsWhileOneIsOnItsWay() {
        workAppearsBesides(Schedt.IS_ON_ITS_WAY);
    }

    private static void workAppearsBesides(long others) {
        try (TestGmp gmp = twoPs()) {
            for (int round = 0; round < ROUNDS; round++) {
                gmp.run(() -> {
                    long sched = GStack.current().s.sched;
                    AtomicInteger phase = new AtomicInteger();
                    beforeTheSleep(phase);
                    long _ = Schedt.addSpinners(sched, others);
                    AtomicBoolean ran = new AtomicBoolean();
                    Go.go(() -> ran.set(true));
                    phase.set(2);
                    while (!ran.get()) {
                        Thread.onSpinWait();
                    }
                    long _ = Schedt.addSpinners(sched, -others);
                });
            }
        }
    }

    /** The same from a thread without a P, through the global queue. */
    @Test
    void globalWorkAppearsBeforeTheSleep() throws InterruptedException {
        try (TestGmp gmp = twoPs()) {
            for (int round = 0; round < ROUNDS; round++) {
                AtomicInteger phase = new AtomicInteger();
                AtomicBoolean ran = new AtomicBoolean();
                Threads outside = new Threads().add("outside", () -> {
                    await(phase, 1);
                    gmp.go(() -> ran.set(true));
                    phase.set(2);
                }).start();
                gmp.run(() -> {
                    beforeTheSleep(phase);
                    while (!ran.get()) {
                        Thread.onSpinWait();
                    }
                });
                outside.join();
            }
        }
    }

    /**
     * Two goroutines are submitted, and no M is woken for either: there is a spinner. It finds one of them, and that one
     * and the submitter keep their Ps. There is a third for the other.
     */
    @Test
    void theSpinnerFindsOneOfTwo() {
        besideASpinner(ran -> {
            Go.go(() -> await(ran, 1));
            Go.go(() -> ran.set(1));
        });
    }

    /** The same with a timer that the busy ones cannot look at. */
    @Test
    void theSpinnerFindsWorkButNotTheTimer() {
        besideASpinner(ran -> {
            Time.afterFunc(Duration.ofMillis(20), () -> ran.set(1));
            Go.go(() -> await(ran, 1));
        });
    }

    private static void besideASpinner(Consumer<AtomicInteger> submit) {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(3).quantum(Duration.ofMinutes(1)))) {
            for (int round = 0; round < ROUNDS; round++) {
                gmp.run(() -> {
                    AtomicInteger phase = new AtomicInteger();
                    AtomicInteger ran = new AtomicInteger();
                    beforeTheSleep(phase, true);
                    submit.accept(ran);
                    phase.set(2);
                    await(ran, 1);
                });
            }
        }
    }

    private static void beforeTheSleep(AtomicInteger phase) {
        beforeTheSleep(phase, false);
    }

    /**
     * Sets phase to 1 with another P's M right before its sleep, held there until phase is 2; then it sleeps, or looks once
     * more.
     */
    private static void beforeTheSleep(AtomicInteger phase, boolean again) {
        GStack.current().s.setIdleHook(() -> {
            if (phase.compareAndSet(0, 1)) {
                SLEEPER.set(Machine.current().mp);
                await(phase, 2);
                return again;
            }
            return false;
        });
        Go.go(() -> { }); // Wakes the other P's M if it sleeps.
        await(phase, 1);
    }

    /** A goroutine that is readied runs on the idle P, while the one that readied it keeps its own. */
    @Test
    void readiedRunsElsewhere() {
        try (TestGmp gmp = twoPs()) {
            for (int round = 0; round < ROUNDS; round++) {
                gmp.run(() -> {
                    Chan<Integer> c = Chan.make();
                    AtomicInteger phase = new AtomicInteger();
                    Go.go(() -> {
                        phase.set(1);
                        c.recv();
                        phase.set(2);
                    });
                    await(phase, 1);
                    long sched = GStack.current().s.sched;
                    while (Schedt.NPIDLE.getVolatile(sched) == 0 || Schedt.nmspinningVolatile(sched) != 0) {
                        Thread.onSpinWait(); // Until the receiver has parked and its M sleeps.
                    }
                    c.send(1);
                    await(phase, 2);
                });
            }
        }
    }

    /** Keeps an M that has given its P up from its sleep: it is on the idle list and still looks. */
    private static final class Looks implements Netpoll {
        private final AtomicBoolean hold = new AtomicBoolean(true);
        private final CountDownLatch held = new CountDownLatch(1);
        private final CountDownLatch polled = new CountDownLatch(1);
        private final boolean waiters;
        private long mp;

        private Looks(boolean waiters) {
            this.waiters = waiters;
        }

        /** Has an idle scheduler run something, and holds the M that did. */
        static Looks holdOne(TestGmp gmp, Scheduler s, boolean waiters) throws InterruptedException {
            TestGmp.awaitAsleep(s, 0);
            Looks looks = new Looks(waiters);
            s.netpoll = looks;
            gmp.go(() -> { });
            looks.held.await();
            return looks;
        }

        @Override
        public long poll(Scheduler s, long delay) {
            if (delay != 0) {
                polled.countDown();
            }
            return NONE.poll(s, delay);
        }

        @Override
        public void wake(Scheduler s) {
            NONE.wake(s);
        }

        @Override
        public void close(Scheduler s) {
            // Holds nothing.
        }

        @Override
        public boolean anyWaiters(Scheduler s) {
            Machine m = Machine.of();
            if (m == null || m.pp() != 0) {
                return false; // Not this look.
            }
            if (!hold.get()) {
                return waiters;
            }
            mp = m.mp;
            held.countDown();
            while (hold.get()) {
                Thread.onSpinWait();
            }
            return waiters;
        }
    }

    /** A thread that needs an M takes the one that is about to sleep, and it comes. */
    @Test
    void takenBeforeItSleeps() throws InterruptedException {
        takenWhileItLooks(false);
    }

    @Test
    void takenBeforeItPolls() throws InterruptedException {
        takenWhileItLooks(true);
    }

    /** Starts a goroutine, and waits until it has parked; it then waits for {@link #queueUnseen}. */
    private static long parked(Scheduler s, Runnable then) {
        AtomicLong gp = new AtomicLong();
        Newproc.newproc(s, () -> {
            GStack st = GStack.enter();
            Park.gopark(st, (self, lock) -> {
                gp.set(self);
                return true;
            }, null, WaitReason.SLEEP, 0);
            GStack.exit(st);
            then.run();
        });
        while (gp.get() == 0) {
            Thread.onSpinWait();
        }
        return gp.get();
    }

    /** No M is woken for it. */
    private static void queueUnseen(Scheduler s, long pp, long gp) {
        GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
        Runq.runqput(s.sched, pp, gp, false);
    }

    /**
     * A goroutine sleeps, and its M finds another to run, which does not end before the first has woken. The other M sleeps since
     * there was no timer. The scheduler has no sysmon, which would find a timer that no M watches.
     */
    @Test
    void aSleeperBesideABusyOne() throws InterruptedException {
        sleepBesideABusyOne(() -> { });
    }

    /** The same when its thread sleeps with it, and the P goes to another. */
    @Test
    void aLockedSleeperBesideABusyOne() throws InterruptedException {
        sleepBesideABusyOne(Go::lockOSThread);
    }

    private static void sleepBesideABusyOne(Runnable first) throws InterruptedException {
        try (Unwatched w = new Unwatched(2, MINUTE, new Netpoller())) {
            Scheduler s = w.s;
            AtomicBoolean woke = new AtomicBoolean();
            CountDownLatch ended = new CountDownLatch(1);
            long busy = parked(s, () -> {
                while (!woke.get()) {
                    Thread.onSpinWait();
                }
                ended.countDown();
            });
            TestGmp.awaitAsleep(s, 0);
            Newproc.newproc(s, () -> {
                first.run();
                TestGmp.awaitAsleep(s, 1);
                queueUnseen(s, GStack.current().machine().pp(), busy);
                Go.sleep(Duration.ofMillis(100)); // The busy one runs long before.
                woke.set(true);
            });
            ended.await();
        }
    }

    /** What it looked at is another's then: it was taken for a P that has work of its own. */
    @Test
    void takenForOtherWork() throws InterruptedException {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            Scheduler s = gmp.scheduler();
            CountDownLatch polled = new CountDownLatch(1);
            CountDownLatch ended = new CountDownLatch(1);
            long runs = parked(gmp.scheduler(), () -> {
                while (polled.getCount() != 0) {
                    Thread.onSpinWait();
                }
                ended.countDown();
            });
            Looks looks = Looks.holdOne(gmp, s, true);
            SchedLock.lock(s.sched);
            long pp = Idle.pidleget(s.sched, System.nanoTime());
            SchedLock.unlock(s.sched);
            queueUnseen(s, pp, runs);
            org.gmp4j.sched.Threads.handoffp(s, pp);
            looks.hold.set(false);
            looks.polled.await(); // By another M, while this one runs the goroutine.
            polled.countDown();
            ended.await();
            s.netpoll = Netpoll.NONE;
            Netpoll.NONE.wake(s);
        }
    }

    /** It does not end before the thread that took it, when all were at work, has woken it. */
    @Test
    void takenBeforeTheEnd() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Scheduler s = gmp.scheduler();
            Looks looks = Looks.holdOne(gmp, s, false);
            SchedLock.lock(s.sched);
            long mp = Idle.mget(s.sched);
            long pp = Idle.pidleget(s.sched, System.nanoTime());
            SchedLock.unlock(s.sched);
            assertEquals(looks.mp, mp);
            Thread closes = Thread.ofPlatform().start(gmp.gmp::close);
            while (!s.isStopped()) {
                Thread.onSpinWait();
            }
            looks.hold.set(false);
            while (M.BLOCKED.getOpaque(mp) == 0) {
                Thread.onSpinWait();
            }
            org.gmp4j.sched.Threads.startm(s, mp, pp, false);
            closes.join();
        }
    }

    private static void takenWhileItLooks(boolean polls) throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Scheduler s = gmp.scheduler();
            Looks looks = Looks.holdOne(gmp, s, polls);
            CountDownLatch ran = new CountDownLatch(1);
            gmp.go(ran::countDown);
            long nextp = M.NEXTP.get(looks.mp);
            looks.hold.set(false);
            ran.await();
            s.netpoll = Netpoll.NONE;
            assertTrue(nextp != 0);
        }
    }

    /** Work that waits while no P is idle does not wake sysmon. */
    @Test
    void aLightSleepGoesOn() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            Scheduler s = gmp.scheduler();
            long note = Schedt.sysmonnoteAddress(s.sched);
            gmp.run(() -> {
                GStack st = GStack.enter();
                try {
                    while (Schedt.SYSMONWAIT.getAcquire(s.sched) != 0 || Note.woken(note)) { // The sleep from before there was a goroutine.
                        Thread.onSpinWait();
                    }
                    for (int i = 0; i < ROUNDS; i++) {
                        Schedt.SYSMONWAIT.setVolatile(s.sched, Schedt.SYSMON_RESTS);
                        Wakep.wakep(s);
                        Schedt.SYSMONWAIT.setVolatile(s.sched, 0);
                        assertFalse(Note.woken(note));
                    }
                } finally {
                    GStack.exit(st);
                }
            });
        }
    }
}
