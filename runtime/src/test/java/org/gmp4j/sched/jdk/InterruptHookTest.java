// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Which wait is told of an interrupt. */
class InterruptHookTest {
    private final AtomicInteger told = new AtomicInteger();

    private static void interrupt(Thread t) {
        Thread other = Thread.ofPlatform().start(t::interrupt); // One that interrupts itself knows.
        while (other.isAlive()) {
            Thread.onSpinWait();
        }
    }

    /** The JDK's call comes when the thread has dealt with its interrupt, and waits again. */
    @Test
    void oneThatIsToldLateEndsNothing() {
        InterruptHook h = InterruptHook.mine();
        h.on(told::incrementAndGet);
        assertSame(h, h.wakeup());
        assertEquals(0, told.get());
        interrupt(Thread.currentThread());
        try {
            assertEquals(1, told.get());
            h.off();
            assertSame(h, h.wakeup());
            assertEquals(1, told.get(), "after the wait");
        } finally {
            boolean _ = Thread.interrupted();
        }
        interrupt(Thread.currentThread());
        h.on(told::incrementAndGet);
        h.off();
        assertEquals(2, told.get(), "of one that was interrupted before");
        boolean _ = Thread.interrupted();
    }

    @Test
    void aStackHasOne() {
        assertNotSame(InterruptHook.mine(), InterruptHook.mine());
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> assertSame(InterruptHook.mine(), InterruptHook.mine()));
        }
    }
}
