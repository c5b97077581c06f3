// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ring")
class RWMutexTest {
    private static final int WRITER = 10_000;
    private int plain;

    /** Go: {@code TestRWMutex}: readers together, a writer alone. */
    @Stress
    void rwMutex() {
        for (int procs : new int[] {1, 2, 8}) {
            RWMutex m = new RWMutex();
            AtomicInteger activity = new AtomicInteger();
            AtomicInteger writes = new AtomicInteger();
            plain = 0;
            try (TestGmp gmp = TestGmp.procs(procs)) {
                Crew.run(gmp, 8, 2, 4, id -> {
                    for (int i = 0; i < 2_000; i++) {
                        if ((id + i) % 5 == 0) {
                            write(m, activity, writes, i % 7 == 0);
                        } else {
                            read(m, activity, i % 7 == 0);
                        }
                    }
                });
            }
            assertEquals(writes.get(), plain);
            assertTrue(m.tryLock(), "left locked");
        }
    }

    private void write(RWMutex m, AtomicInteger activity, AtomicInteger writes, boolean attempt) {
        if (attempt) {
            if (!m.tryLock()) {
                return;
            }
        } else {
            m.lock();
        }
        assertEquals(WRITER, activity.addAndGet(WRITER), "not alone");
        plain++;
        writes.incrementAndGet();
        activity.addAndGet(-WRITER);
        m.unlock();
    }

    private void read(RWMutex m, AtomicInteger activity, boolean attempt) {
        if (attempt) {
            if (!m.tryRLock()) {
                return;
            }
        } else {
            m.rLock();
        }
        assertTrue(activity.incrementAndGet() < WRITER, "a reader beside a writer");
        int seen = plain;
        if (seen % 8 == 0) {
            Thread.yield();
        }
        assertEquals(seen, plain);
        activity.decrementAndGet();
        m.rUnlock();
    }

    /** Go: {@code TestParallelReaders}: readers inside wait for each other, so they have to be inside together. */
    @Test
    void readersTogether() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            RWMutex m = new RWMutex();
            gmp.run(() -> {
                AtomicInteger inside = new AtomicInteger();
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < 4; i++) {
                    wg.go(() -> {
                        m.rLock();
                        inside.incrementAndGet();
                        while (inside.get() < 4) {
                            Go.gosched();
                        }
                        m.rUnlock();
                    });
                }
                wg.await();
            });
        }
    }

    /** A writer that waits holds new readers off, and gets in when the old ones are out; then those readers come. */
    @Test
    void writerIsNotStarved() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                RWMutex m = new RWMutex();
                Chan<String> order = Chan.make(8);
                WaitGroup wg = new WaitGroup();
                m.rLock();
                wg.go(() -> {
                    m.lock();
                    order.send("writer");
                    m.unlock();
                });
                TestGmp.awaitOthers();
                assertFalse(m.tryRLock(), "a writer waits");
                assertFalse(m.tryLock());
                for (int i = 0; i < 2; i++) {
                    wg.go(() -> {
                        m.rLock();
                        order.send("reader");
                        m.rUnlock();
                    });
                }
                wg.go(() -> {
                    m.lock();
                    order.send("second writer");
                    m.unlock();
                });
                TestGmp.awaitOthers();
                assertEquals(0, order.len());
                m.rUnlock();
                wg.await();
                assertEquals("writer", order.recv());
                assertEquals("reader", order.recv());
                assertEquals("reader", order.recv());
                assertEquals("second writer", order.recv());
            });
        }
    }

    @Test
    void tryLocks() {
        RWMutex m = new RWMutex();
        assertTrue(m.tryRLock());
        assertTrue(m.tryRLock());
        assertFalse(m.tryLock());
        m.rUnlock();
        m.rUnlock();
        assertTrue(m.tryLock());
        assertFalse(m.tryLock());
        assertFalse(m.tryRLock());
        m.unlock();
        m.rLock();
        m.rUnlock();
    }

    /** Embedded: exceptions, and the lock is as it was. */
    @Test
    void misuse() {
        RWMutex m = new RWMutex();
        String read = "sync: RUnlock of unlocked RWMutex";
        String write = "sync: Unlock of unlocked RWMutex";
        assertEquals(read, assertThrows(IllegalStateException.class, m::rUnlock).getMessage());
        assertEquals(write, assertThrows(IllegalStateException.class, m::unlock).getMessage());
        m.lock();
        assertEquals(read, assertThrows(IllegalStateException.class, m::rUnlock).getMessage());
        m.unlock();
        m.rLock();
        assertEquals(write, assertThrows(IllegalStateException.class, m::unlock).getMessage());
        assertTrue(m.tryRLock());
        m.rUnlock();
        m.rUnlock();
        assertTrue(m.tryLock());
    }

    /** A refused unlock is invisible: goroutines that use the lock correctly go on beside it, and exclude each other. */
    @Stress
    void mistakesBesideOthers() {
        RWMutex m = new RWMutex();
        AtomicInteger activity = new AtomicInteger();
        AtomicInteger mistakes = new AtomicInteger();
        AtomicInteger users = new AtomicInteger(3);
        try (TestGmp gmp = TestGmp.procs(2)) {
            Crew.run(gmp, 3, 4, 0, id -> {
                if (id >= 3) {
                    while (users.get() != 0) { // There is no reader, so each of these is a mistake, with or without a writer.
                        assertThrows(IllegalStateException.class, m::rUnlock);
                        mistakes.incrementAndGet();
                    }
                    return;
                }
                for (int i = 0; i < 5_000 || mistakes.get() == 0; i++) {
                    m.lock();
                    assertEquals(1, activity.incrementAndGet());
                    activity.decrementAndGet();
                    m.unlock();
                }
                users.decrementAndGet();
            });
        }
        assertTrue(m.tryLock(), "left locked");
    }

    /** The same to write, while all others read. */
    @Stress
    void mistakenUnlocksBesideReaders() {
        RWMutex m = new RWMutex();
        AtomicInteger users = new AtomicInteger(3);
        try (TestGmp gmp = TestGmp.procs(2)) {
            Crew.run(gmp, 3, 4, 0, id -> {
                if (id >= 3) {
                    while (users.get() != 0) {
                        assertThrows(IllegalStateException.class, m::unlock);
                    }
                    return;
                }
                for (int i = 0; i < 5_000; i++) {
                    m.rLock();
                    m.rUnlock();
                }
                users.decrementAndGet();
            });
        }
        assertTrue(m.tryLock(), "left locked");
    }

    /** With readers waiting behind a writer, and with a writer waiting behind readers, a mistake lets no goroutine in. */
    @Test
    void mistakesWhileOthersWait() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                RWMutex m = new RWMutex();
                WaitGroup wg = new WaitGroup();
                m.lock();
                for (int i = 0; i < 3; i++) {
                    wg.go(() -> {
                        m.rLock();
                        m.rUnlock();
                    });
                }
                TestGmp.awaitOthers();
                assertThrows(IllegalStateException.class, m::rUnlock);
                m.unlock();
                wg.await();
                m.rLock();
                wg.go(() -> {
                    m.lock();
                    m.unlock();
                });
                TestGmp.awaitOthers();
                assertThrows(IllegalStateException.class, m::unlock);
                m.rUnlock();
                wg.await();
                assertTrue(m.tryLock());
            });
        }
    }
}
