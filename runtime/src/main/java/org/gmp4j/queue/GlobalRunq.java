// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.policy.Turns;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.struct.Throw;

/**
 * The global run queue: two lists of runnable Gs, linked by schedlink, under {@code sched.lock} (R7). {@code sched.arrived} has the Gs that
 * threads without a P made runnable, and {@code sched.runq} the Gs that were preempted, have yielded, or overflowed a ring. {@link Turns}
 * decides from which list a P takes, and which Gs of {@code sched.arrived} go ahead of others. Apart from that each list is first in, first
 * out. A scheduler may be configured to have one more list for each NUMA node ({@link NodeQueues}).
 *
 * <p>{@code runqsize} counts the Gs of all lists together. It is written under the lock, and read without the lock as a hint. An M that
 * reads 0 while another thread adds a G searches elsewhere, and reads {@code runqsize} again under the lock before it sleeps.
 */
public final class GlobalRunq {
    private static final long RUNQ = Struct.SCHEDT.offset("runq");
    private static final long ARRIVED = Struct.SCHEDT.offset("arrived");
    private static final long HEAD = Struct.GQUEUE.offset("head");
    private static final long TAIL = Struct.GQUEUE.offset("tail");

    private GlobalRunq() {
    }

    /** Returns the address of {@code sched.runq}. */
    public static long common(long sched) {
        return sched + RUNQ;
    }

    /** Returns the address of {@code sched.arrived}. */
    public static long arrived(long sched) {
        return sched + ARRIVED;
    }

    /** Returns whether {@code sched.arrived} has a G: a hint for a caller without the lock. */
    public static boolean anyArrived(long sched) {
        return Mem.LONG.getOpaque(arrived(sched) + HEAD) != 0;
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

    /** Puts a G that would have run next at the head of {@code sched.arrived}. The caller holds the lock. */
    public static void globrunqputhead(long sched, long gp) {
        globrunqputbehind(sched, 0, gp);
    }

    /**
     * Puts a woken G into {@code sched.arrived}, behind the G that was woken last. Up to the limit of {@link Turns#goesAhead} it goes ahead
     * of Gs that were not woken. The caller holds the lock, and need not have a P.
     */
    public static void globrunqputahead(long sched, long gp) {
        int ahead = Schedt.NAHEAD.get(sched);
        long before = Schedt.LASTAHEAD.get(sched);
        if (!Turns.goesAhead(ahead)) {
            long other = before == 0 ? head(arrived(sched)) : G.SCHEDLINK.get(before);
            before = other == 0 ? before : other;
            ahead = 0;
        }
        Schedt.NAHEAD.set(sched, ahead + 1);
        globrunqputbehind(sched, before, gp);
        Schedt.LASTAHEAD.set(sched, gp);
    }

    /**
     * Puts a G into {@code sched.arrived} behind the G {@code before}, or at the head if {@code before} is 0. The caller holds the lock.
     */
    public static void globrunqputbehind(long sched, long before, long gp) {
        long list = arrived(sched);
        long next = before == 0 ? head(list) : G.SCHEDLINK.get(before);
        G.SCHEDLINK.set(gp, next);
        if (before == 0) {
            Mem.LONG.setOpaque(list + HEAD, gp);
        } else {
            G.SCHEDLINK.set(before, gp);
        }
        if (next == 0) {
            Mem.LONG.set(list + TAIL, gp);
        }
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) + 1);
    }

    /** Puts a G at the tail of {@code sched.arrived}. The caller holds the lock, and need not have a P. */
    public static void globrunqputarrived(long sched, long gp) {
        globrunqputarrived(sched, gp, gp, 1);
    }

    /**
     * Puts {@code n} Gs, linked from {@code first} to {@code last}, at the tail of {@code sched.arrived}. The caller holds the lock, and
     * need not have a P.
     */
    public static void globrunqputarrived(long sched, long first, long last, int n) {
        addLast(arrived(sched), first, last);
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
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) + n);
    }

    private static void addLast(long list, long first, long last) {
        G.SCHEDLINK.set(last, 0);
        long tail = tail(list);
        if (tail == 0) {
            Mem.LONG.setOpaque(list + HEAD, first);
        } else {
            G.SCHEDLINK.set(tail, first);
        }
        Mem.LONG.set(list + TAIL, last);
    }

    /** Moves all Gs of the node's list {@code from} to the tail of {@code sched.runq}. */
    static void append(long sched, long from) {
        if (!isEmpty(from)) {
            addLast(common(sched), head(from), tail(from));
            Mem.LONG.set(from + HEAD, 0);
            Mem.LONG.set(from + TAIL, 0);
        }
    }

    /**
     * Takes a G of {@code sched.arrived}, or else of {@code sched.runq} or a node's list. The caller is the P's owner and holds the lock.
     *
     * @return 0 when the queue is empty
     */
    public static long globrunqget(long sched, long pp) {
        if (Schedt.RUNQSIZE.getOpaque(sched) == 0) {
            return 0;
        }
        long gp = globrunqgetarrived(sched, pp);
        return gp != 0 ? gp : take(sched, pp, NodeQueues.choose(Schedt.NODEQ.get(sched), common(sched), pp));
    }

    /** Takes the first G of {@code sched.arrived}. Returns 0 when that list is empty. The caller is the P's owner and holds the lock. */
    public static long globrunqgetarrived(long sched, long pp) {
        long gp = pop(sched, arrived(sched));
        if (gp != 0) {
            PStat.NARRIVED.addOpaque(pp, 1);
        }
        return gp;
    }

    /**
     * Takes one G when {@link Turns} puts {@code sched.runq} first. If {@code sched.runq} and the nodes' lists are empty, takes it from
     * {@code sched.arrived}. Afterwards {@code sched.runq} is no longer due. The caller is the P's owner and holds the lock.
     *
     * @return 0 when the queue is empty
     */
    public static long globrunqturn(long sched, long pp) {
        P.GLOBALDUE.setOpaque(pp, 0);
        if (Schedt.RUNQSIZE.getOpaque(sched) == 0) {
            return 0;
        }
        long list = NodeQueues.choose(Schedt.NODEQ.get(sched), common(sched), pp);
        return take(sched, pp, isEmpty(list) ? arrived(sched) : list);
    }

    /** Takes the first G of a list, which counts as a take from {@code sched.runq}. So {@code sched.runq} is no longer due. */
    private static long take(long sched, long pp, long list) {
        long gp = pop(sched, list);
        if (gp == 0) {
            throw Throw.of("sched.runqsize != 0 but globrunqget returned nil");
        }
        PStat.NGLOBAL.addOpaque(pp, 1);
        P.GLOBALDUE.setOpaque(pp, 0);
        return gp;
    }

    /** Takes the first G of the first list that is not empty; 0 when all are empty. The caller holds the lock. */
    public static long pop(long sched) {
        long arrived = arrived(sched);
        return pop(sched, isEmpty(arrived) ? NodeQueues.any(Schedt.NODEQ.get(sched), common(sched)) : arrived);
    }

    private static long pop(long sched, long list) {
        long gp = head(list);
        if (gp != 0) {
            remove(sched, list, 0, gp);
        }
        return gp;
    }

    /** Takes the first G that is locked to a thread; 0 when there is none. The other Gs stay in their order. The caller holds the lock. */
    public static long popLocked(long sched) {
        long gp = popLocked(sched, arrived(sched));
        gp = gp == 0 ? popLocked(sched, common(sched)) : gp;
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
            Mem.LONG.setOpaque(list + HEAD, next);
        } else {
            G.SCHEDLINK.set(before, next);
        }
        if (next == 0) {
            Mem.LONG.set(list + TAIL, before);
        }
        if (list == arrived(sched)) {
            countAhead(sched, list, before, gp);
        }
        G.SCHEDLINK.set(gp, 0);
        Schedt.RUNQSIZE.setOpaque(sched, Schedt.RUNQSIZE.getOpaque(sched) - 1);
    }

    /** Updates {@code lastahead} and {@code nahead} when {@code gp}, which followed {@code before}, has left {@code sched.arrived}. */
    private static void countAhead(long sched, long list, long before, long gp) {
        long last = Schedt.LASTAHEAD.get(sched);
        if (gp == last) {
            Schedt.LASTAHEAD.set(sched, before);
        }
        if (last == 0 || isEmpty(list)) {
            Schedt.NAHEAD.set(sched, 0); // A G that was not woken has been taken, or the list is empty.
        }
    }
}
