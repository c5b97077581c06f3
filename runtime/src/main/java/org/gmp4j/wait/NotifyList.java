// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.lang.invoke.MethodHandles;
import java.lang.ref.Reference;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.HeapInt;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * {@code notifyList}: the waiters of a condition, by ticket. A waiter draws a ticket while it still holds the condition's lock, releases
 * that lock, and waits for the ticket to be called. Tickets are called in the order in which they were drawn. So a notification goes to a
 * waiter that drew its ticket before the notification. It never goes to a later waiter, even if that waiter falls asleep first.
 *
 * <p>Tickets below {@code notify} were called or dropped. The owner of a ticket from {@code notify} to {@code wait - 1} waits, is about to
 * wait, or has dropped the ticket. Both numbers wrap around, so they are compared by their difference. At most 2^31 waiters may wait at a
 * time.
 */
public final class NotifyList {
    private static final HeapInt<NotifyList> WAIT = HeapInt.of(MethodHandles.lookup(), NotifyList.class, "wait");

    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    /** The next ticket to be drawn. Written by any waiter, by addition. */
    private volatile int wait;
    /** The next ticket to be called. Written under the lock; also read without it. */
    private volatile int notify;
    /** The first and the last sudog of the waiters, linked by next. Guarded by the lock. */
    private long head;
    private long tail;

    /**
     * The dropped tickets from {@code notify} on, as a list of ranges in ascending order. {@link #drop} drops a ticket, and so does the
     * early end of a wait. Between two ranges is at least one ticket that was not dropped. Guarded by the lock.
     */
    private @Nullable Dropped dropped;

    /** A range of dropped tickets from {@code from} to {@code to}, both included. */
    private static final class Dropped {
        private int from;
        private int to;
        private @Nullable Dropped next;
    }

    /**
     * Adds a ticket to the dropped ones: extends the range that ends just before it, or else inserts {@code fresh}. Merges the result with
     * a range that begins just behind the ticket. Then skips dropped tickets. Called under the lock.
     */
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

    /** Moves {@code notify} past a range of dropped tickets that begins there. Called under the lock. */
    private void skip() {
        Dropped d = dropped;
        if (d != null && d.from == notify) {
            notify = d.to + 1;
            dropped = d.next;
        }
    }

    /** Makes a list without waiters. */
    public NotifyList() {
    }

    /** Draws a ticket. */
    public int add() {
        return WAIT.getAndAdd(this, 1);
    }

    /** Drops a ticket whose owner will not wait. The next ticket is called in its place. Called inside {@link GStack#enter}. */
    public void drop(int ticket) {
        Dropped fresh = new Dropped();
        lock.lock();
        boolean called = ticket - notify < 0;
        if (!called) {
            note(ticket, fresh);
        }
        lock.unlock();
        if (called) {
            notifyOne(); // Passes the call on. After a broadcast this only makes one more waiter check its condition.
        }
    }

    /**
     * Waits until the ticket is called, or {@code e} ends the wait. Called inside {@link GStack#enter}.
     *
     * @param e the object that may end the wait early, between its {@code begin} and its {@code finish}; null if the wait cannot end early
     * @return false when the wait ended early; then the next ticket will be called in place of this one
     */
    @SuppressWarnings("NullAway") // Where e.fresh is read, e is pending, and so not null.
    public boolean await(int ticket, @Nullable OfTicket e, WaitReason reason) {
        GStack st = GStack.current();
        long sg;
        while ((sg = Waiting.sudogOrNap(st)) == 0) {
            if (ticket - notify < 0) {
                return true; // The ticket has been called during the nap.
            }
        }
        lock.lock();
        boolean called = ticket - notify < 0;
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
        Waiting.park(st, sg, Waiting.UNLOCK, lock, reason);
        boolean ended = e != null && e.woken();
        Waiting.release(st, sg);
        return !ended;
    }

    /** Ends a wait for a ticket early. Under the lock it removes the waiter and drops its ticket. */
    public static final class OfTicket extends WaitCancellation {
        private final NotifyList list;
        /** A range for the ticket, allocated in advance, because there may be no memory when it is needed. */
        private final Dropped fresh = new Dropped();

        /** Makes an object for a wait in {@code list}. */
        public OfTicket(NotifyList list, Limits limits) {
            super(limits, list.lock);
            this.list = list;
        }

        @Override
        protected boolean remove(long waiter) {
            int ticket = Sudog.TICKET.get(waiter);
            if (list.remove(ticket) == 0) {
                return false; // The ticket was called.
            }
            list.note(ticket, fresh);
            return true;
        }
    }

    /** Calls all tickets that were drawn. Called inside {@link GStack#enter}. */
    public void notifyAllWaiters() {
        if (nobody()) {
            return;
        }
        lock.lock();
        long list = head;
        head = 0;
        tail = 0;
        dropped = null;
        notify = wait; // A waiter that has a ticket and is not asleep yet will not sleep.
        lock.unlock();
        while (list != 0) {
            long sg = list;
            list = Sudog.NEXT.get(sg); // Read before the wake, after which the waiter may free the sudog.
            Waiting.wake(sg);
        }
        Reference.reachabilityFence(lock); // Until here the lock keeps its waiters reachable: see report.LeakSearch.
    }

    /** Calls the next ticket, if one was drawn and neither called nor dropped. Called inside {@link GStack#enter}. */
    public void notifyOne() {
        if (nobody()) {
            return;
        }
        lock.lock();
        int t = notify;
        if (t == wait) {
            lock.unlock();
            return;
        }
        notify = t + 1;
        skip();
        long sg = remove(t); // 0 if the ticket's owner is not queued yet. The owner then finds that the ticket was called.
        lock.unlock();
        if (sg != 0) {
            Waiting.wake(sg);
        }
        Reference.reachabilityFence(lock); // Until here the lock keeps its waiters reachable: see report.LeakSearch.
    }

    /** Removes the waiter with ticket {@code t}, usually the first, and returns its sudog, or 0 if there is none. */
    private long remove(int t) {
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

    /** Returns whether all drawn tickets were called or dropped. A ticket drawn during this call comes after this notification. */
    private boolean nobody() {
        return wait == notify;
    }
}
