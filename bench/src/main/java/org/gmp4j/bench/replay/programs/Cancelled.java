// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Select;
import org.gmp4j.bench.replay.Case;
import org.gmp4j.context.Context;
import org.gmp4j.context.ContextException;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;

/** Programs of waits that a context ends, and of waiters that must all be let in. */
final class Cancelled {
    private Cancelled() {
    }

    /** A context whose cancel is a lane. */
    private abstract static class WithContext extends Case {
        final Context ctx = Context.background().withCancel();
        private final AtomicInteger ended = new AtomicInteger();

        /** Runs a wait that the context may end. */
        final void until(Runnable wait) {
            try {
                wait.run();
            } catch (ContextException e) {
                ended.incrementAndGet();
            }
        }

        final void cancels() {
            lane("cancels", ctx::cancel);
        }

        final int ended() {
            return ended.get();
        }
    }

    /** Nothing but the context ends the wait. */
    static final class Alone extends WithContext {
        private final Semaphore sem = new Semaphore(1);

        @Override
        protected void begin() {
            sem.acquire(1);
            lane("waits", () -> until(() -> sem.acquire(ctx, 1)));
            cancels();
        }

        @Override
        protected void end() {
            check(ended() == 1, "a unit was given out that is not there");
        }
    }

    /** A unit is released as the context is cancelled: the waiter has it, or it stays. */
    static final class Taken extends WithContext {
        private final Semaphore sem = new Semaphore(1);

        @Override
        protected void begin() {
            sem.acquire(1);
            lane("waits", () -> until(() -> {
                sem.acquire(ctx, 1);
                sem.release(1);
            }));
            lane("releases", () -> sem.release(1));
            cancels();
        }

        @Override
        protected void end() {
            check(sem.tryAcquire(1), "a unit is lost");
        }
    }

    /** A large request is given up, and the small one behind it has room. */
    static final class Large extends WithContext {
        private final Semaphore sem = new Semaphore(2);

        @Override
        protected void begin() {
            sem.acquire(1);
            lane("large", () -> until(() -> sem.acquire(ctx, 2)));
            lane("small", () -> sem.acquire(1));
            cancels();
        }

        @Override
        protected void end() {
            check(ended() == 1, "more units are out than there are");
        }
    }

    /** A request for more than there is holds up none of those behind it. */
    static final class TooLarge extends Case {
        private final Semaphore sem = new Semaphore(2);

        @Override
        protected void begin() {
            lane("never", () -> sem.acquire(3));
            lane("small", () -> {
                sem.acquire(2);
                sem.release(2);
            });
        }

        @Override
        protected boolean mayRest(String lane) {
            return lane.equals("never");
        }

        @Override
        protected void end() {
            check(sem.tryAcquire(2), "units are lost");
        }
    }

    /** Waiters for whom there is room are let in together: they meet. */
    static final class Together extends Case {
        private final Semaphore sem = new Semaphore(2);
        private final RWMutex rw = new RWMutex();
        private final AtomicInteger in = new AtomicInteger();

        private void meet(int n) {
            in.incrementAndGet();
            while (in.get() < n) {
                Thread.onSpinWait();
            }
        }

        @Override
        protected void begin() {
            sem.acquire(2);
            rw.lock();
            for (int i = 0; i < 2; i++) {
                lane("T" + i, () -> {
                    sem.acquire(1);
                    meet(2);
                    rw.rLock();
                    meet(4);
                    rw.rUnlock();
                });
            }
            lane("opens", () -> {
                sem.release(2);
                rw.unlock();
            });
        }

        @Override
        protected void end() {
            check(in.get() == 4, "a waiter was left");
        }
    }

    /** Readers that may give up beside a writer that goes, and another that gives up. */
    static final class Readers extends WithContext {
        private final RWMutex rw = new RWMutex();
        private final AtomicInteger in = new AtomicInteger();

        @Override
        protected void begin() {
            lane("reads", () -> {
                rw.rLock();
                in.incrementAndGet();
                rw.rUnlock();
            });
            lane("gives up", () -> until(() -> {
                rw.rLockUnless(ctx);
                rw.rUnlock();
            }));
            lane("writes", () -> until(() -> {
                rw.lockUnless(ctx);
                rw.unlock();
            }));
            lane("more", () -> {
                rw.lock();
                rw.unlock();
                rw.rLock();
                in.incrementAndGet();
                rw.rUnlock();
            });
            cancels();
        }

        @Override
        protected void end() {
            check(in.get() == 2 && rw.tryLock(), "the lock is left locked");
        }
    }

    /** Waiters of a condition, one of which gives up, and a call for each of the others. */
    static final class Conditions extends WithContext {
        private final Mutex m = new Mutex();
        private final Cond cond = new Cond(m);
        private int things;
        private int taken;

        private void take() {
            if (things > 0) {
                things--;
                taken++;
            }
        }

        @Override
        protected void begin() {
            lane("gives up", () -> {
                m.lock();
                try {
                    until(() -> {
                        while (things == 0) {
                            cond.awaitUnless(ctx);
                        }
                    });
                    take();
                } finally {
                    m.unlock();
                }
            });
            lane("takes", () -> {
                m.lock();
                while (things == 0) {
                    cond.await();
                }
                take();
                m.unlock();
            });
            lane("puts", () -> {
                for (int i = 0; i < 2; i++) {
                    m.lock();
                    things++;
                    m.unlock();
                    cond.signal();
                }
            });
            cancels();
        }

        @Override
        protected void end() {
            check(taken + things == 2 && taken >= 1, "taken " + taken + ", left " + things);
        }
    }

    /** A select that a context ends beside a sender: the element is received, or stays with its sender. */
    static final class Selects extends WithContext {
        private final Chan<Integer> c = Chan.make(0);
        private final Chan<Integer> d = Chan.make(0);
        private int got;
        private int sent;

        @Override
        protected void begin() {
            lane("select", () -> until(() -> {
                int _ = Select.of().recv(c, v -> got += v).recv(d, v -> got += v).runUnless(ctx);
            }));
            lane("send", () -> until(() -> {
                c.sendUnless(ctx, 1);
                sent++;
            }));
            cancels();
        }

        @Override
        protected void end() {
            check(got == sent, "sent " + sent + ", received " + got);
        }
    }
}
