// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.sched.base.Deferred;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.Schedt;
import org.gmp4j.sysmon.DeepSleeper;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Sysmon sleeps while nothing runs, and all that it is needed for wakes it. */
class IdleSysmonTest {
    private static final class Work extends Deferred {
        private final CountDownLatch done = new CountDownLatch(1);

        @Override
        protected void run() {
            done.countDown();
        }
    }

    private static void defer(DeepSleeper sleeper) throws InterruptedException {
        Work w = new Work();
        assertTrue(Deferred.add(w));
        w.done.await();
        assertTrue(sleeper.wasRung());
    }

    /** With two schedulers, and after the one that was rung has ended. */
    @Test
    void deferredWork() throws InterruptedException {
        try (TestGmp first = TestGmp.procs(1)) {
            try (TestGmp second = TestGmp.procs(1)) {
                defer(DeepSleeper.of(second.scheduler()));
            }
            defer(DeepSleeper.of(first.scheduler()));
        }
        try (TestGmp first = TestGmp.procs(1); TestGmp second = TestGmp.procs(1)) {
            first.gmp.close();
            defer(DeepSleeper.of(second.scheduler()));
        }
    }

    /** Of a goroutine that has parked already, so that the JDK has nothing left to do. */
    @Test
    void aLeftover() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            AtomicReference<GStack> parked = new AtomicReference<>();
            AtomicBoolean ends = new AtomicBoolean();
            gmp.go(() -> {
                parked.set(GStack.current());
                while (!ends.get()) {
                    LockSupport.park();
                }
            });
            Scheduler s = gmp.scheduler();
            while (parked.get() == null) {
                Thread.sleep(1);
            }
            DeepSleeper sleeper = DeepSleeper.of(s);
            s.leftovers.add(s.sched, parked.get());
            while (s.leftovers.any()) {
                Thread.sleep(1);
            }
            assertTrue(sleeper.wasRung());
            DeepSleeper.of(s); // It has finished with the stack.
            ends.set(true);
            LockSupport.unpark(parked.get().thread);
        }
    }

    /** It watches what runs. */
    @Test
    void aGoroutineThatRuns() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Scheduler s = gmp.scheduler();
            DeepSleeper sleeper = DeepSleeper.of(s);
            AtomicBoolean ends = new AtomicBoolean();
            gmp.go(() -> {
                while (!ends.get()) {
                    Thread.onSpinWait();
                }
            });
            while (Schedt.SYSMONWAIT.getAcquire(s.sched) != 0) { // Not asleep, nor resting.
                Thread.sleep(1);
            }
            ends.set(true);
            assertTrue(sleeper.wasRung());
        }
    }

    /** The Ps may be at work when the world starts again. */
    @Test
    void theWorldStartsAgain() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Scheduler s = gmp.scheduler();
            DeepSleeper[] sleeper = new DeepSleeper[1];
            StopTheWorld.withWorldStopped(s, () -> sleeper[0] = sleepingWithTheWorld(s));
            DeepSleeper.of(s); // Another sleep, with the world at work: the first has ended.
            assertTrue(sleeper[0].wasRung());
            assertEquals(1, StopTheWorld.setProcs(s, 2));
            DeepSleeper.of(s);
            assertTrue(sleeper[0].wasRung());
        }
    }

    private static DeepSleeper sleepingWithTheWorld(Scheduler s) {
        try {
            return DeepSleeper.of(s);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void close() throws InterruptedException {
        DeepSleeper sleeper;
        try (TestGmp gmp = TestGmp.procs(1)) {
            sleeper = DeepSleeper.of(gmp.scheduler());
        }
        assertTrue(sleeper.wasRung());
    }
}
