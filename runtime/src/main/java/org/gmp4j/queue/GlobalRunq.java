// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.ffi.gmp.gqueue;
import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.policy.Turns;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * The global run queue: a list of runnable Gs, linked by schedlink, under {@code sched.lock} (R7). A scheduler may be configured to have
 * one more list for each NUMA node ({@link NodeQueues}).
 *
 * <p>The head of {@code sched.runq} holds the Gs that the network poller found, in the order in which it found them ({@link
 * #globrunqputpolled}), and the Gs that {@link #globrunqputhead} has put in front of them. {@code runqpolled} is the last G of this
 * part, behind which the poller's next Gs go, or 0 when the part is empty. If each batch went to the very head, the first G to arrive
 * would wait for all that arrive later.
 *
 * <p>{@code runqsize} counts the Gs of all lists together. It is written under the lock, and read without the lock as a hint: an M
 * that reads 0 while another thread adds a G goes on to the next place, and reads it again under the lock before it sleeps.
 */
public final class GlobalRunq {
    private static final long RUNQ = Mem.offset(schedt.layout(), "runq");
    private static final long HEAD = Mem.offset(gqueue.layout(), "head");
    private static final long TAIL = Mem.offset(gqueue.layout(), "tail");

    private GlobalRunq() {
    }

    /** Returns the address of {@code sched.runq}. */
    public static long common(long sched) {
        return sched + RUNQ;
    }

    /** Returns the first G of a list; the others follow by schedlink. The caller, which may be a checker, holds the lock. */
    public static long head(long list) {
        return Mem.LONG.get(list + HEAD);
    }

    /** Returns the last G of a list. The caller, which may be a checker, holds the lock. */
    public static long tail(long list) {
        return Mem.LONG.get(list + TAIL);
    }

    static boolean isEmpty(long list) {
        return head(list) == 0;
    }

    /** Puts a G at the tail of {@code sched.runq}. The caller holds the lock, and need not have a P. */
    public static void globrunqput(long sched, long gp) {
        globrunqputbatch(sched, gp, gp, 1);
    }

    /** Puts a G at the tail of the list of {@code pp}'s node. The caller is the P's owner and holds the lock. */
    public static void globrunqput(long sched, long pp, long gp) {
        globrunqputbatch(sched, pp, gp, gp, 1);
    }

    /** Puts a G at the head of {@code sched.runq}. The caller holds the lock. */
    public static void globrunqputhead(long sched, long gp) {
        insert(sched, 0, gp, gp, 1);
    }

    /**
     * Puts {@code n} Gs that the network poller found, linked from {@code first} to {@code last}, behind the Gs that it found earlier
     * and in front of all others. The caller holds the lock.
     */
    public static void globrunqputpolled(long sched, long first, long last, int n) {
        insert(sched, Schedt.RUNQPOLLED.getOpaque(sched), first, last, n);
        Schedt.RUNQPOLLED.setOpaque(sched, last);
    }

    /** Puts {@code n} Gs behind {@code before} in {@code sched.runq}, or at its head if {@code before} is 0. */
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

    /**
     * Puts {@code n} Gs, linked from {@code first} to {@code last}, at the tail of {@code sched.runq}. The caller holds the lock, and
     * need not have a P.
     */
    public static void globrunqputbatch(long sched, long first, long last, int n) {
        addLast(common(sched), first, last);
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) + n);
    }

    /**
     * Puts {@code n} Gs, linked from {@code first} to {@code last}, at the tail of the list of {@code pp}'s node. The caller is the P's
     * owner and holds the lock.
     */
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

    /** Moves all Gs of the node's list {@code from} to the tail of {@code list}, which is {@code sched.runq}. */
    static void append(long list, long from) {
        if (!isEmpty(from)) {
            addLast(list, head(from), tail(from));
            Mem.LONG.set(from + HEAD, 0);
            Mem.LONG.set(from + TAIL, 0);
            NodeQueues.forget(from);
        }
    }

    /**
     * Takes a fair share of Gs for {@code pp}: returns one G to run now, and puts the others into the P's ring. The caller is the P's
     * owner and holds the lock. A G that was preempted at the end of its time slice is taken alone: with several such Gs in the ring, a G
     * that becomes ready meanwhile would wait behind all of them. (In Go it does.) A share that begins with Gs that the poller found
     * contains no others.
     *
     * @param max the most Gs to take; 0 for no limit but the share, {@link Turns#MOST_TAKEN}, and the room in the P's ring
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
     * Moves up to {@code n} Gs that follow {@code before}, or that begin at the head if it is 0, into the P's ring. It stops at the first
     * G that was preempted, and if {@code polled} is set also at the first that the poller did not find.
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

    /** Returns a P's fair share of the Gs in all lists. */
    private static int share(long sched) {
        return Turns.share(Schedt.RUNQSIZE.getOpaque(sched), Schedt.GOMAXPROCS.getOpaque(sched));
    }

    /** Returns how many of {@code n} Gs the P may take. */
    private static int fits(long pp, int n) {
        return Turns.most(n, Runq.LEN - Runq.size(pp));
    }

    /**
     * Takes a share of the first run of consecutive Gs of {@code sched.runq} that were not preempted at the end of their time slices,
     * ahead of preempted Gs in front of them. The preempted ones are not delayed beyond that: {@code p.globaldue} stays as it is, and the
     * caller counts such takes apart. The caller is the P's owner and holds the lock.
     *
     * <p>The G in runnext does not stay there ({@link Turns}): if the slice is old, or the ring is full, it goes to the global queue as if
     * it had been preempted, otherwise to the end of the ring.
     *
     * @param lasts whether the current slice is at least as old as the time for which the P's other Gs had to run
     * @return 0 when there is no such G, or more than {@value Turns#MOST_PASSED} preempted Gs precede it
     */
    public static long globrunqgetahead(long sched, long pp, boolean lasts) {
        long list = common(sched);
        long before = 0;
        long gp = head(list);
        for (int i = 0; gp != 0 && G.PREEMPT.getOpaque(gp) != 0; i++) {
            if (i == Turns.MOST_PASSED) {
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
     * Takes from the part of the queue whose turn it is ({@link Turns#isOfPolled}), and sets {@code p.globaldue} to NOT_DUE. It takes
     * either a share of the Gs that the poller found, or one G that the poller did not find; a share of the former if there are none of the
     * latter. The caller is the P's owner and holds the lock.
     *
     * @return 0 when the part that is due is empty
     */
    public static long globrunqturn(long sched, long pp) {
        long polled = Schedt.RUNQPOLLED.getOpaque(sched);
        int due = P.GLOBALDUE.getOpaque(pp);
        P.GLOBALDUE.setOpaque(pp, Turns.NOT_DUE);
        if (polled == 0) {
            return due == Turns.POLLED_DUE ? 0 : globrunqget(sched, pp, 1); // 0: another P has taken the Gs that the poller found.
        }
        long gp = Turns.isOfPolled(due, P.SCHEDTICK.get(pp)) ? 0 : popBehind(sched, pp, polled);
        if (gp == 0) {
            return globrunqget(sched, pp, 0);
        }
        taken(pp);
        return gp;
    }

    /** Takes the first G behind the last one that the poller found; if there is none, the first G of the list of the P's node. */
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
        P.GLOBALDUE.setOpaque(pp, Turns.NOT_DUE);
    }

    /** Takes the head of {@code sched.runq}, or of a node's list if that is empty. 0 when all are. The caller holds the lock. */
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

    /** Takes the first G that is locked to a thread; 0 when none is. The others stay in their order. The caller holds the lock. */
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

    /** Unlinks {@code gp}, which follows {@code before}, or is the head if {@code before} is 0. */
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
            Schedt.RUNQPOLLED.setOpaque(sched, before); // All Gs in front of it belong to the polled part as well.
        }
        G.SCHEDLINK.set(gp, 0);
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) - 1);
    }
}
