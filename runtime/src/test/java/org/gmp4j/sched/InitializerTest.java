// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Go;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** A class that another thread initialises: JDK 25 pins a goroutine that comes to it, later versions unmount it. */
class InitializerTest {
    private static final long A_WHILE = 20_000_000;
    private static final CountDownLatch BEGUN = new CountDownLatch(1);
    private static final CountDownLatch MET = new CountDownLatch(1);

    /** Its initialiser ends some time after a goroutine has come to it. */
    static final class Slow {
        static final int VALUE;

        static {
            BEGUN.countDown();
            try {
                MET.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            LockSupport.parkNanos(A_WHILE); // Until it waits, most likely.
            VALUE = 42;
        }

        private Slow() {
        }
    }

    /** Inside the runtime a goroutine keeps its M and P, and no other runs on the P. */
    @Test
    void insideTheRuntime() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Thread initializer = new Thread(() -> assertEquals(42, Slow.VALUE));
            initializer.start();
            BEGUN.await();
            AtomicBoolean done = new AtomicBoolean();
            AtomicInteger turns = new AtomicInteger();
            gmp.go(() -> {
                while (!done.get()) {
                    turns.incrementAndGet();
                    Go.gosched();
                }
            });
            gmp.run(() -> {
                GStack st = GStack.enterChecked();
                Machine m = st.machine();
                long pp = m.pp();
                int before = turns.get();
                MET.countDown();
                int value = Slow.VALUE;
                int meanwhile = turns.get() - before;
                Machine after = st.machine();
                long ppAfter = after.pp();
                GStack.exit(st);
                done.set(true);
                assertEquals(42, value);
                assertEquals(0, meanwhile, "another ran");
                assertSame(m, after);
                assertEquals(pp, ppAfter);
            });
            initializer.join();
            gmp.check();
        }
    }
}
