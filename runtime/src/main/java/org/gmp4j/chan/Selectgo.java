// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import java.util.Arrays;

import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * Implements the wait of a {@code Select} (Go's {@code selectgo}). It takes the locks of all channels in the order of their numbers, so two
 * selects do not deadlock. A channel with several cases is locked once. Pass 1 checks the cases in random order for one that can
 * proceed. Pass 2 puts a sudog for each case into a queue of the case's channel, and parks. The locks are released once the waiter is
 * parked, so a waker that finds one of the sudogs finds the waiter parked. One of the wakers wins: see {@code WaitQ}. Pass 3 takes the
 * locks again and removes from the queues the sudogs that were not woken.
 *
 * <p>Memory order. The waker that won writes two values that the waiter reads: the element of the winning sudog, under the channel's lock,
 * and the sudog's address, after it has released the lock. Both stores come before the CAS on the G's status, or the exchange on the
 * thread's note, which resumes the waiter. The other wakers never touch the select's memory after they release their channel's lock. Pass 3
 * takes that lock, so it sees their changes to the queue. Once it has removed the select's sudogs, no later waker finds them.
 */
public final class Selectgo {
    /** Stands for the timeout in the results of {@link #single} and {@link #choose}. It is no case, and its number is not used. */
    public static final Scase LATE = new Scase(-1);
    /** The value for a select without a timeout. */
    public static final long NO_TIMEOUT = -1;

    /** The cases with a channel. Their order does not matter, because pass 1 shuffles them. */
    private Scase[] poll;
    private int live;
    /** Whether the select has cases. Those without a channel are not in {@link #poll}. */
    private boolean cases;
    private final SelectLocks locks;
    /** Whether one of the channels was made in a bubble, so that the caller's bubble has to be checked. */
    private boolean inBubble;
    /** The sudog of the {@link SelectCancellation} of the present wait; 0 for none. */
    private long endSg;

    /** Makes a select without cases that has room for {@code few}. */
    public Selectgo(int few) {
        poll = new Scase[few];
        locks = new SelectLocks(few);
    }

    /** Throws if users may only receive from the channel; null for a case without a channel. */
    public static void checkSendable(@Nullable Hchan c) {
        if (c != null) {
            c.checkSendable();
        }
    }

    /** Makes room for {@code n} cases. If there is no memory for it, the cases are unchanged. */
    public void grow(int n) {
        Scase[] more = Arrays.copyOf(poll, n);
        locks.grow(n);
        poll = more;
    }

    /** Removes all cases. */
    public void clear() {
        Arrays.fill(poll, 0, live, null);
        live = 0;
        cases = false;
        inBubble = false;
        locks.clear();
    }

    /**
     * Adds the lock of a case's channel. Called before {@link #add}: if a StackOverflowError prevents that call, a lock without a case does
     * no harm.
     *
     * @return whether only goroutines of a bubble can end a wait on the channel
     */
    public boolean addLock(Hchan c) {
        locks.add(c);
        return c.durable();
    }

    /**
     * Adds a case, for which there is room. It calls no method, because any call may throw a StackOverflowError.
     *
     * @param durable the result of {@link #addLock}; false if the case has no channel
     */
    public void add(Scase k, boolean durable) {
        cases = true;
        if (k.c != null) {
            poll[live++] = k;
            inBubble |= durable;
        }
    }

    /**
     * Runs a select of one case as a plain operation of its channel, as Go's compiler does. Returns the case, null or {@link #LATE},
     * like {@link #choose}.
     */
    public @Nullable Scase single(Scase k, Limits limits, boolean block, long timeout) {
        if (block && (limits != Limits.DEFAULT || timeout != NO_TIMEOUT)) {
            return choose(limits, true, timeout);
        }
        if (k.c == null) {
            if (block) {
                Waiting.forever(k.sends() ? WaitReason.CHAN_SEND_NIL : WaitReason.CHAN_RECEIVE_NIL);
            }
            return null;
        }
        if (k.sends()) {
            return k.c.send(k.elem, k.longElem, block) ? k : null;
        }
        if (!block && k.c.lookRecv() == Hchan.BLOCKS) {
            return null;
        }
        GStack st = GStack.enter();
        try {
            long found = k.c.lockRecv(block);
            if (found >= 0) {
                received(k, found);
                k.c.unlockTaken(found);
                return k;
            }
            if (found == Hchan.BLOCKS && !block) {
                k.c.lock.unlock();
                return null;
            }
            long how = k.c.unlockAndWait(st, found);
            if (how == Hchan.ENDS) {
                return choose(limits, block, timeout);
            }
            if (how == Hchan.CLOSED) {
                received(k, how);
            } else {
                k.ok = Hchan.ok(how);
                k.c.takeWoken(how, k);
                Waiting.release(st, how);
            }
            return k;
        } finally {
            GStack.exit(st);
        }
    }

    /** Completes a receive under the lock. {@code sender} is a result of {@link Hchan#nextSender}. */
    private static void received(Scase k, long sender) {
        k.ok = sender >= 0;
        if (k.ok) {
            k.c.take(sender, k);
        } else {
            k.elem = null;
            k.longElem = 0;
        }
    }

    /**
     * Waits for a case that can proceed, and does its operation.
     *
     * @param limits the limits of the wait besides the timeout
     * @param block false if the select has a default
     * @param timeout the timeout of the select, ns; {@link #NO_TIMEOUT} for none
     * @return the case; null for the default, {@link #LATE} for the timeout
     */
    public @Nullable Scase choose(Limits limits, boolean block, long timeout) {
        if (live == 0) {
            return block ? chooseNone(limits, timeout) : null;
        }
        if (inBubble) {
            checkBubble();
        }
        locks.sort();
        GStack st = GStack.enter();
        SelectCancellation e = null;
        try {
            for (;;) {
                locks.lockAll();
                for (int i = 0; i < live; i++) {
                    Scase k = draw(st, i);
                    long other = proceedOrUnlock(k);
                    if (other != Hchan.BLOCKS) {
                        locks.unlockAll();
                        if (other > 0) {
                            k.c.wake(other);
                        } else if (other == Hchan.CLOSED && k.sends()) {
                            throw k.c.sendOnClosed();
                        }
                        return k;
                    }
                }
                if (!block || timeout == 0) {
                    locks.unlockAll();
                    return block ? LATE : null;
                }
                if (e != null || limits == Limits.DEFAULT && timeout == NO_TIMEOUT && !WaitCancellation.byDefault(st)) {
                    return await(st, e, timeout != NO_TIMEOUT);
                }
                locks.unlockAll(); // The cancellation is made without locks. Then all cases are checked again.
                e = new SelectCancellation(locks.first(), timed(limits, timeout));
                e.begin();
            }
        } finally {
            if (e != null) {
                e.finish();
            }
            GStack.exit(st);
        }
    }

    /** Waits although no case has a channel. Only a limit can end this wait. */
    private Scase chooseNone(Limits limits, long timeout) {
        WaitReason reason = !cases ? WaitReason.SELECT_NO_CASES
                : Bubble.current() == null ? WaitReason.SELECT : WaitReason.SELECT_DURABLE;
        if (limits == Limits.DEFAULT && timeout == NO_TIMEOUT) {
            Waiting.forever(reason);
        }
        boolean _ = Waiting.rest(timed(limits, timeout), reason); // Returns only if the time is up; otherwise throws.
        return LATE;
    }

    private static Limits timed(Limits limits, long timeout) {
        return timeout == NO_TIMEOUT ? limits : new Limits(limits.interrupts(), timeout, limits.ctx());
    }

    private void checkBubble() {
        for (int i = 0; i < live; i++) {
            poll[i].c.checkSelector();
        }
    }

    /** Draws the next case of a random permutation. {@code i} cases were drawn before. */
    private Scase draw(@Nullable GStack st, int i) {
        int left = live - i;
        int at = left == 1 ? i : i + GStack.cheaprandn(st, left);
        Scase k = poll[at];
        poll[at] = poll[i];
        poll[i] = k;
        return k;
    }

    /** Calls {@link #proceed}, and releases the locks if it throws, for instance for lack of memory for a timer's time. */
    private long proceedOrUnlock(Scase k) {
        try {
            return proceed(k);
        } catch (Throwable e) {
            locks.unlockAll();
            throw e;
        }
    }

    /** Arms the timers of the receives, before any sudog is queued. If that throws, disarms the timers and releases the locks. */
    private void timersAwaited() {
        try {
            for (int i = 0; i < live; i++) {
                if (!poll[i].sends()) {
                    poll[i].c.timerAwaited();
                }
            }
        } catch (Throwable e) {
            timersLeft();
            locks.unlockAll();
            throw e;
        }
    }

    /** Does a case if that needs no wait. Returns the waiter to wake, 0 if there is none, {@link Hchan#CLOSED} or {@link Hchan#BLOCKS}. */
    private static long proceed(Scase k) {
        if (k.sends()) {
            return k.c.isClosed() ? Hchan.CLOSED : k.c.give(k.elem, k.longElem);
        }
        long sender = k.c.nextSender();
        if (sender != Hchan.BLOCKS) {
            received(k, sender);
        }
        return sender;
    }

    /** Does passes 2 and 3. The caller holds all locks. {@code e} is null if only a channel can end the wait. */
    @SuppressWarnings("NullAway") // If no case has won, e has ended the wait, so e is not null.
    private Scase await(@Nullable GStack st, @Nullable SelectCancellation e, boolean timed) {
        if (e != null && e.pending()) {
            timersLeft();
            locks.unlockAll();
            boolean _ = e.timeUp(); // Returns only if the time is up; otherwise throws.
            return LATE;
        }
        timersAwaited();
        long who = sudogs(st, e != null);
        boolean durable = true;
        for (int i = 0; i < live; i++) {
            Scase k = poll[i];
            durable &= k.c.durable();
            if (k.sends()) {
                k.c.setElem(k.sg, k.elem, k.longElem);
                k.c.sendq.enqueue(k.sg);
            } else {
                k.c.recvq.enqueue(k.sg);
            }
        }
        if (e != null) {
            e.waits(endSg);
            // A bubble's clock advances only while all waits are durable, and it has to reach the timeout.
            durable |= timed && Bubble.current() != null;
        }
        long woken = Waiting.awaitSelect(st, who, SelectLocks.UNLOCK, locks, locks.count(),
                durable ? WaitReason.SELECT_DURABLE : WaitReason.SELECT);
        locks.lockAll();
        Waiting.reopenSelect(st, who);
        Scase won = null;
        for (int i = 0; i < live; i++) {
            Scase k = poll[i];
            if (k.sg == woken) {
                won = k;
            } else if (k.sends()) {
                boolean _ = k.c.sendq.remove(k.sg);
            } else {
                boolean _ = k.c.recvq.remove(k.sg);
                k.c.timerLeft();
            }
        }
        if (e != null) {
            boolean _ = e.wokenLocked();
        }
        locks.unlockAll();
        if (won != null) {
            won.ok = Sudog.SUCCESS.get(woken) != 0;
            if (!won.sends()) {
                won.c.takeWoken(woken, won);
            }
        }
        for (int i = 0; i < live; i++) {
            Waiting.release(st, poll[i].sg);
        }
        if (e != null) {
            Waiting.release(st, endSg);
        }
        Waiting.releaseSelector(st, who);
        if (won == null) {
            boolean _ = e.timeUp(); // Returns only if the time is up; otherwise throws.
            return LATE;
        }
        if (won.sends() && !won.ok) {
            throw won.c.sendOnClosed();
        }
        return won;
    }

    /**
     * Takes a sudog for each case. If there is no memory, disarms the timers, releases the locks and the sudogs taken so far, and throws.
     *
     * @param ends whether there is a {@link SelectCancellation}, which takes a sudog too
     * @return the waiter
     */
    private long sudogs(@Nullable GStack st, boolean ends) {
        long who = 0;
        int taken = 0;
        endSg = 0;
        try {
            who = Waiting.selector(st);
            if (ends) {
                endSg = Waiting.selectSudog(st, who);
            }
            for (; taken < live; taken++) {
                poll[taken].sg = Waiting.selectSudog(st, who);
            }
            return who;
        } catch (OutOfMemoryError e) {
            timersLeft();
            locks.unlockAll();
            while (taken-- > 0) {
                Waiting.release(st, poll[taken].sg);
            }
            if (endSg != 0) {
                Waiting.release(st, endSg);
            }
            if (who != 0) {
                Waiting.releaseSelector(st, who);
            }
            throw e;
        }
    }

    /** Disarms the timers of a select that does not wait after all. */
    private void timersLeft() {
        for (int i = 0; i < live; i++) {
            poll[i].c.timerLeft();
        }
    }
}
