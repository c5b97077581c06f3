// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * The lists that the global queue has besides {@code sched.runq}, one for each NUMA node, when a scheduler is asked for them: a G that
 * an M with a P queues, because its ring overflows or its time slice has ended, goes to the list of the P's node, and is taken by the
 * Ps of that node first. What others queue (the network, threads without a P, system calls that end) stays in {@code sched.runq}. All
 * of it under {@code sched.lock}, and counted in {@code sched.runqsize}, so whoever asks whether there is global work asks as before,
 * and the argument in {@code Wakep} holds.
 *
 * <pre>
 *  a P takes from                                          when
 *  sched.runq                                              its head was found by the network
 *  the lists in turn, sched.runq among them                each {@value #IN_TURN}th take of all
 *  that of its own node                                    else, each other take
 *  sched.runq                                              else
 * </pre>
 *
 * If that is empty: that of its own node, {@code sched.runq}, those of the other nodes, in this order. So of n lists each is looked at
 * first once in {@code n * IN_TURN} takes, and none starves while others never run empty; and nobody sleeps while one has something.
 *
 * <p>Rejected: a lock for each list. An M that gives up its P would have to look at all lists again afterwards, as it does at the
 * rings, and those that queue would need a fence; the lock is taken for the idle lists at the same moments anyway. So what this changes
 * is on which node a G runs next, not how long Ms wait for the lock.
 *
 * <p>A block is off-heap: a head of four words, a record for each node, and for each P the number of its record, 0 for none.
 */
public final class NodeQueues {
    /** Each so many-th take begins with the list whose turn it is. */
    static final int IN_TURN = 16;

    private static final int WORD = Long.BYTES;
    // The head:
    private static final int LISTS = 0;
    private static final int TAKES = WORD;
    private static final int OLDER = 2 * WORD;
    private static final int BYTES = 3 * WORD;
    private static final int HEAD_BYTES = 4 * WORD;
    // A record, which begins as struct gqueue does:
    private static final int SIZE = 2 * WORD;
    private static final int PROCS = 3 * WORD;
    private static final int RECORD = 4 * WORD;

    private NodeQueues() {
    }

    /**
     * A block for Ps on these nodes, to be given to {@link #use} or {@link #drop}. Gives back those that the scheduler does not use any
     * more. By whoever may replace the one that it uses.
     *
     * @param nodes of each P, -1 for none
     * @return 0 when there are not two nodes among them
     */
    public static long make(long sched, int[] nodes) {
        long now = Schedt.NODEQ.get(sched);
        if (now != 0) {
            dropAll(Mem.LONG.get(now + OLDER));
            Mem.LONG.set(now + OLDER, 0);
        }
        int most = -1;
        for (int node : nodes) {
            most = Math.max(most, node);
        }
        int[] number = new int[most + 1];
        int lists = 0;
        for (int node : nodes) {
            if (node >= 0 && number[node] == 0) {
                number[node] = ++lists;
            }
        }
        if (lists < 2) {
            return 0;
        }
        long bytes = HEAD_BYTES + (long) lists * RECORD + (long) nodes.length * WORD;
        long block = Memory.map(bytes);
        Mem.LONG.set(block + LISTS, lists);
        Mem.LONG.set(block + BYTES, bytes);
        for (int p = 0; p < nodes.length; p++) {
            if (nodes[p] >= 0) {
                Mem.LONG.set(numberOf(block, p), number[nodes[p]]);
                long procs = list(block, number[nodes[p]]) + PROCS;
                Mem.LONG.set(procs, Mem.LONG.get(procs) + 1);
            }
        }
        return block;
    }

    /**
     * From here on the scheduler has the lists of {@code block}, or none if that is 0; what was in others goes to the end of
     * {@code sched.runq}. World stopped, under the lock. Needs no memory.
     */
    public static void use(long sched, long block) {
        long old = Schedt.NODEQ.get(sched);
        for (int i = 1; i <= lists(old); i++) {
            GlobalRunq.append(GlobalRunq.common(sched), list(old, i));
        }
        if (block != 0) {
            Mem.LONG.set(block + OLDER, old);
            Schedt.NODEQ.set(sched, block);
        } else if (old != 0) {
            Mem.LONG.set(old + LISTS, 0); // It stays, so that release finds it and those before it.
        }
    }

    /** Gives back what {@link #make} returned and nobody uses. */
    public static void drop(long block) {
        if (block != 0) {
            Memory.unmap(block, Mem.LONG.get(block + BYTES));
        }
    }

    /** Gives back the memory of all lists; they are empty. No M of the scheduler lives. */
    public static void release(long sched) {
        long block = Schedt.NODEQ.get(sched);
        Schedt.NODEQ.set(sched, 0);
        dropAll(block);
    }

    private static void dropAll(long block) {
        while (block != 0) {
            long older = Mem.LONG.get(block + OLDER);
            try {
                drop(block);
            } catch (OutOfMemoryError e) {
                return; // There is no memory for the call's objects: a page or two stay mapped.
            }
            block = older;
        }
    }

    /** How many lists there are besides {@code sched.runq}. */
    public static int lists(long block) {
        return block == 0 ? 0 : (int) Mem.LONG.get(block + LISTS);
    }

    /** List number {@code i}, from 1: as a {@code struct gqueue}. */
    public static long list(long block, int i) {
        return block + HEAD_BYTES + (long) (i - 1) * RECORD;
    }

    private static long numberOf(long block, int p) {
        return block + HEAD_BYTES + lists(block) * RECORD + (long) p * WORD;
    }

    /** The list that an M with this P puts Gs on; {@code common} when there is none for it. */
    static long of(long block, long common, long pp) {
        int i = lists(block) == 0 ? 0 : (int) Mem.LONG.get(numberOf(block, P.ID.get(pp)));
        return i == 0 ? common : list(block, i);
    }

    /** {@code n} more, or fewer, are in a list that is not {@code sched.runq}. */
    static void count(long list, int n) {
        Mem.LONG.set(list + SIZE, Mem.LONG.get(list + SIZE) + n);
    }

    /** The list that this P takes from now; one of them has something. */
    static long choose(long block, long common, long pp, boolean polled) {
        int lists = lists(block);
        if (lists == 0 || polled) {
            return common;
        }
        long takes = Mem.LONG.get(block + TAKES) + 1;
        Mem.LONG.set(block + TAKES, takes);
        long own = of(block, common, pp);
        int turn = (int) (takes / IN_TURN % (lists + 1));
        long first = takes % IN_TURN == 0 ? turn == 0 ? common : list(block, turn) : takes % 2 == 0 ? common : own;
        if (!GlobalRunq.isEmpty(first)) {
            return first;
        }
        if (!GlobalRunq.isEmpty(own)) {
            return own;
        }
        return GlobalRunq.isEmpty(common) ? any(block, common) : common;
    }

    /** One that has something; {@code common} when none has. */
    static long any(long block, long common) {
        for (int i = 1; i <= lists(block) && GlobalRunq.isEmpty(common); i++) {
            if (!GlobalRunq.isEmpty(list(block, i))) {
                return list(block, i);
            }
        }
        return common;
    }

    /** What one of the Ps that take from this list first may take at a time. */
    static int share(long list) {
        return (int) (Mem.LONG.get(list + SIZE) / Mem.LONG.get(list + PROCS)) + 1;
    }

    /** Of a list that is emptied as a whole. */
    static void forget(long list) {
        Mem.LONG.set(list + SIZE, 0);
    }

    /** How many are in a list that is not {@code sched.runq}, for checkers. */
    public static long size(long list) {
        return Mem.LONG.get(list + SIZE);
    }
}
