// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.bench.replay.Case;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;

/**
 * Programs of locks and groups with waits that give up after a time. A wait that gives up must leave nothing behind: what it would have
 * had goes to another. The times are longer than a mutex lets a waiter starve.
 */
final class Limited {
    private static final Duration LIMIT = Duration.ofMillis(2);

    private Limited() {
    }

    /** A case in which the thread of timers may be asleep at the end. */
    private abstract static class WithTimers extends Case {
        @Override
        protected boolean mayRest(String lane) {
            return lane.equals("timers");
        }
    }

    /** Threads in a mutex, one of which gives up. */
    static final class Mutexes extends WithTimers {
        private final Mutex m = new Mutex();
        private int inside;
        private int entered;

        private void inside() {
            check(inside++ == 0, "two threads are in the mutex");
            entered++;
            Thread.onSpinWait();
            inside--;
        }

        @Override
        protected void begin() {
            for (int i = 0; i < 3; i++) {
                boolean limited = i == 1;
                lane("T" + i, () -> {
                    for (int k = 0; k < 2; k++) {
                        if (!limited) {
                            m.lock();
                        } else if (!m.lockWithin(LIMIT)) {
                            continue;
                        }
                        inside();
                        m.unlock();
                    }
                });
            }
            lane("tries", () -> {
                if (m.tryLock()) {
                    inside();
                    m.unlock();
                }
            });
        }

        @Override
        protected void end() {
            check(entered >= 4 && m.tryLock(), "the mutex is left locked");
            m.unlock();
        }
    }

    /** Readers and writers, some of which give up. */
    static final class Readers extends WithTimers {
        private final RWMutex m = new RWMutex();
        private final AtomicInteger readers = new AtomicInteger();
        private int writers;

        @Override
        protected void begin() {
            for (int i = 0; i < 2; i++) {
                boolean limited = i == 1;
                lane("read" + i, () -> {
                    if (limited ? m.rLockWithin(LIMIT) : lockToRead()) {
                        readers.incrementAndGet();
                        check(writers == 0, "a reader is beside a writer");
                        readers.decrementAndGet();
                        m.rUnlock();
                    }
                });
                lane("write" + i, () -> {
                    if (limited ? m.lockWithin(LIMIT) : lockToWrite()) {
                        check(writers++ == 0 && readers.get() == 0, "a writer is not alone");
                        writers--;
                        m.unlock();
                    }
                });
            }
            lane("tries", () -> {
                if (m.tryLock()) {
                    check(writers++ == 0 && readers.get() == 0, "a writer is not alone");
                    writers--;
                    m.unlock();
                }
                if (m.tryRLock()) {
                    check(writers == 0, "a reader is beside a writer");
                    m.rUnlock();
                }
            });
        }

        private boolean lockToRead() {
            m.rLock();
            return true;
        }

        private boolean lockToWrite() {
            m.lock();
            return true;
        }

        @Override
        protected void end() {
            check(m.tryLock(), "the lock is left locked");
        }
    }

    /** A large request gives up, and small ones behind it go on. */
    static final class Units extends WithTimers {
        private final Semaphore sem = new Semaphore(3);
        private final AtomicInteger out = new AtomicInteger();

        private void use(int n) {
            check(out.addAndGet(n) <= 3, "more units are out than there are");
            out.addAndGet(-n);
            sem.release(n);
        }

        @Override
        protected void begin() {
            lane("large", () -> {
                if (sem.acquireWithin(3, LIMIT)) {
                    use(3);
                }
            });
            for (int i = 1; i <= 2; i++) {
                int n = i;
                lane("T" + n, () -> {
                    sem.acquire(n);
                    use(n);
                    if (sem.tryAcquire(n)) {
                        use(n);
                    }
                });
            }
        }

        @Override
        protected void end() {
            check(sem.tryAcquire(3), "units are lost");
        }
    }

    /** Waiters of a group, one of which gives up. */
    static final class Groups extends WithTimers {
        private final WaitGroup wg = new WaitGroup();
        private final AtomicInteger done = new AtomicInteger();

        @Override
        protected void begin() {
            wg.add(1);
            lane("done", () -> {
                done.incrementAndGet();
                wg.done();
            });
            lane("waits", () -> {
                wg.await();
                check(done.get() == 1, "a waiter went on before all were done");
                done.incrementAndGet();
            });
            lane("gives up", () -> {
                if (wg.awaitWithin(LIMIT)) {
                    check(done.get() >= 1, "a waiter went on before all were done");
                }
            });
        }

        @Override
        protected void end() {
            check(done.get() == 2, "a waiter was left");
        }
    }

    /** A waiter of a condition that gives up does not take the signal with it. */
    static final class Conditions extends WithTimers {
        private final Mutex m = new Mutex();
        private final Cond cond = new Cond(m);
        private int things;
        private int taken;

        @Override
        protected void begin() {
            lane("gives up", () -> {
                m.lock();
                if (things == 0) {
                    boolean _ = cond.awaitWithin(LIMIT);
                }
                if (things > 0) {
                    things--;
                    taken++;
                }
                m.unlock();
            });
            lane("takes", () -> {
                m.lock();
                while (things == 0) {
                    cond.await();
                }
                things--;
                taken++;
                m.unlock();
            });
            lane("puts", () -> {
                for (int i = 0; i < 2; i++) {
                    m.lock();
                    things++;
                    cond.signal();
                    m.unlock();
                }
            });
        }

        @Override
        protected void end() {
            check(taken + things == 2 && taken >= 1, "taken " + taken + ", left " + things);
        }
    }
}
