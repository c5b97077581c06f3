// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The end of a thread for which another waits. */
class JoinTest {
    /** JDK 27 wakes joiners under the thread's monitor. One P is enough also when an unmounted goroutine holds that. */
    @Test
    void whileAnotherHoldsTheMonitor() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            AtomicBoolean joined = new AtomicBoolean();
            gmp.run(() -> {
                CountDownLatch held = new CountDownLatch(1);
                Thread ends = Thread.startVirtualThread(() -> await(held));
                Thread joins = Thread.startVirtualThread(() -> joined.set(join(ends)));
                while (joins.getState() != Thread.State.WAITING) {
                    Thread.yield();
                }
                Thread holds = Thread.startVirtualThread(() -> {
                    synchronized (ends) {
                        held.countDown();
                        sleep();
                    }
                });
                boolean _ = join(holds);
                boolean _ = join(joins);
            });
            assertTrue(joined.get());
            gmp.check();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean join(Thread t) {
        try {
            t.join();
            return true;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void sleep() {
        try {
            Thread.sleep(20);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
