// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.struct.Sudog;

/**
 * {@code notifyList}: the waiters of a condition, by ticket. A waiter draws a ticket while it still holds the condition's
 * lock, gives that lock back, and waits for the ticket to be called. Tickets are called in the order drawn, so a
 * notification goes to who waited before it and never to who came after, even when that one is first to sleep.
 *
 * <p>Tickets below {@code notify} were called, those from {@code notify} to {@code wait} wait or are about to. Both wrap
 * around; differences count. At most 2^31 wait at a time.
 */
public final class NotifyList {
    private static final VarHandle WAIT;
    private static final VarHandle NOTIFY;

    private static final Park.Unlock UNLOCK = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object lock) {
            ((HeapMutex) lock).unlock();
            return true;
        }
    };

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            WAIT = l.findVarHandle(NotifyList.class, "wait", int.class).withInvokeExactBehavior();
            NOTIFY = l.findVarHandle(NotifyList.class, "notify", int.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

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

    /** Tickets of {@link #drop} that were not called yet; under the lock. */
    private Dropped dropped;

    private static final class Dropped {
        private final int ticket;
        private Dropped next;

        Dropped(int ticket) {
            this.ticket = ticket;
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
        Dropped d = new Dropped(ticket);
        lock.lock();
        boolean called = ticket - (int) NOTIFY.get(this) < 0;
        if (!called) {
            d.next = dropped;
            dropped = d;
        }
        lock.unlock();
        if (called) {
            notifyOne(); // One too many after a broadcast: waiters look whether they were meant.
        }
    }

    /** Takes {@code ticket} off the list of the dropped ones. */
    private boolean wasDropped(int ticket) {
        Dropped before = null;
        for (Dropped d = dropped; d != null; d = d.next) {
            if (d.ticket == ticket) {
                if (before == null) {
                    dropped = d.next;
                } else {
                    before.next = d.next;
                }
                return true;
            }
            before = d;
        }
        return false;
    }

    /** Waits until the ticket is called; inside {@link GStack#enter}. */
    public void await(int ticket) {
        GStack st = GStack.current();
        long sg;
        while ((sg = Waiting.sudogOrNap(st)) == 0) {
            if (ticket - (int) NOTIFY.getVolatile(this) < 0) {
                return; // It has been called meanwhile.
            }
        }
        lock.lock();
        if (ticket - (int) NOTIFY.get(this) < 0) {
            lock.unlock(); // Called already.
            Waiting.release(st, sg);
            return;
        }
        Sudog.setTicket(sg, ticket);
        Sudog.setNext(sg, 0);
        if (tail == 0) {
            head = sg;
        } else {
            Sudog.setNext(tail, sg);
        }
        tail = sg;
        Waiting.park(st, sg, UNLOCK, lock, WaitReason.COND_WAIT);
        Waiting.release(st, sg);
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
        NOTIFY.setVolatile(this, (int) WAIT.getVolatile(this)); // Who drew one and does not sleep yet will not.
        lock.unlock();
        while (list != 0) {
            long sg = list;
            list = Sudog.next(sg); // Before the wake: the waiter may give the sudog to another.
            Waiting.wake(sg);
        }
    }

    /** Calls the next ticket, if one is out; inside {@link GStack#enter}. */
    public void notifyOne() {
        if (nobody()) {
            return;
        }
        lock.lock();
        int t;
        do {
            t = (int) NOTIFY.get(this);
            if (t == (int) WAIT.getVolatile(this)) {
                lock.unlock();
                return;
            }
            NOTIFY.setVolatile(this, t + 1);
        } while (dropped != null && wasDropped(t));
        long sg = find(t); // None: its owner is on the way to sleep, and will see that it was called.
        lock.unlock();
        if (sg != 0) {
            Waiting.wake(sg);
        }
    }

    /** Takes the sleeper with ticket {@code t} out; most often it is the first. */
    private long find(int t) {
        long before = 0;
        for (long sg = head; sg != 0; sg = Sudog.next(sg)) {
            if (Sudog.ticket(sg) == t) {
                long next = Sudog.next(sg);
                if (before == 0) {
                    head = next;
                } else {
                    Sudog.setNext(before, next);
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
