// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

import org.gmp4j.bench.replay.Program;
import org.gmp4j.context.Context;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;

/**
 * Programs of waits that end early: by a limit of time, a context or an interrupt. A wait that gives up leaves nothing behind: what it
 * would have had goes to another. The limits are longer than a mutex lets a waiter starve.
 */
final class Limits {
    private static final String GROUP = "limit";
    private static final Duration LIMIT = Duration.ofMillis(2);
    private static final String LEFT = "the lock is left locked";

    private Limits() {
    }

    private static Program of(String name, String what, int timeouts, Consumer<Plain> body) {
        return Program.of(name, GROUP, what, () -> new Plain(body)).waking(timeouts, 0);
    }

    private static Program of(String name, String what, Consumer<Plain> body) {
        return of(name, what, 0, body);
    }

    static List<Program> all() {
        return List.of(
                of("mutex-limited", "a Mutex whose waiters starve, or give up", 3, Limits::mutex),
                of("readers-limited", "readers and writers that give up", 3, Limits::readers),
                of("semaphore-limited", "a large request gives up", 2, Limits::units),
                of("group-limited", "a waiter of a group gives up", 2, Limits::group),
                of("cond-limited", "a waiter of a condition gives up", 2, Limits::cond),
                of("cancel-alone", "nothing but a context ends a wait", Limits::alone).covered(),
                of("cancel-taken", "a unit is released as its waiter's context is cancelled", Limits::taken),
                of("cancel-late", "a context is cancelled when its wait is over, and another wait has the same sudog", Limits::late),
                of("cancel-large", "a large request is given up in front of a small one", Limits::large),
                of("too-large", "a request for more than there is holds nobody up", Limits::tooLarge),
                of("too-large-limited", "the same, of a wait that a context may end", Limits::tooLargeLimited),
                of("cancel-readers", "readers and writers that give up", Limits::cancelReaders),
                of("reader-told", "a reader that may give up is told that a writer has gone", Limits::readerTold),
                of("writer-withdraws", "readers behind a writer that gives up go in beside those inside", Limits::writerWithdraws),
                of("cancel-cond", "a waiter of a condition gives up", Limits::cancelCond),
                of("interrupt", "an interrupt ends a wait, or the next one", Limits::interrupt),
                of("interrupt-taken", "a unit is released as its waiter is interrupted", Limits::interruptTaken),
                of("interrupt-once", "an interrupt that was dealt with ends no later wait", Limits::interruptOnce));
    }

    private static void mutex(Plain t) {
        Mutex m = new Mutex();
        Cell inside = new Cell();
        Runnable alone = () -> {
            inside.add(1);
            check(inside.get() == 1, "two threads are in the mutex");
            t.done();
            Thread.onSpinWait();
            inside.add(-1);
            m.unlock();
        };
        t.lanes(3, "T", i -> {
            for (int k = 0; k < 2; k++) {
                boolean limited = i == 1;
                if (!limited) {
                    m.lock();
                }
                if (!limited || m.lockWithin(LIMIT)) {
                    alone.run();
                }
            }
        });
        t.lane("tries", () -> {
            if (m.tryLock()) {
                alone.run();
            }
        });
        t.end(() -> check(t.doneCount() >= 4 && m.tryLock(), LEFT));
    }

    /** What readers and writers do while they are inside. */
    private static final class Shared {
        final RWMutex m = new RWMutex();
        private final AtomicInteger readers = new AtomicInteger();
        private final AtomicInteger writers = new AtomicInteger();

        void read(BooleanSupplier lock) {
            if (lock.getAsBoolean()) {
                readers.incrementAndGet();
                check(writers.get() == 0, "a reader is beside a writer");
                readers.decrementAndGet();
                m.rUnlock();
            }
        }

        void write(BooleanSupplier lock) {
            if (lock.getAsBoolean()) {
                check(writers.incrementAndGet() == 1 && readers.get() == 0, "a writer is not alone");
                writers.decrementAndGet();
                m.unlock();
            }
        }

        void read() {
            read(() -> {
                m.rLock();
                return true;
            });
        }

        void write() {
            write(() -> {
                m.lock();
                return true;
            });
        }
    }

    private static void readers(Plain t) {
        Shared s = new Shared();
        t.lane("read", s::read);
        t.lane("write", s::write);
        t.lane("readWithin", () -> s.read(() -> s.m.rLockWithin(LIMIT)));
        t.lane("writeWithin", () -> s.write(() -> s.m.lockWithin(LIMIT)));
        t.lane("tries", () -> {
            s.write(s.m::tryLock);
            s.read(s.m::tryRLock);
        });
        t.end(() -> check(s.m.tryLock(), LEFT));
    }

    private static void units(Plain t) {
        Semaphore sem = new Semaphore(3);
        AtomicInteger out = new AtomicInteger();
        IntConsumer use = n -> {
            check(out.addAndGet(n) <= 3, "more units are out than there are");
            out.addAndGet(-n);
            sem.release(n);
        };
        t.lane("large", () -> {
            if (sem.acquireWithin(3, LIMIT)) {
                use.accept(3);
            }
        });
        t.lanes(2, "T", i -> {
            sem.acquire(i + 1);
            use.accept(i + 1);
            if (sem.tryAcquire(i + 1)) {
                use.accept(i + 1);
            }
        });
        t.end(() -> check(sem.tryAcquire(3), "units are lost"));
    }

    private static void group(Plain t) {
        WaitGroup wg = new WaitGroup();
        wg.add(1);
        t.lane("done", () -> {
            t.done();
            wg.done();
        });
        t.lane("waits", () -> {
            wg.await();
            check(t.doneCount() == 1, "a waiter went on before all were done");
            t.done();
        });
        t.lane("gives up", () -> check(!wg.awaitWithin(LIMIT) || t.doneCount() >= 1, "a waiter went on before all were done"));
        t.end(() -> check(t.doneCount() == 2, "a waiter was left"));
    }

    /** Two things are signalled, and each waiter takes one if there is one; the wait of one of them may end early. */
    private static void things(Plain t, Consumer<Cond> wait) {
        Mutex m = new Mutex();
        Cond cond = new Cond(m);
        Cell things = new Cell();
        Cell taken = new Cell();
        Runnable take = () -> {
            if (things.get() > 0) {
                things.add(-1);
                taken.add(1);
            }
            m.unlock();
        };
        t.lane("gives up", () -> {
            m.lock();
            if (things.get() == 0) {
                wait.accept(cond);
            }
            take.run();
        });
        t.lane("takes", () -> {
            m.lock();
            while (things.get() == 0) {
                cond.await();
            }
            take.run();
        });
        t.lane("puts", () -> {
            for (int i = 0; i < 2; i++) {
                m.lock();
                things.add(1);
                if (i == 0) {
                    cond.signal();
                    m.unlock();
                } else {
                    m.unlock();
                    cond.signal();
                }
            }
        });
        t.end(() -> check(taken.get() + things.get() == 2 && taken.get() >= 1, "taken " + taken.get() + ", left " + things.get()));
    }

    private static void cond(Plain t) {
        things(t, cond -> {
            boolean _ = cond.awaitWithin(LIMIT);
        });
    }

    private static void cancelCond(Plain t) {
        Context ctx = t.cancelled();
        things(t, cond -> {
            boolean _ = t.unlessCancelled(() -> cond.awaitUnless(ctx));
        });
    }

    private static void alone(Plain t) {
        Semaphore sem = new Semaphore(1);
        sem.acquire(1);
        Context ctx = t.cancelled();
        t.lane("waits", () -> t.unlessCancelled(() -> sem.acquire(ctx, 1)));
        t.end(() -> check(t.cancelledCount() == 1, "a unit was given out that is not there"));
    }

    private static void taken(Plain t) {
        Semaphore sem = new Semaphore(1);
        sem.acquire(1);
        Context ctx = t.cancelled();
        t.lane("waits", () -> {
            if (t.unlessCancelled(() -> sem.acquire(ctx, 1))) {
                sem.release(1);
            }
        });
        t.lane("releases", () -> sem.release(1));
        t.end(() -> check(sem.tryAcquire(1), "a unit is lost"));
    }

    /** One unit is released, so the lane that has it is alone. The others come, and the context is cancelled, as the first wakes up. */
    private static void late(Plain t) {
        Semaphore sem = new Semaphore(1);
        AtomicInteger inside = new AtomicInteger();
        Context ctx = Context.background().withCancel();
        sem.acquire(1);
        t.lane("first", () -> {
            if (t.unlessCancelled(() -> sem.acquire(ctx, 1))) {
                check(inside.incrementAndGet() == 1, "a unit was given out that is not there");
            }
        });
        t.lanes(2, "second", i -> {
            t.until(1);
            sem.acquire(1);
            check(inside.incrementAndGet() == 1, "a unit was given out that is not there");
        });
        t.lane("releases", () -> {
            while (!t.isAsleep("first")) {
                Thread.onSpinWait();
            }
            t.done();
            sem.release(1);
        });
        t.lane("cancels", () -> {
            t.until(1);
            ctx.cancel();
        });
        t.rests("second0", "second1");
        t.end(() -> check(inside.get() == 1, "a unit is lost"));
    }

    private static void large(Plain t) {
        Semaphore sem = new Semaphore(2);
        sem.acquire(1);
        Context ctx = t.cancelled();
        t.lane("large", () -> t.unlessCancelled(() -> sem.acquire(ctx, 2)));
        t.lane("small", () -> sem.acquire(1));
        t.end(() -> check(t.cancelledCount() == 1, "more units are out than there are"));
    }

    private static void tooLarge(Plain t) {
        Semaphore sem = new Semaphore(2);
        t.lane("never", () -> sem.acquire(3));
        t.lane("small", () -> {
            sem.acquire(2);
            sem.release(2);
        });
        t.rests("never");
        t.end(() -> check(sem.tryAcquire(2), "units are lost"));
    }

    private static void tooLargeLimited(Plain t) {
        Semaphore sem = new Semaphore(2);
        Context ctx = Context.background().withCancel();
        t.lane("never", () -> t.unlessCancelled(() -> sem.acquire(ctx, 3)));
        t.lane("small", () -> {
            sem.acquire(2);
            sem.release(2);
            ctx.cancel();
        });
        t.end(() -> check(t.cancelledCount() == 1 && sem.tryAcquire(2), "units are lost"));
    }

    private static void cancelReaders(Plain t) {
        Shared s = new Shared();
        Context ctx = t.cancelled();
        t.lane("reads", s::read);
        t.lane("readUnless", () -> s.read(() -> t.unlessCancelled(() -> s.m.rLockUnless(ctx))));
        t.lane("writeUnless", () -> s.write(() -> t.unlessCancelled(() -> s.m.lockUnless(ctx))));
        t.lane("more", () -> {
            s.write();
            s.read();
        });
        t.end(() -> check(s.m.tryLock(), LEFT));
    }

    private static void readerTold(Plain t) {
        RWMutex m = new RWMutex();
        Context never = Context.background().withCancel();
        m.lock();
        t.lane("reads", () -> m.rLockUnless(never));
        t.lane("writes", m::unlock);
    }

    /** The first reader stays inside until the other one is. */
    private static void writerWithdraws(Plain t) {
        RWMutex m = new RWMutex();
        m.rLock();
        Context ctx = t.cancelled();
        t.lane("writes", () -> {
            if (t.unlessCancelled(() -> m.lockUnless(ctx))) {
                m.unlock();
            }
        });
        t.lane("reads", () -> {
            m.rLock();
            m.rUnlock();
            m.rUnlock();
        });
        t.end(() -> check(m.tryLock(), LEFT));
    }

    /** Acquires a unit unless an interrupt ends the wait. */
    static boolean unlessInterrupted(Semaphore sem) {
        try {
            sem.acquireInterruptibly(1);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** Adds a lane that waits for a unit of a semaphore that has none, and one that interrupts it. */
    private static Semaphore interrupts(Plain t, Consumer<Semaphore> wait) {
        Semaphore sem = new Semaphore(1);
        Thread[] waiter = {null};
        sem.acquire(1);
        t.lane("waits", () -> {
            waiter[0] = Thread.currentThread();
            t.done();
            wait.accept(sem);
        });
        t.lane("interrupts", () -> {
            t.until(1);
            waiter[0].interrupt();
        });
        return sem;
    }

    private static void interrupt(Plain t) {
        Semaphore _ = interrupts(t, sem -> check(!unlessInterrupted(sem), "a unit was given out that is not there"));
    }

    private static void interruptTaken(Plain t) {
        Semaphore sem = interrupts(t, s -> {
            if (unlessInterrupted(s)) {
                s.release(1);
            }
        });
        t.lane("releases", () -> sem.release(1));
        t.end(() -> check(sem.tryAcquire(1), "a unit is lost"));
    }

    /** The interrupter may tell of its interrupt when the waiter has dealt with it already, and waits again. */
    private static void interruptOnce(Plain t) {
        Semaphore sem = interrupts(t, s -> check(unlessInterrupted(s) || unlessInterrupted(s),
                "a wait was ended by an interrupt that was dealt with"));
        t.lane("releases", () -> {
            t.until(1);
            sem.release(1);
        });
    }
}
