// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When a descriptor may be used, and which user closes it. */
class FdMutexTest {
    @Test
    void theLastClosesIt() {
        FdMutex m = new FdMutex();
        assertTrue(m.incref());
        assertEquals(0, m.lock(false, OpLimits.PLAIN));
        assertEquals(0, m.lock(true, OpLimits.PLAIN)); // A reader and a writer at once.
        assertFalse(m.decref());
        assertTrue(m.increfAndClose());
        assertFalse(m.increfAndClose());
        assertFalse(m.incref());
        assertEquals(IoResult.CLOSED, m.lock(false, OpLimits.PLAIN));
        assertFalse(m.decref());
        assertFalse(m.unlock(false));
        assertTrue(m.unlock(true));
    }

    /** One reader at a time, none lost, the close at some time among them: exactly one is the last. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void turns(int procs) throws Exception {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            for (int i = 0; i < 100; i++) {
                FdMutex m = new FdMutex();
                AtomicInteger inside = new AtomicInteger();
                AtomicInteger last = new AtomicInteger();
                AtomicBoolean gone = new AtomicBoolean();
                Threads.Body reader = () -> {
                    while (m.lock(false, OpLimits.PLAIN) == 0) {
                        assertFalse(gone.get());
                        assertEquals(1, inside.incrementAndGet());
                        Thread.yield();
                        inside.decrementAndGet();
                        if (m.unlock(false)) {
                            gone.set(true);
                            last.incrementAndGet();
                        }
                    }
                };
                Threads outside = new Threads().add(1, "reader", reader).start();
                gmp.run(() -> {
                    WaitGroup all = new WaitGroup();
                    for (int k = 0; k < 4; k++) {
                        all.go(() -> {
                            try {
                                reader.run();
                            } catch (Throwable t) {
                                throw new AssertionError(t);
                            }
                        });
                    }
                    for (int k = 0; k < 20; k++) {
                        Go.gosched();
                    }
                    assertTrue(m.increfAndClose());
                    if (m.decref()) {
                        gone.set(true);
                        last.incrementAndGet();
                    }
                    all.await();
                });
                outside.join();
                assertEquals(1, last.get());
            }
        }
    }

    /** While some of those that wait for a turn are interrupted, the turns go round, and no unit goes to one that has left. */
    @Stress
    void turnsAndInterrupts() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            FdMutex m = new FdMutex();
            AtomicInteger inside = new AtomicInteger();
            AtomicInteger ended = new AtomicInteger();
            List<Thread> all = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                boolean write = i == 3; // Alone in its direction.
                all.add(gmp.gmp.threadFactory().newThread(() -> {
                    for (int n = 0; n < 2_000 || ended.get() == 0;) { // Who interrupts may have had no CPU until then.
                        if (m.lock(write, OpLimits.PLAIN) == IoResult.INTERRUPTED) {
                            assertTrue(Thread.interrupted());
                            ended.incrementAndGet();
                            continue;
                        }
                        assertTrue(write || inside.incrementAndGet() == 1);
                        Thread.yield();
                        inside.addAndGet(write ? 0 : -1);
                        assertFalse(m.unlock(write));
                        n++;
                    }
                }));
            }
            all.forEach(Thread::start);
            for (int i = 0; all.stream().anyMatch(Thread::isAlive); i++) {
                all.get(i % all.size()).interrupt();
            }
            assertFalse(m.readers.take() || m.writers.take(), "a unit is left");
        }
    }

    /** One counted out by an unlock, whose unit another takes before it, does not wait for the end of the next turn. */
    @Test
    void leavesWhileTheTurnIsTaken() throws InterruptedException {
        FdMutex m = new FdMutex();
        assertEquals(0, m.lock(true, OpLimits.PLAIN));
        Threads leaver = new Threads().add("leaver", () -> m.leave(true, null)).start();
        Thread.sleep(5); // Else it might find the next one at its first look.
        Threads next = new Threads().add("next", () -> {
            assertEquals(0, m.lock(true, OpLimits.PLAIN));
            assertFalse(m.unlock(true));
        }).start();
        leaver.join(); // As the next one is counted; with the turn still ours.
        m.writers.release(false); // The unit of the leaver, for the next one.
        assertFalse(m.unlock(true));
        next.join();
        assertFalse(m.writers.take(), "a unit is left");
    }
}
