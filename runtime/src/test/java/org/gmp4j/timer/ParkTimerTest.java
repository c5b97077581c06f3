// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Gmp;
import org.gmp4j.queue.Idle;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.stack.Timeout;
import org.gmp4j.struct.P;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** Waits of the JDK's that have a limit of time, on our timers. */
class ParkTimerTest {
    private static final long AN_HOUR = 3_600_000;
    private static final int HANDOFFS = 20_000;
    /** The bit of a virtual thread's state by which a dump holds the thread. */
    private static final int SUSPENDED = 1 << 8;
    private static final int HELD_MILLIS = 50;
    /** More than a heap has room for at first. */
    private static final int ENTRIES = 200;

    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            try (Gmp gmp = Gmp.builder().procs(1).build()) {
                gmp.run(() -> {
                    LockSupport.parkNanos(1);
                    Object o = new Object();
                    try {
                        Thread.sleep(1);
                        synchronized (o) {
                            o.wait(1);
                        }
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
            }
            boolean theirs = Thread.getAllStackTraces().keySet().stream().anyMatch(t -> t.getName().equals("VirtualThread-unparker"));
            System.out.println(theirs);
        }
    }

    /** Which waits end; and which thread has timed them. */
    @Test
    void noThreadOfTheJdkTimesThem() {
        Result r = new ChildJvm(Program.class).run();
        assertEquals("false\n", r.out(), r::toString);
        Result asTheJdkDoes = new ChildJvm(Program.class).with("-Dgmp.mount=jdk").run();
        assertEquals("true\n", asTheJdkDoes.out(), asTheJdkDoes::toString);
    }

    /** The timer of a wait that something else has ended is stopped before the goroutine goes on. */
    @Test
    void stoppedWhenTheWaitIsOver() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            AtomicReference<Thread> waits = new AtomicReference<>();
            Threads others = new Threads().add("unparks", () -> {
                Thread t;
                while ((t = waits.get()) == null || t.getState() != Thread.State.TIMED_WAITING) {
                    Thread.sleep(1);
                }
                LockSupport.unpark(t);
            }).start();
            boolean pending = gmp.call(() -> {
                waits.set(Thread.currentThread());
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(AN_HOUR));
                GStack st = GStack.enter();
                try {
                    return st.scheduler().timers().pending(Machine.current().pp());
                } finally {
                    GStack.exit(st);
                }
            });
            assertFalse(pending);
            join(others);
        }
    }

    private static void join(Threads t) {
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** A limit that passed late, for a wait that was over, ends no later {@code Object.wait}. */
    @Test
    void aLateLimit() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            AtomicReference<GStack> waits = new AtomicReference<>();
            AtomicBoolean ends = new AtomicBoolean();
            Object o = new Object();
            CountDownLatch done = new CountDownLatch(1);
            gmp.go(() -> {
                synchronized (o) {
                    try {
                        o.wait(1);
                        waits.set(GStack.current());
                        o.wait(AN_HOUR);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    assertTrue(ends.get());
                }
                done.countDown();
            });
            while (waits.get() == null || waits.get().thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
            waits.get().timedOut(1); // The first wait of the thread.
            assertEquals(Thread.State.TIMED_WAITING, waits.get().thread.getState());
            waits.get().timedOut(Timeout.PARK); // It does not park: this leaves a permit.
            synchronized (o) {
                ends.set(true);
                o.notifyAll();
            }
            done.await();
        }
    }

    /** A limit that passes while a dump holds the stack ends the wait as soon as the hold ends. */
    @Test
    void aLimitWaitsForADump() throws Exception {
        Field state = Class.forName("java.lang.VirtualThread").getDeclaredField("state");
        state.setAccessible(true);
        try (TestGmp gmp = TestGmp.procs(1)) {
            AtomicReference<GStack> waits = new AtomicReference<>();
            CountDownLatch done = new CountDownLatch(1);
            Object o = new Object();
            gmp.go(() -> {
                waits.set(GStack.current());
                synchronized (o) {
                    try {
                        o.wait(AN_HOUR);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
                done.countDown();
            });
            while (waits.get() == null || waits.get().thread.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
            GStack st = waits.get();
            int waiting = state.getInt(st.thread);
            state.setInt(st.thread, waiting | SUSPENDED);
            Threads limit = new Threads().add("limit", () -> st.timedOut(1)).start(); // The first wait of the thread.
            Thread.sleep(HELD_MILLIS);
            state.setInt(st.thread, waiting);
            limit.join();
            done.await();
        }
    }

    /** Permits come while a goroutine is about to park, from other Ms, and no limit would end a wait whose permit was lost. */
    @Test
    void permitsWhileParking() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            SynchronousQueue<Integer> q = new SynchronousQueue<>();
            CountDownLatch done = new CountDownLatch(2);
            gmp.go(() -> {
                for (int i = 0; i < HANDOFFS; i++) {
                    offer(q, i);
                }
                done.countDown();
            });
            gmp.go(() -> {
                for (int i = 0; i < HANDOFFS; i++) {
                    assertEquals(i, poll(q));
                }
                done.countDown();
            });
            done.await();
        }
    }

    private static void offer(SynchronousQueue<Integer> q, int i) {
        try {
            assertTrue(q.offer(i, AN_HOUR, TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Integer poll(SynchronousQueue<Integer> q) {
        try {
            return q.poll(AN_HOUR, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Timers that sysmon sets leave room for one in the first P's heap: a goroutine may have looked whether there is room, and sleeps next.
     */
    @Test
    void roomIsLeft() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            GStack st = gmp.call(GStack::mine);
            long pp = Idle.allp(st.scheduler().sched, 0);
            List<ParkTimer> all = new ArrayList<>();
            do {
                ParkTimer t = new ParkTimer(st);
                t.begin(TimeUnit.MILLISECONDS.toNanos(AN_HOUR), Timeout.PARK); // On no M.
                all.add(t);
                assertTrue(P.TIMERSLEN.getOpaque(pp) < P.TIMERSCAP.get(pp));
            } while (all.size() < ENTRIES);
            all.forEach(t -> t.cancel(false));
        }
    }

    /** An alarm that fires the timer, although it is not the newest, leaves no other to be checked. */
    @Test
    void oneAlarmFires() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            GStack st = gmp.call(GStack::mine);
            List<Alarm> alarms = new ArrayList<>();
            ParkTimer t = new ParkTimer(st) {
                @Override
                void add(Alarm a) {
                    alarms.add(a);
                    a.enter(new TimerHeap(0));
                }
            };
            t.begin(TimeUnit.MILLISECONDS.toNanos(AN_HOUR), Timeout.PARK);
            t.begin(0, Timeout.PARK); // Earlier, so the timer needs another alarm.
            t.ring(alarms.getFirst(), System.nanoTime());
            assertEquals(2, alarms.size());
            assertFalse(alarms.getLast().live());
        }
    }

    /** The same for notifies. */
    @Test
    void notifiesWhileBeginningToWait() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            CountDownLatch done = new CountDownLatch(2);
            int[] turn = new int[1];
            for (int i = 0; i < 2; i++) {
                int mine = i;
                gmp.go(() -> {
                    for (int k = 0; k < HANDOFFS; k++) {
                        pass(turn, mine);
                    }
                    done.countDown();
                });
            }
            done.await();
        }
    }

    private static void pass(int[] turn, int mine) {
        synchronized (turn) {
            while (turn[0] != mine) {
                try {
                    turn.wait(AN_HOUR);
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            turn[0] = 1 - mine;
            turn.notify();
        }
    }

    /** Limits, notifies, permits, interrupts and looks at stacks race for goroutines that wait in turns in both ways. */
    @Test
    void everythingAtOnce() throws InterruptedException {
        int n = 100;
        int rounds = 100;
        try (TestGmp gmp = TestGmp.procs(2)) {
            CountDownLatch done = new CountDownLatch(n);
            Thread[] all = new Thread[n];
            Object o = new Object();
            for (int i = 0; i < n; i++) {
                all[i] = gmp.gmp.threadFactory().newThread(() -> {
                    ThreadLocalRandom r = ThreadLocalRandom.current();
                    for (int k = 0; k < rounds; k++) {
                        LockSupport.parkNanos(1 + r.nextInt(200_000));
                        boolean _ = Thread.interrupted();
                        synchronized (o) {
                            try {
                                o.wait(1 + r.nextInt(2));
                            } catch (InterruptedException e) {
                                continue;
                            }
                        }
                    }
                    done.countDown();
                });
                all[i].start();
            }
            while (done.getCount() > 0) {
                ThreadLocalRandom r = ThreadLocalRandom.current();
                all[r.nextInt(n)].interrupt();
                LockSupport.unpark(all[r.nextInt(n)]);
                int _ = all[r.nextInt(n)].getStackTrace().length;
                synchronized (o) {
                    o.notify();
                }
            }
            for (Thread t : all) {
                t.join();
            }
        }
    }
}
