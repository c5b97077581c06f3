// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.struct.G;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * The global run queue: a list of runnable Gs by schedlink under {@code sched.lock} (R7).
 *
 * <p>At its head are the Gs that the network poller found, in the order in which it did ({@link #globrunqputpolled}), and those that
 * {@link #globrunqputhead} put there since. {@code runqpolled} is the G behind which the poller's next Gs go; 0 for the head. If
 * each batch went to the very head, the first to come would wait for all that come later.
 *
 * <p>{@code runqsize} is written under the lock and read without it as a hint: an M that reads 0 while someone adds goes
 * on to the next place, and looks again under the lock before it sleeps.
 */
public final class GlobalRunq {
    private static final LongField HEAD = Mem.longField(schedt.layout(), "runq", "head");
    private static final LongField TAIL = Mem.longField(schedt.layout(), "runq", "tail");

    private GlobalRunq() {
    }

    /** Puts a G at the tail; under the lock. */
    public static void globrunqput(long sched, long gp) {
        globrunqputbatch(sched, gp, gp, 1);
    }

    /** Puts a G at the head; under the lock. */
    public static void globrunqputhead(long sched, long gp) {
        insert(sched, 0, gp, gp, 1);
    }

    /**
     * Puts {@code n} Gs that the network poller found, linked from {@code first} to {@code last}, behind those that it found before and
     * in front of all others; under the lock.
     */
    public static void globrunqputpolled(long sched, long first, long last, int n) {
        insert(sched, Schedt.runqpolledOpaque(sched), first, last, n);
        Schedt.setRunqpolledOpaque(sched, last);
    }

    /** Puts {@code n} Gs behind {@code before}, or at the head if that is 0. */
    private static void insert(long sched, long before, long first, long last, int n) {
        long next = before == 0 ? HEAD.get(sched) : G.schedlink(before);
        G.setSchedlink(last, next);
        if (before == 0) {
            HEAD.set(sched, first);
        } else {
            G.setSchedlink(before, first);
        }
        if (next == 0) {
            TAIL.set(sched, last);
        }
        Schedt.setRunqsizeOpaque(sched, Schedt.runqsizeOpaque(sched) + n);
    }

    /** Puts {@code n} Gs, linked from {@code first} to {@code last}, at the tail; under the lock. */
    public static void globrunqputbatch(long sched, long first, long last, int n) {
        G.setSchedlink(last, 0);
        long tail = TAIL.get(sched);
        if (tail == 0) {
            HEAD.set(sched, first);
        } else {
            G.setSchedlink(tail, first);
        }
        TAIL.set(sched, last);
        Schedt.setRunqsizeOpaque(sched, Schedt.runqsizeOpaque(sched) + n);
    }

    /**
     * Takes a fair share for {@code pp}: one G to run now, the others into its ring; under the lock, by the P's owner. A G that was
     * preempted at the end of its time slice is taken alone: with several such Gs in the ring, whatever becomes ready meanwhile would
     * wait behind all of them. (In Go it does.)
     *
     * @param max at most so many; 0 for no limit but the share and half a ring
     * @return 0 when the queue is empty
     */
    public static long globrunqget(long sched, long pp, int max) {
        int size = Schedt.runqsizeOpaque(sched);
        if (size == 0) {
            return 0;
        }
        int n = Math.min(size / Schedt.gomaxprocsOpaque(sched) + 1, size);
        if (max > 0) {
            n = Math.min(n, max);
        }
        n = Runq.SHARED ? 1 : Math.min(n, Runq.LEN / 2);
        long gp = pop(sched);
        if (gp == 0) {
            throw Throw.of("sched.runqsize != 0 but globrunqget returned nil");
        }
        long batch = 0;
        long last = 0;
        int taken = 1;
        for (; taken < n && G.preemptOpaque(gp) == 0 && G.preemptOpaque(HEAD.get(sched)) == 0; taken++) {
            long g = pop(sched);
            if (last == 0) {
                batch = g;
            } else {
                G.setSchedlink(last, g);
            }
            last = g;
        }
        if (last != 0) {
            G.setSchedlink(last, 0);
            Runq.runqpushlist(pp, batch, taken - 1);
        }
        PStat.NGLOBAL.addOpaque(pp, 1);
        return gp;
    }

    /** Takes the head; 0 when empty; under the lock. */
    public static long pop(long sched) {
        long gp = HEAD.get(sched);
        if (gp != 0) {
            remove(sched, 0, gp);
        }
        return gp;
    }

    /** Takes the first G that is locked to a thread, 0 when none is; the others stay in their order. Under the lock. */
    public static long popLocked(long sched) {
        long before = 0;
        long gp = HEAD.get(sched);
        while (gp != 0 && G.lockedm(gp) == 0) {
            before = gp;
            gp = G.schedlink(gp);
        }
        if (before == 0) {
            return pop(sched);
        }
        if (gp != 0) {
            remove(sched, before, gp);
        }
        return gp;
    }

    /** Takes {@code gp} out, which stands behind {@code before}, or at the head if that is 0. */
    private static void remove(long sched, long before, long gp) {
        long next = G.schedlink(gp);
        if (before == 0) {
            HEAD.set(sched, next);
        } else {
            G.setSchedlink(before, next);
        }
        if (next == 0) {
            TAIL.set(sched, before);
        }
        if (gp == Schedt.runqpolledOpaque(sched)) {
            Schedt.setRunqpolledOpaque(sched, before); // Whatever is in front of it comes before what is found next.
        }
        G.setSchedlink(gp, 0);
        Schedt.setRunqsizeOpaque(sched, Schedt.runqsizeOpaque(sched) - 1);
    }

    /** The head, for checkers: under the lock, then by schedlink. */
    public static long head(long sched) {
        return HEAD.get(sched);
    }

    /** The tail, for checkers: under the lock. */
    public static long tail(long sched) {
        return TAIL.get(sched);
    }
}
