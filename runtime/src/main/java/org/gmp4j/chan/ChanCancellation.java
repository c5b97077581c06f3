// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import org.gmp4j.Cancelable;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/** Ends a wait in one of a channel's queues, under the channel's lock. The waits of sends and receives with limits are here, too. */
public final class ChanCancellation extends WaitCancellation {
    private final Hchan c;
    private final WaitQ q;

    private ChanCancellation(Hchan c, WaitQ q, Limits limits) {
        super(limits, c.lock);
        this.c = c;
        this.q = q;
    }

    /** Returns the cancellation of a receive. */
    public static ChanCancellation ofReceive(Hchan c, Limits limits) {
        return new ChanCancellation(c, c.recvq, limits);
    }

    /** Sends an element; a limit may end its wait. Returns false when the time was up. Called inside {@link GStack#enter}. */
    static boolean send(Hchan c, @Nullable GStack st, @Nullable Object v, long w, Limits limits) {
        ChanCancellation e = new ChanCancellation(c, c.sendq, limits);
        e.begin();
        try {
            c.lock.lock();
            if (c.isClosed()) {
                c.lock.unlock();
                throw c.sendOnClosed();
            }
            long receiver = c.give(v, w);
            if (receiver != Hchan.BLOCKS) { // A send that need not wait succeeds even after a limit has expired.
                c.lock.unlock();
                if (receiver != 0) {
                    c.wake(receiver);
                }
                return true;
            }
            if (e.pending()) {
                c.lock.unlock();
            } else {
                long sg = c.sudogOrUnlock(st);
                c.setElem(sg, v, w);
                boolean ended = e.await(st, sg, c.sendq, c.lock,
                        e.durable() ? WaitReason.CHAN_SEND_DURABLE : WaitReason.CHAN_SEND);
                boolean sent = Sudog.SUCCESS.get(sg) != 0;
                Waiting.release(st, sg);
                if (!ended) {
                    if (!sent) {
                        throw c.sendOnClosed();
                    }
                    return true;
                }
            }
            return !e.timeUp(); // Throws if the time is not up.
        } finally {
            e.finish();
        }
    }

    /**
     * Waits until the channel is closed and drained, without receiving. An interrupt ends the wait if {@link WaitCancellation#byDefault} is
     * true.
     *
     * @return false when {@code ctx} was cancelled before that
     */
    public static boolean drained(Hchan c, Cancelable ctx) {
        GStack st = GStack.enter();
        try {
            c.lock.lock();
            ChanCancellation e;
            try { // There may be no memory.
                e = new ChanCancellation(c, c.drainq(), Limits.until(ctx));
            } finally {
                c.lock.unlock();
            }
            e.begin();
            try {
                return e.awaitDrained(st);
            } finally {
                e.finish();
            }
        } finally {
            GStack.exit(st);
        }
    }

    private boolean awaitDrained(@Nullable GStack st) {
        c.lock.lock();
        boolean drained = c.drained();
        if (drained || pending()) {
            c.lock.unlock();
        } else {
            long sg = c.sudogOrUnlock(st);
            drained = !await(st, sg, q, c.lock, durable() ? WaitReason.CHAN_RECEIVE_DURABLE : WaitReason.CHAN_RECEIVE);
            Waiting.release(st, sg);
        }
        return drained || !byContext() && timeUp(); // Without a context's cancel it was an interrupt, and timeUp throws.
    }

    /**
     * Returns whether only the bubble can end the wait, by one of its goroutines or by its clock. In a bubble the result is always true for
     * a wait with a time limit, because the bubble's clock has to reach the limit, and advances only while all waits are durable.
     */
    private boolean durable() {
        return limits.timed() ? Bubble.current() != null : c.durable();
    }

    /**
     * Releases the lock for a receive with limits, which may wait: see {@link Hchan#unlockAndWait}. Called between {@link #begin} and
     * {@link #finish}. The caller has found no element, so a receive takes a buffered element even after a limit has expired.
     *
     * @return above 0: a sudog that has waited and was woken. {@link Hchan#CLOSED}: it did not wait. {@link Hchan#BLOCKS}: the time was up
     */
    public long unlockAndWait(@Nullable GStack st, long found) {
        if (found == Hchan.CLOSED) {
            c.lock.unlock();
            return Hchan.CLOSED;
        }
        if (pending()) {
            c.timerLeft();
            c.lock.unlock();
        } else {
            long sg = c.sudogOrUnlock(st);
            if (!await(st, sg, c.recvq, c.lock, durable() ? WaitReason.CHAN_RECEIVE_DURABLE : WaitReason.CHAN_RECEIVE)) {
                return sg;
            }
            Waiting.release(st, sg);
        }
        boolean _ = timeUp(); // Throws if the time is not up.
        return Hchan.BLOCKS;
    }

    @Override
    protected boolean remove(long waiter) {
        boolean removed = q.remove(waiter);
        if (removed) {
            Sudog.SUCCESS.set(waiter, 0);
            c.timerLeft();
        }
        return removed;
    }
}
