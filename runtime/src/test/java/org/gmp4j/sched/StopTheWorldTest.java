// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.JdkState;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** {@link StopTheWorld}: every P is counted once, wherever the stop finds it. One that is not, and the stop never ends. */
class StopTheWorldTest {
    private static final int ROUNDS = 20;
    private static final int FEW = 5;

    /** Two Ps, and no preemption but what stopTheWorld itself asks for. */
    private static TestGmp twoPs() {
        return TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)));
    }

    private static void await(AtomicInteger phase, int n) {
        while (phase.get() < n) {
            Thread.onSpinWait();
        }
    }

    /** Leaves the CPUs to the threads that it waits for. Called on a plain thread. */
    private static void awaitOutside(AtomicInteger phase, int n) {
        while (phase.get() < n) {
            Thread.yield();
        }
    }

    private static void awaitStopping(long sched) {
        while (Schedt.GCWAITING.getAcquire(sched) == 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void idlePsStop() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            for (int i = 0; i < ROUNDS; i++) {
                assertEquals(4, gmp.gmp.setProcs(4));
            }
        }
    }

    /** An M has found nothing and is about to give its P up when the stop begins: the P is no longer for the idle list. */
    @Test
    void anMThatGoesToSleep() {
        try (TestGmp gmp = twoPs()) {
            for (int i = 0; i < ROUNDS; i++) {
                gmp.run(() -> {
                    Scheduler s = GStack.current().s;
                    AtomicInteger phase = new AtomicInteger();
                    s.setIdleHook(() -> {
                        if (phase.compareAndSet(0, 1)) {
                            awaitStopping(s.sched);
                        }
                        return false;
                    });
                    Go.go(() -> { });
                    await(phase, 1);
                    assertEquals(2, Go.gomaxprocs(2));
                });
            }
        }
    }

    /** A goroutine is in a system call and stays there: its P stops without it. */
    @Test
    void aPInASystemCallStops() throws Exception {
        try (TestGmp gmp = twoPs()) {
            for (int i = 0; i < ROUNDS; i++) {
                AtomicInteger phase = new AtomicInteger();
                gmp.go(() -> {
                    try {
                        int _ = Go.blocking(() -> {
                            phase.set(1);
                            await(phase, 2);
                            return 1;
                        });
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
                awaitOutside(phase, 1);
                assertEquals(2, gmp.gmp.setProcs(2));
                phase.set(2);
            }
        }
    }

    /** A goroutine that calls nothing loses its P in the end. */
    @Test
    void aHogStops() {
        try (TestGmp gmp = twoPs()) {
            AtomicInteger phase = new AtomicInteger();
            gmp.go(() -> {
                phase.set(1);
                await(phase, 2);
            });
            await(phase, 1);
            assertEquals(2, gmp.gmp.setProcs(2));
            phase.set(2);
        }
    }

    /**
     * While the world is being stopped the M of a locked goroutine gives its P away; nothing is to be done, and somebody
     * spins still, so no other M wants it.
     */
    @Test
    void aPHandedOffWhileStopping() throws Exception {
        try (TestGmp gmp = twoPs()) {
            Scheduler s = gmp.scheduler();
            for (int i = 0; i < FEW; i++) {
                Chan<Integer> c = Chan.make();
                AtomicInteger phase = new AtomicInteger();
                AtomicLong locked = new AtomicLong();
                AtomicBoolean stopped = new AtomicBoolean();
                s.setIdleHook(() -> {
                    if (locked.get() != 0 && phase.compareAndSet(0, 1)) {
                        awaitStopping(s.sched);
                        while (PStatus.get(locked.get()) == PStatus.PRUNNING) {
                            Thread.onSpinWait(); // Until the locked goroutine has parked.
                        }
                    }
                    return false;
                });
                gmp.go(() -> {
                    Go.lockOSThread();
                    GStack st = GStack.enter();
                    locked.set(Machine.of().pp());
                    GStack.exit(st);
                    Go.go(() -> { });
                    while (Schedt.GCWAITING.getAcquire(s.sched) == 0 && !stopped.get()) {
                        Thread.onSpinWait(); // Preempted at its quantum, it may miss the stop.
                    }
                    assertEquals(7, c.recv());
                    Go.unlockOSThread();
                });
                awaitOutside(phase, 1);
                assertEquals(2, gmp.gmp.setProcs(2));
                stopped.set(true);
                c.send(7);
            }
            s.setIdleHook(null);
        }
    }

    /** On the second of two Ps, the first of which is kept busy; shrinks to one and checks. */
    private static void shrink(Runnable before, Runnable after) {
        try (TestGmp gmp = twoPs()) {
            gmp.run(() -> {
                AtomicBoolean done = new AtomicBoolean();
                Runnable onSecond = () -> {
                    before.run();
                    assertEquals(2, Go.gomaxprocs(1));
                    after.run();
                    done.set(true);
                };
                if (P.ID.get(M.P.get(Machine.of().mp)) == 1) {
                    Go.go(StopTheWorldTest::keepBusy);
                    while (Schedt.NPIDLE.getVolatile(GStack.current().s.sched) != 0) {
                        Thread.onSpinWait();
                    }
                    onSecond.run();
                } else {
                    Go.go(onSecond);
                    keepBusy();
                    while (!done.get()) {
                        Go.gosched();
                    }
                }
            });
            gmp.check();
        }
    }

    private static void keepBusy() {
        while (Go.gomaxprocs(0) == 2) {
            Go.preemptPoint();
        }
    }

    /** P5: what waits on a P that dies runs on another; a goroutine that shrinks the Ps from it goes on with another. */
    @Test
    void shrinkingKeepsTheGs() {
        AtomicInteger ran = new AtomicInteger();
        shrink(() -> {
            for (int i = 0; i < 10; i++) {
                Go.go(ran::incrementAndGet);
            }
        }, () -> {
            while (ran.get() < 10) {
                Go.gosched();
            }
        });
        assertEquals(10, ran.get());
    }

    /** The goroutines of a P that dies run in their order: the newest, then the others. */
    @Test
    void shrinkingKeepsTheOrder() {
        Queue<Integer> ran = new ConcurrentLinkedQueue<>();
        shrink(() -> {
            for (int i = 0; i < 3; i++) { // So few that a P takes all of them at once.
                int k = i;
                Go.go(() -> ran.add(k));
            }
        }, () -> {
            while (ran.size() < 3) {
                Go.gosched();
            }
        });
        assertEquals(List.of(2, 0, 1), List.copyOf(ran));
    }

    /** P5: what a P that dies had cached serves others: {@link TestGmp#check} counts all of it. */
    @Test
    void shrinkingEmptiesTheCaches() {
        shrink(() -> {
            Chan<Integer> c = Chan.make();
            for (int i = 0; i < 10; i++) {
                Go.go(() -> c.send(1));
            }
            for (int i = 0; i < 10; i++) {
                c.recv();
            }
            for (int i = 0; i < 10; i++) {
                Go.gosched(); // The senders end here.
            }
        }, () -> { });
    }

    /** Ps that have work of their own when the world starts again run it, without help of others: both goroutines go on. */
    @Test
    void everyPGoesOn() {
        try (TestGmp gmp = twoPs()) {
            Scheduler s = gmp.scheduler();
            for (int i = 0; i < ROUNDS; i++) {
                AtomicInteger running = new AtomicInteger();
                AtomicInteger ran = new AtomicInteger();
                for (int k = 0; k < 2; k++) {
                    gmp.go(() -> {
                        Go.go(ran::incrementAndGet);
                        Go.go(ran::incrementAndGet);
                        running.incrementAndGet();
                        while (ran.get() < 4) {
                            Go.gosched();
                        }
                    });
                }
                awaitOutside(running, 1);
                StopTheWorld.withWorldStopped(s, () -> { });
                awaitOutside(ran, 4);
            }
        }
    }

    /** A goroutine is started while the world stands still, when there is no idle P to wake. */
    @Test
    void startedWhileStopped() {
        try (TestGmp gmp = twoPs()) {
            Scheduler s = gmp.scheduler();
            for (int i = 0; i < ROUNDS; i++) {
                AtomicInteger ran = new AtomicInteger();
                StopTheWorld.withWorldStopped(s, () -> gmp.go(ran::incrementAndGet));
                awaitOutside(ran, 1);
            }
        }
    }

    /** A goroutine that has stopped the world waits with its thread: to switch, it would need the others. */
    @Test
    void theStopperKeepsItsThread() {
        try (TestGmp gmp = twoPs()) {
            gmp.run(() -> {
                Scheduler s = GStack.current().s;
                StopTheWorld.withWorldStopped(s, () -> {
                    Machine m = Machine.of();
                    try {
                        Thread.sleep(1);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    assertEquals(m, Machine.of());
                });
            });
        }
    }

    /** Its wait blocks the thread, and takes no frames off it, for which deep in a stack there may be no room. */
    @Test
    void theStopperWaitsPinned() {
        try (TestGmp gmp = twoPs()) {
            gmp.run(() -> {
                GStack st = GStack.current();
                AtomicInteger phase = new AtomicInteger();
                AtomicBoolean pinned = new AtomicBoolean();
                Thread waker = new Thread(() -> {
                    awaitOutside(phase, 1);
                    for (int i = 0; i < FEW && !pinned.get(); i++) { // Unpinned it would never be pinned.
                        while (st.thread.getState() != Thread.State.WAITING) {
                            Thread.yield();
                        }
                        pinned.set(JdkState.isPinned(st));
                    }
                    phase.set(2);
                    LockSupport.unpark(st.thread);
                });
                waker.start();
                StopTheWorld.withWorldStopped(st.s, () -> {
                    phase.set(1);
                    while (phase.get() < 2) {
                        LockSupport.park();
                    }
                });
                assertTrue(pinned.get());
            });
        }
    }

    /** Threads that stop the world at once take turns. */
    @Test
    void oneAtATime() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Scheduler s = gmp.scheduler();
            int[] count = new int[1];
            new Threads().add(3, "stopper", () -> {
                for (int i = 0; i < ROUNDS; i++) {
                    StopTheWorld.withWorldStopped(s, () -> count[0]++);
                }
            }).run();
            assertEquals(3 * ROUNDS, count[0]);
        }
    }
}
