// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Where goroutines are born. */
class NewprocTest {
    private static final int THREADS = 100;

    /** A thread that a goroutine starts is born on its P, as if by {@code go}; one from outside goes by the global queue. */
    @Test
    void startedInAGoroutine() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            long sched = gmp.scheduler().sched;
            long before = Schedt.NSPAWNEXTERN.getAcquire(sched);
            List<Thread> threads = gmp.call(() -> {
                List<Thread> started = new ArrayList<>();
                for (int i = 0; i < THREADS; i++) {
                    started.add(Thread.ofVirtual().start(() -> { }));
                }
                for (Thread t : started) {
                    t.join();
                }
                return started;
            });
            assertEquals(THREADS, threads.size());
            assertEquals(1, Schedt.NSPAWNEXTERN.getAcquire(sched) - before, "but for the caller of start");
            Thread t = gmp.gmp.threadFactory().newThread(() -> { });
            t.start();
            t.join();
            assertEquals(2, Schedt.NSPAWNEXTERN.getAcquire(sched) - before);
        }
    }
}
