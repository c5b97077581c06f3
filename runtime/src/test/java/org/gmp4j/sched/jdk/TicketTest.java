// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** The ticket of {@link GStack}: the JDK's wake-ups that come late, doubled, or in the middle of something else. */
class TicketTest {
    private static final int WAITS = 20_000;
    private static final int SUSPENDED = 1 << 8; // VirtualThread.SUSPENDED
    private static final long HELD_NANOS = 20_000_000;

    private static Field field(String name) {
        try {
            Field f = Class.forName("java.lang.VirtualThread").getDeclaredField(name);
            f.setAccessible(true);
            return f;
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** What the JDK calls when it has made the stack's thread runnable. */
    private static void execute(GStack st) {
        try {
            st.execute((Runnable) field("runContinuation").get(st.thread));
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** A call that comes after its wait has ended, while the thread waits anew in the JDK, or is on a queue. */
    @Test
    void aStaleCallDoesNothing() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                GStack[] st = new GStack[1];
                AtomicInteger phase = new AtomicInteger();
                Go.go(() -> {
                    st[0] = GStack.current();
                    LockSupport.park();
                    phase.set(1);
                    Go.gosched();
                    phase.set(2);
                });
                while (st[0] == null || st[0].thread.getState() != Thread.State.WAITING) {
                    Go.gosched();
                }
                for (int i = 0; i < 10; i++) {
                    execute(st[0]);
                    Go.gosched();
                }
                assertEquals(0, phase.get(), "a stale call ended a park");
                LockSupport.unpark(st[0].thread);
                while (phase.get() == 0) {
                    Go.gosched();
                }
                execute(st[0]); // It is on a run queue, or ended.
                while (phase.get() == 1) {
                    Go.gosched();
                }
            });
        }
    }

    /** Of many calls for one wake-up one readies the goroutine. */
    @Stress
    void oneWakeUpOfMany() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            GStack[] st = new GStack[1];
            AtomicInteger waits = new AtomicInteger();
            gmp.go(() -> {
                st[0] = GStack.current();
                while (waits.incrementAndGet() < WAITS) {
                    LockSupport.park();
                }
            });
            while (waits.get() == 0) {
                Thread.onSpinWait();
            }
            new Threads().add(3, "waker", () -> {
                while (waits.get() < WAITS) {
                    LockSupport.unpark(st[0].thread);
                    execute(st[0]);
                    execute(st[0]);
                }
            }).run();
        }
    }

    /** One unpark for each park, at the moment when the goroutine is about to park: none is lost. */
    @Stress
    void unparkWhileParking() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Thread[] waiter = new Thread[1];
            AtomicInteger parks = new AtomicInteger();
            gmp.go(() -> {
                waiter[0] = Thread.currentThread();
                for (int i = 1; i <= WAITS; i++) {
                    parks.set(i);
                    LockSupport.park();
                }
            });
            new Threads().add("waker", () -> {
                for (int i = 1; i <= WAITS; i++) {
                    while (parks.get() < i) {
                        Thread.onSpinWait();
                    }
                    for (int pause = i % 64; pause > 0; pause--) {
                        Thread.onSpinWait();
                    }
                    LockSupport.unpark(waiter[0]);
                }
            }).run();
        }
    }

    /** A dump holds a stack that is not mounted; it must not run meanwhile. */
    @Test
    void aDumpHoldsTheStack() throws Exception {
        Field state = field("state");
        try (TestGmp gmp = TestGmp.with(b -> b.procs(2).quantum(Duration.ofMinutes(1)))) {
            Chan<Integer> c = Chan.make();
            Thread[] waiter = new Thread[1];
            AtomicBoolean ran = new AtomicBoolean();
            gmp.go(() -> {
                waiter[0] = Thread.currentThread();
                c.recv();
                ran.set(true);
            });
            Scheduler s = gmp.scheduler();
            while (org.gmp4j.struct.Schedt.NPIDLE.getVolatile(s.sched) < 2) {
                Thread.onSpinWait(); // Until it has parked.
            }
            int parked = state.getInt(waiter[0]);
            state.setInt(waiter[0], parked | SUSPENDED);
            c.send(1);
            long end = System.nanoTime() + HELD_NANOS;
            while (System.nanoTime() < end && !ran.get()) {
                Thread.onSpinWait();
            }
            assertFalse(ran.get(), "ran while its stack was held");
            state.setInt(waiter[0], parked);
            while (!ran.get()) {
                Thread.onSpinWait();
            }
        }
    }
}
