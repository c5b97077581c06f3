// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * {@code notifyList}: the waiters of a condition, by ticket. A waiter draws a ticket while it still holds the condition's
 * lock, gives that lock back, and waits for the ticket to be called. Tickets are called in the order drawn, so a
 * notification goes to a waiter that came before it and never to one that came after, even if that one is first to sleep.
 *
 * <p>Tickets below {@code notify} were called, those from {@code notify} to {@code wait} wait or are about to. Both wrap
 * around; differences count. At most 2^31 wait at a time.
 */
public final class NotifyList {
    private static final VarHandle WAIT = FieldHandle.of(MethodHandles.lookup(), NotifyList.class, "wait", int.class);
    private static final VarHandle NOTIFY = FieldHandle.of(MethodHandles.lookup(), NotifyList.class, "notify", int.class);

    private static final Park.Unlock UNLOCK = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object lock) {
            ((HeapMutex) lock).unlock();
            return true;
        }
    };

    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    /** The next ticket: anyone, by addition. */
    @SuppressWarnings("unused") // Through WAIT.
    private volatile int wait;
    /** The next ticket to be called: under the lock; read without it. */
    @SuppressWarnings("unused") // Through NOTIFY.
    private volatile int notify;
    /** Sleepers by next; under the lock. */
    private long head;
    private long tail;

    /** Tickets of {@link #drop} and of waits that were ended, not called yet; in order, and no two touch. Under the lock. */
    private @Nullable Dropped dropped;

    /** Tickets from {@code from} to {@code to}, both included. */
    private static final class Dropped {
        private int from;
        private int to;
        private @Nullable Dropped next;
    }

    /** Under the lock: a ticket that nobody waits for any more; {@code fresh} is put in where it touches no other. */
    private void note(int ticket, Dropped fresh) {
        Dropped before = null;
        Dropped after = dropped;
        while (after != null && after.from - ticket < 0) {
            before = after;
            after = after.next;
        }
        Dropped at;
        if (before != null && before.to + 1 == ticket) {
            before.to = ticket;
            at = before;
        } else {
            at = fresh;
            fresh.from = ticket;
            fresh.to = ticket;
            fresh.next = after;
            if (before == null) {
                dropped = fresh;
            } else {
                before.next = fresh;
            }
        }
        if (after != null && at.to + 1 == after.from) {
            at.to = after.to;
            at.next = after.next;
        }
        skip();
    }

    /** Under the lock: the next ticket to be called is one that somebody waits for. */
    private void skip() {
        Dropped d = dropped;
        if (d != null && d.from == (int) NOTIFY.get(this)) {
            NOTIFY.setVolatile(this, d.to + 1);
            dropped = d.next;
        }
    }

    /** Nobody waits. */
    public NotifyList() {
    }

    /** Draws a ticket. */
    public int add() {
        return (int) WAIT.getAndAdd(this, 1);
    }

    /**
     * Gives up a ticket that was drawn and will not be waited for: its call goes to the next one. Inside
     * {@link GStack#enter}.
     */
    public void drop(int ticket) {
        Dropped fresh = new Dropped();
        lock.lock();
        boolean called = ticket - (int) NOTIFY.get(this) < 0;
        if (!called) {
            note(ticket, fresh);
        }
        lock.unlock();
        if (called) {
            notifyOne(); // After a broadcast that is one too many, which is harmless: waiters check their condition again.
        }
    }

    /** Waits until the ticket is called; inside {@link GStack#enter}. */
    public void await(int ticket) {
        boolean _ = await(ticket, null, WaitReason.COND_WAIT);
    }

    /**
     * The same, until {@code e} ends it.
     *
     * @param e null for nothing; else between its {@code begin} and {@code finish}
     * @return false when the wait was ended: the ticket was not called, and its call will go to the next one
     */
    @SuppressWarnings("NullAway") // It is not called, so e has ended it.
    public boolean await(int ticket, @Nullable OfTicket e, WaitReason reason) {
        GStack st = GStack.current();
        long sg;
        while ((sg = Waiting.sudogOrNap(st)) == 0) {
            if (ticket - (int) NOTIFY.getVolatile(this) < 0) {
                return true; // It has been called meanwhile.
            }
        }
        lock.lock();
        boolean called = ticket - (int) NOTIFY.get(this) < 0;
        if (called || e != null && e.pending()) {
            if (!called) {
                note(ticket, e.fresh);
            }
            lock.unlock();
            Waiting.release(st, sg);
            return called;
        }
        Sudog.TICKET.set(sg, ticket);
        Sudog.NEXT.set(sg, 0);
        if (tail == 0) {
            head = sg;
        } else {
            Sudog.NEXT.set(tail, sg);
        }
        tail = sg;
        if (e != null) {
            e.waits(sg);
        }
        Waiting.park(st, sg, UNLOCK, lock, reason);
        boolean ended = e != null && e.woken();
        Waiting.release(st, sg);
        return !ended;
    }

    /** Ends a wait for a ticket: takes the sleeper out and notes its ticket as dropped, under the lock, so that it is not called. */
    public static final class OfTicket extends Ending {
        private final NotifyList list;
        /** Made before it is needed: there may be no memory then. */
        private final Dropped fresh = new Dropped();

        /** Of a wait in {@code list}. */
        public OfTicket(NotifyList list, Limits limits) {
            super(limits);
            this.list = list;
        }

        @Override
        protected void lock() {
            list.lock.lock();
        }

        @Override
        protected void unlock() {
            list.lock.unlock();
        }

        @Override
        protected boolean remove(long waiter) {
            int ticket = Sudog.TICKET.get(waiter);
            if (list.find(ticket) == 0) {
                return false; // Called.
            }
            list.note(ticket, fresh);
            return true;
        }
    }

    /** Calls all tickets; inside {@link GStack#enter}. */
    public void notifyAllWaiters() {
        if (nobody()) {
            return;
        }
        lock.lock();
        long list = head;
        head = 0;
        tail = 0;
        dropped = null;
        NOTIFY.setVolatile(this, (int) WAIT.getVolatile(this)); // A waiter that has a ticket and does not sleep yet will not sleep.
        lock.unlock();
        while (list != 0) {
            long sg = list;
            list = Sudog.NEXT.get(sg); // Before the wake: the waiter may give the sudog to another.
            Waiting.wake(sg);
        }
        Reference.reachabilityFence(lock); // Until then it keeps what waits for it: report.LeakSearch.
    }

    /** Calls the next ticket, if one is out; inside {@link GStack#enter}. */
    public void notifyOne() {
        if (nobody()) {
            return;
        }
        lock.lock();
        int t = (int) NOTIFY.get(this);
        if (t == (int) WAIT.getVolatile(this)) {
            lock.unlock();
            return;
        }
        NOTIFY.setVolatile(this, t + 1);
        skip();
        long sg = find(t); // None: its owner is on the way to sleep, and will see that it was called.
        lock.unlock();
        if (sg != 0) {
            Waiting.wake(sg);
        }
        Reference.reachabilityFence(lock); // Until then it keeps what waits for it: report.LeakSearch.
    }

    /** Takes the sleeper with ticket {@code t} out; most often it is the first. */
    private long find(int t) {
        long before = 0;
        for (long sg = head; sg != 0; sg = Sudog.NEXT.get(sg)) {
            if (Sudog.TICKET.get(sg) == t) {
                long next = Sudog.NEXT.get(sg);
                if (before == 0) {
                    head = next;
                } else {
                    Sudog.NEXT.set(before, next);
                }
                if (next == 0) {
                    tail = before;
                }
                return sg;
            }
            before = sg;
        }
        return 0;
    }

    /** Whether no ticket is out. A waiter that draws one now came after this notification. */
    private boolean nobody() {
        return (int) WAIT.getVolatile(this) == (int) NOTIFY.getVolatile(this);
    }
}
