// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import static org.gmp4j.bench.replay.Case.check;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import org.gmp4j.Chan;
import org.gmp4j.bench.replay.Program;
import org.gmp4j.queue.SemaRoot;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Once;
import org.gmp4j.sync.Pool;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.wait.NotifyList;
import org.gmp4j.wait.Sema;

/** Programs of the locks and groups of {@code org.gmp4j.sync}, with threads that are no goroutines. No unit is lost, no waiter is left. */
final class Syncs {
    private static final String GROUP = "sync";

    private Syncs() {
    }

    private static Program of(String name, String what, Consumer<Plain> body) {
        return Program.of(name, GROUP, what, () -> new Plain(body));
    }

    static List<Program> all() {
        return List.of(
                of("mutex", "three threads in a Mutex", Syncs::mutex),
                of("mutex-mistaken", "of two unlocks of a lock that was taken once one is refused", Syncs::mutexMistaken),
                of("readers", "readers and writers", Syncs::readers),
                of("writers", "a writer is followed by readers that waited, before the next writer", Syncs::writers),
                of("read-mistaken", "an unlock of a reader that waits is refused", Syncs::readMistaken).covered(),
                of("write-mistaken", "an unlock of a writer that waits is refused", Syncs::writeMistaken).covered(),
                of("semaphore", "a large request and small ones", Syncs::units),
                of("together", "waiters for whom there is room are let in together", Syncs::together),
                of("wait-group", "two wait for two", Syncs::group),
                of("group-add", "an add beside the release of the waiters is kept, or refused", Syncs::groupAdd),
                of("cond", "a condition that is signalled twice", Syncs::cond),
                of("cond-all", "waiters that are all woken wait again at once, for something else", Syncs::condAll),
                of("ticket-dropped", "the call of a ticket that is dropped goes to the next", Syncs::ticketDropped),
                of("ticket-order", "a call goes to the ticket that was drawn first", Syncs::ticketOrder),
                of("sema", "units of a semaphore pass between four threads", Syncs::sema),
                of("semas", "waiters of eight semaphores with two roots", Syncs::semas),
                of("once", "three ask for one run", Syncs::once),
                of("pool", "an object of a pool is in one hand", Syncs::pool));
    }

    private static void mutex(Plain t) {
        Mutex m = new Mutex();
        Cell count = new Cell();
        t.lanes(3, "T", i -> {
            for (int k = 0; k < 2; k++) {
                m.lock();
                count.add(1);
                m.unlock();
            }
        });
        t.end(() -> {
            check(count.get() == 6, "two threads were in the mutex: " + count.get() + " of 6 were counted");
            check(m.tryLock(), "the mutex is left locked");
        });
    }

    private static void mutexMistaken(Plain t) {
        Mutex m = new Mutex();
        AtomicInteger locks = new AtomicInteger(1);
        AtomicInteger unlocks = new AtomicInteger();
        m.lock();
        t.lanes(2, "unlocks", i -> {
            if (!Plain.isRefused(m::unlock)) {
                unlocks.incrementAndGet();
            }
        });
        t.lane("tries", () -> {
            if (m.tryLock()) {
                locks.incrementAndGet();
            }
        });
        t.end(() -> {
            int held = m.tryLock() ? 0 : 1;
            check(locks.get() - unlocks.get() == held, "of " + locks.get() + " locks " + unlocks.get() + " were given back, " + held
                    + " is held");
        });
    }

    private static void readers(Plain t) {
        RWMutex m = new RWMutex();
        Cell a = new Cell();
        Cell b = new Cell();
        t.lanes(2, "write", i -> {
            m.lock();
            a.add(1);
            b.add(1);
            m.unlock();
        });
        t.lanes(2, "read", i -> {
            m.rLock();
            check(a.get() == b.get(), "a reader is beside a writer");
            m.rUnlock();
        });
        t.end(() -> check(a.get() == 2 && b.get() == 2 && m.tryLock(), "two writers were inside, or the lock is left"));
    }

    /** The next writer waits for the readers that the first one has let in, and for whom it knows when they are gone. */
    private static void writers(Plain t) {
        RWMutex m = new RWMutex();
        AtomicInteger inside = new AtomicInteger();
        m.lock();
        t.lanes(2, "read", i -> {
            m.rLock();
            inside.incrementAndGet();
            Thread.onSpinWait();
            inside.decrementAndGet();
            m.rUnlock();
        });
        t.lane("first", m::unlock);
        t.lane("next", () -> {
            m.lock();
            check(inside.get() == 0, "a writer is beside a reader");
            m.unlock();
        });
        t.end(() -> check(m.tryLock(), "the lock is left"));
    }

    private static void readMistaken(Plain t) {
        RWMutex m = new RWMutex();
        m.lock();
        t.lane("reads", () -> {
            m.rLock();
            t.done();
        });
        t.lane("mistaken", () -> {
            check(Plain.isRefused(m::rUnlock), "the unlock of a reader that waits was not refused");
            m.unlock();
        });
        t.end(() -> check(t.doneCount() == 1 && !m.tryLock(), "the reader is not inside"));
    }

    private static void writeMistaken(Plain t) {
        RWMutex m = new RWMutex();
        m.rLock();
        t.lane("writes", m::lock);
        t.lane("mistaken", () -> {
            check(Plain.isRefused(m::unlock), "the unlock of a writer that waits was not refused");
            m.rUnlock();
        });
        t.end(() -> check(!m.tryRLock(), "the writer is not inside"));
    }

    private static void units(Plain t) {
        Semaphore sem = new Semaphore(2);
        AtomicInteger out = new AtomicInteger();
        t.lanes(3, "T", i -> {
            int n = i == 0 ? 2 : 1;
            sem.acquire(n);
            check(out.addAndGet(n) <= 2, "more units are out than there are");
            out.addAndGet(-n);
            sem.release(n);
        });
        t.end(() -> check(sem.tryAcquire(2), "units are lost"));
    }

    private static void together(Plain t) {
        Semaphore sem = new Semaphore(2);
        RWMutex rw = new RWMutex();
        sem.acquire(2);
        rw.lock();
        t.lanes(2, "T", i -> {
            sem.acquire(1);
            t.meet(2);
            rw.rLock();
            t.meet(4);
            rw.rUnlock();
        });
        t.lane("opens", () -> {
            sem.release(2);
            rw.unlock();
        });
    }

    private static void group(Plain t) {
        WaitGroup wg = new WaitGroup();
        AtomicInteger waited = new AtomicInteger();
        wg.add(2);
        t.lanes(2, "done", i -> {
            t.done();
            wg.done();
        });
        t.lanes(2, "wait", i -> {
            wg.await();
            check(t.doneCount() == 2, "a waiter went on before all were done");
            waited.incrementAndGet();
        });
        t.end(() -> check(waited.get() == 2, "a waiter was left"));
    }

    /** The add comes before the counter is 0, while the waiter is being released, or afterwards as a new round. */
    private static void groupAdd(Plain t) {
        WaitGroup wg = new WaitGroup();
        wg.add(1);
        t.lane("waits", () -> {
            boolean _ = Plain.isRefused(wg::await); // It may be told that the next round has begun.
        });
        t.lane("done", () -> {
            t.until(1);
            wg.done();
        });
        t.lanes(3, "adds", i -> {
            while (!t.isAsleep("waits") && t.doneCount() == 0) {
                Thread.onSpinWait();
            }
            t.done();
            if (!Plain.isRefused(() -> wg.add(1))) {
                check(!Plain.isRefused(wg::done), "what was added is lost");
            }
        });
    }

    /** Each waiter takes one of the things that are signalled. */
    private static void cond(Plain t) {
        Mutex m = new Mutex();
        Cond cond = new Cond(m);
        Cell things = new Cell();
        t.lanes(2, "takes", i -> {
            m.lock();
            while (things.get() == 0) {
                cond.await();
            }
            things.add(-1);
            t.done();
            m.unlock();
        });
        t.lane("puts", () -> {
            for (int i = 0; i < 2; i++) {
                m.lock();
                things.add(1);
                m.unlock();
                cond.signal();
            }
        });
        t.end(() -> check(t.doneCount() == 2 && things.get() == 0, "taken " + t.doneCount() + ", left " + things.get()));
    }

    /** A waiter gives its sudog back as it wakes, and takes it again for the next wait. */
    private static void condAll(Plain t) {
        NotifyList list = new NotifyList();
        Chan<Integer> c = Chan.make(0);
        int first = list.add();
        int _ = list.add();
        t.lanes(2, "waits", i -> {
            boolean _ = list.await(first + i, null, WaitReason.COND_WAIT);
            t.done();
            Integer _ = c.recv();
        });
        t.lane("calls", () -> {
            list.notifyAllWaiters();
            c.send(1);
            c.send(2);
        });
        t.end(() -> check(t.doneCount() == 2, "a waiter was left"));
    }

    private static void ticketDropped(Plain t) {
        NotifyList list = new NotifyList();
        int dropped = list.add();
        int waits = list.add();
        t.lane("drops", () -> list.drop(dropped));
        t.lane("waits", () -> list.await(waits, null, WaitReason.COND_WAIT));
        t.lane("calls", list::notifyOne);
    }

    private static void ticketOrder(Plain t) {
        NotifyList list = new NotifyList();
        int first = list.add();
        int second = list.add();
        t.lane("first", () -> {
            boolean _ = list.await(first, null, WaitReason.COND_WAIT);
            list.notifyOne();
        });
        t.lane("second", () -> list.await(second, null, WaitReason.COND_WAIT));
        t.lane("calls", list::notifyOne);
    }

    /** There is one unit, so one lane has it at a time. Lanes that wait are counted, and at the end the count is 0. */
    private static void sema(Plain t) {
        Sema sema = new Sema();
        Cell inside = new Cell();
        t.lanes(4, "T", i -> {
            sema.acquire(i % 2 == 1, WaitReason.MUTEX_LOCK);
            inside.add(1);
            check(inside.get() == 1, "two have the one unit");
            inside.add(-1);
            sema.release(i < 2);
        });
        t.lane("gives", () -> sema.release(true));
        t.end(() -> {
            check(sema.take() && !sema.take(), "of one unit there is another number");
            check(SemaRoot.of(sema).nwait() == 0, "nobody waits, and " + SemaRoot.of(sema).nwait() + " are counted");
        });
    }

    /** The semaphores get their waiters and their units in several orders, so that nodes come and go all over the roots' trees. */
    private static void semas(Plain t) {
        Sema[] all = new Sema[8];
        for (int i = 0; i < all.length; i++) {
            all[i] = new Sema();
            SemaRoot _ = SemaRoot.of(all[i]); // In order, so that ids differ in any order of waits.
        }
        t.lanes(10, "waits", i -> all[5 * i % 8].acquire(i > 7, WaitReason.MUTEX_LOCK));
        t.lane("gives", () -> {
            for (int i = 9; i >= 0; i--) {
                all[5 * (3 * i % 10) % 8].release(false);
            }
        });
        t.end(() -> {
            for (Sema sema : all) {
                check(SemaRoot.of(sema).nwait() == 0 && !sema.take(), "a waiter or a unit is left");
            }
        });
    }

    private static void once(Plain t) {
        Once once = new Once();
        Cell runs = new Cell();
        t.lanes(3, "T", i -> {
            once.run(() -> runs.add(1));
            check(runs.get() == 1, "it has run " + runs.get() + " times");
        });
    }

    private static void pool(Plain t) {
        Pool<AtomicInteger> pool = new Pool<>(AtomicInteger::new);
        t.lanes(3, "T", i -> {
            for (int k = 0; k < 2; k++) {
                AtomicInteger mine = pool.get();
                check(mine.incrementAndGet() == 1, "an object of the pool is in two hands");
                mine.decrementAndGet();
                pool.put(mine);
            }
        });
    }
}
