// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.ffi.gmp.gqueue;
import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * The global run queue: a list of runnable Gs by schedlink under {@code sched.lock} (R7), and where a scheduler is asked for that, one more
 * for each NUMA node: {@link NodeQueues}.
 *
 * <p>At the head of {@code sched.runq} are the Gs that the network poller found, in the order in which it did ({@link
 * #globrunqputpolled}), and those that {@link #globrunqputhead} put there since. {@code runqpolled} is the G behind which the poller's
 * next Gs go; 0 for the head. If each batch went to the very head, the first to come would wait for all that come later.
 *
 * <p>{@code runqsize}, of all lists together, is written under the lock and read without it as a hint: an M that reads 0 while
 * someone adds goes on to the next place, and looks again under the lock before it sleeps.
 */
public final class GlobalRunq {
    private static final long RUNQ = Mem.offset(schedt.layout(), "runq");
    private static final long HEAD = Mem.offset(gqueue.layout(), "head");
    private static final long TAIL = Mem.offset(gqueue.layout(), "tail");

    /** What {@code p.globaldue} says: no turn; the turn of one that the poller did not find; that of a share of those that it found. */
    public static final int NOT_DUE = 0;
    public static final int DUE = 1;
    public static final int POLLED_DUE = 3;

    /** So many Gs that were preempted are passed over at most: the lock is held meanwhile. */
    static final int MOST_PASSED = 64;

    private GlobalRunq() {
    }

    /** Whether it says that there is a turn: 1 or 0. */
    public static int anyDue(int globaldue) {
        return globaldue & 1;
    }

    /** {@code sched.runq}. */
    public static long common(long sched) {
        return sched + RUNQ;
    }

    /** The first of a list, for checkers too: under the lock, then by schedlink. */
    public static long head(long list) {
        return Mem.LONG.get(list + HEAD);
    }

    /** The last of a list, for checkers too: under the lock. */
    public static long tail(long list) {
        return Mem.LONG.get(list + TAIL);
    }

    static boolean isEmpty(long list) {
        return head(list) == 0;
    }

    /** Puts a G at the tail, without a P; under the lock. */
    public static void globrunqput(long sched, long gp) {
        globrunqputbatch(sched, gp, gp, 1);
    }

    /** Puts a G at the tail, for an M with the P {@code pp}; under the lock. */
    public static void globrunqput(long sched, long pp, long gp) {
        globrunqputbatch(sched, pp, gp, gp, 1);
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
        insert(sched, Schedt.RUNQPOLLED.getOpaque(sched), first, last, n);
        Schedt.RUNQPOLLED.setOpaque(sched, last);
    }

    /** Puts {@code n} Gs behind {@code before} in {@code sched.runq}, or at its head if that is 0. */
    private static void insert(long sched, long before, long first, long last, int n) {
        long list = common(sched);
        long next = before == 0 ? head(list) : G.SCHEDLINK.get(before);
        G.SCHEDLINK.set(last, next);
        if (before == 0) {
            Mem.LONG.set(list + HEAD, first);
        } else {
            G.SCHEDLINK.set(before, first);
        }
        if (next == 0) {
            Mem.LONG.set(list + TAIL, last);
        }
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) + n);
    }

    /** Puts {@code n} Gs, linked from {@code first} to {@code last}, at the tail, without a P; under the lock. */
    public static void globrunqputbatch(long sched, long first, long last, int n) {
        addLast(common(sched), first, last);
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) + n);
    }

    /** The same, for an M with the P {@code pp}. */
    public static void globrunqputbatch(long sched, long pp, long first, long last, int n) {
        long list = NodeQueues.of(Schedt.NODEQ.get(sched), common(sched), pp);
        addLast(list, first, last);
        if (list != common(sched)) {
            NodeQueues.count(list, n);
        }
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) + n);
    }

    private static void addLast(long list, long first, long last) {
        G.SCHEDLINK.set(last, 0);
        long tail = tail(list);
        if (tail == 0) {
            Mem.LONG.set(list + HEAD, first);
        } else {
            G.SCHEDLINK.set(tail, first);
        }
        Mem.LONG.set(list + TAIL, last);
    }

    /** Puts all of a list of a node at the tail of another one. */
    static void append(long list, long from) {
        if (!isEmpty(from)) {
            addLast(list, head(from), tail(from));
            Mem.LONG.set(from + HEAD, 0);
            Mem.LONG.set(from + TAIL, 0);
            NodeQueues.forget(from);
        }
    }

    /**
     * Takes a fair share for {@code pp}: one G to run now, the others into its ring; under the lock, by the P's owner. A G that was
     * preempted at the end of its time slice is taken alone: with several such Gs in the ring, whatever becomes ready meanwhile would
     * wait behind all of them. (In Go it does.) A share of those that the poller found has no others in it.
     *
     * @param max at most so many; 0 for no limit but the share, half a ring, and what the P's ring has room for
     * @return 0 when the queue is empty
     */
    public static long globrunqget(long sched, long pp, int max) {
        int size = Schedt.RUNQSIZE.getOpaque(sched);
        if (size == 0) {
            return 0;
        }
        long common = common(sched);
        long list = NodeQueues.choose(Schedt.NODEQ.get(sched), common, pp, Schedt.RUNQPOLLED.getOpaque(sched) != 0);
        int share = list == common ? share(sched) : NodeQueues.share(list);
        int n = fits(pp, Math.min(share, size));
        if (max > 0) {
            n = Math.min(n, max);
        }
        boolean polled = list == common && Schedt.RUNQPOLLED.getOpaque(sched) != 0;
        long gp = pop(sched, list);
        if (gp == 0) {
            throw Throw.of("sched.runqsize != 0 but globrunqget returned nil");
        }
        if (G.PREEMPT.getOpaque(gp) == 0) {
            intoRing(sched, pp, list, 0, n - 1, polled);
        }
        if (polled) {
            PStat.NPOLLED.addOpaque(pp, 1);
        } else {
            taken(pp);
        }
        return gp;
    }

    /**
     * Takes up to {@code n} Gs behind {@code before}, or from the head if that is 0, into the P's ring, up to the first that was preempted;
     * {@code polled}: of those that the poller found alone.
     */
    private static void intoRing(long sched, long pp, long list, long before, int n, boolean polled) {
        long first = 0;
        long last = 0;
        int taken = 0;
        for (; taken < n; taken++) {
            long gp = before == 0 ? head(list) : G.SCHEDLINK.get(before);
            if (gp == 0 || G.PREEMPT.getOpaque(gp) != 0 || polled && Schedt.RUNQPOLLED.getOpaque(sched) == 0) {
                break;
            }
            remove(sched, list, before, gp);
            if (last == 0) {
                first = gp;
            } else {
                G.SCHEDLINK.set(last, gp);
            }
            last = gp;
        }
        if (last != 0) {
            Runq.runqpushlist(pp, first, taken);
        }
    }

    /** A P's part of what is in all lists. */
    private static int share(long sched) {
        return Schedt.RUNQSIZE.getOpaque(sched) / Schedt.GOMAXPROCS.getOpaque(sched) + 1;
    }

    /** How many of {@code n} Gs the P may take: one to run, and what its ring has room for, but no more than half of that. */
    private static int fits(long pp, int n) {
        return Math.min(Math.min(n, Runq.LEN / 2), Runq.LEN - Runq.size(pp) + 1);
    }

    /**
     * Takes a share of the first Gs of {@code sched.runq} that were not preempted at the end of their time slices, as far as they stand
     * together; ahead of those that were, whose turn does not come later for that: {@code p.globaldue} stays as it is, and the caller
     * counts. Under the lock, by the P's owner.
     *
     * <p>What is in runnext must not stay there: it would inherit the slice that begins now, again and again, so that no slice ended, and
     * the ring would wait for ever. If the slice has lasted for as long as others had to run, or the ring is full, it waits as one that
     * was preempted: at the end of the ring goroutines that ready each other would come back before those that were, again and again.
     * Otherwise it has perhaps not run yet, and goes to the end of the ring. (In a slice that has lasted it may be new as well: it would
     * have had no more than the end of that.)
     *
     * @param lasts whether the slice has lasted for so long
     * @return 0 when there is none, or it stands behind more than {@value #MOST_PASSED} others
     */
    public static long globrunqgetahead(long sched, long pp, boolean lasts) {
        long list = common(sched);
        long before = 0;
        long gp = head(list);
        for (int i = 0; gp != 0 && G.PREEMPT.getOpaque(gp) != 0; i++) {
            if (i == MOST_PASSED) {
                return 0;
            }
            before = gp;
            gp = G.SCHEDLINK.get(gp);
        }
        if (gp == 0) {
            return 0;
        }
        int n = fits(pp, share(sched));
        remove(sched, list, before, gp);
        intoRing(sched, pp, list, before, n - 1, false);
        long next = Runq.takeRunnext(pp);
        if (next != 0 && (lasts || !Runq.tryPush(pp, next))) {
            G.PREEMPT.setOpaque(next, 1);
            globrunqput(sched, pp, next);
        }
        return gp;
    }

    /**
     * Takes what has its turn by {@code p.globaldue}, which says NOT_DUE afterwards: a share of what the poller found, or one G of the
     * others. Without others it is a share of what the poller found. In the slices that are the queue's by their number the two take
     * turns: these are multiples of an odd number, so each second one is odd. Under the lock, by the P's owner.
     *
     * @return 0 when there is none that is meant
     */
    public static long globrunqturn(long sched, long pp) {
        long polled = Schedt.RUNQPOLLED.getOpaque(sched);
        int due = P.GLOBALDUE.getOpaque(pp);
        P.GLOBALDUE.setOpaque(pp, NOT_DUE);
        if (polled == 0) {
            return due == POLLED_DUE ? 0 : globrunqget(sched, pp, 1); // 0: another P has taken them.
        }
        boolean ofPolled = due == POLLED_DUE || due == NOT_DUE && (P.SCHEDTICK.get(pp) & 1) != 0;
        long gp = ofPolled ? 0 : popBehind(sched, pp, polled);
        if (gp == 0) {
            return globrunqget(sched, pp, 0);
        }
        taken(pp);
        return gp;
    }

    /** Takes the first behind what the poller found, or that of the P's node. */
    private static long popBehind(long sched, long pp, long polled) {
        long common = common(sched);
        long gp = G.SCHEDLINK.get(polled);
        if (gp != 0) {
            remove(sched, common, polled, gp);
            return gp;
        }
        long own = NodeQueues.of(Schedt.NODEQ.get(sched), common, pp);
        return own == common ? 0 : pop(sched, own);
    }

    private static void taken(long pp) {
        PStat.NGLOBAL.addOpaque(pp, 1);
        P.GLOBALDUE.setOpaque(pp, NOT_DUE);
    }

    /** Takes the head, of {@code sched.runq} if that has one; 0 when all lists are empty; under the lock. */
    public static long pop(long sched) {
        return pop(sched, NodeQueues.any(Schedt.NODEQ.get(sched), common(sched)));
    }

    private static long pop(long sched, long list) {
        long gp = head(list);
        if (gp != 0) {
            remove(sched, list, 0, gp);
        }
        return gp;
    }

    /** Takes the first G that is locked to a thread, 0 when none is; the others stay in their order. Under the lock. */
    public static long popLocked(long sched) {
        long gp = popLocked(sched, common(sched));
        long nodeq = Schedt.NODEQ.get(sched);
        for (int i = 1; gp == 0 && i <= NodeQueues.lists(nodeq); i++) {
            gp = popLocked(sched, NodeQueues.list(nodeq, i));
        }
        return gp;
    }

    private static long popLocked(long sched, long list) {
        long before = 0;
        long gp = head(list);
        while (gp != 0 && G.LOCKEDM.get(gp) == 0) {
            before = gp;
            gp = G.SCHEDLINK.get(gp);
        }
        if (gp != 0) {
            remove(sched, list, before, gp);
        }
        return gp;
    }

    /** Takes {@code gp} out, which stands behind {@code before}, or at the head if that is 0. */
    private static void remove(long sched, long list, long before, long gp) {
        long next = G.SCHEDLINK.get(gp);
        if (before == 0) {
            Mem.LONG.set(list + HEAD, next);
        } else {
            G.SCHEDLINK.set(before, next);
        }
        if (next == 0) {
            Mem.LONG.set(list + TAIL, before);
        }
        if (list != common(sched)) {
            NodeQueues.count(list, -1);
        } else if (gp == Schedt.RUNQPOLLED.getOpaque(sched)) {
            Schedt.RUNQPOLLED.setOpaque(sched, before); // Whatever is in front of it comes before what is found next.
        }
        G.SCHEDLINK.set(gp, 0);
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) - 1);
    }
}
