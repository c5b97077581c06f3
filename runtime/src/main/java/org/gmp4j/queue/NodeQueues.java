// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;

/**
 * The lists of the global queue for each NUMA node, if the scheduler is configured to have them. When a ring overflows or a time slice has
 * ended, an M with a P enqueues Gs in the list of the P's node. The Ps of that node take from this list first. Other Gs go to
 * {@code sched.runq} or {@code sched.arrived}. All lists are under {@code sched.lock} and counted in {@code sched.runqsize}. So the check
 * for global work does not change, and the argument in {@code Wakep} holds.
 *
 * <pre>
 *  a P takes from                                          when
 *  one of all these lists and sched.runq, in rotation      at every {@value #IN_TURN}th take of all Ps
 *  the list of its own node                                otherwise, at every second take
 *  sched.runq                                              otherwise
 * </pre>
 *
 * If the list that the table names is empty, the P takes from the list of its own node, {@code sched.runq}, and the lists of the other
 * nodes, in this order. So each of n lists comes first once in {@code n * IN_TURN} takes, and none starves while others are never empty.
 * While {@code sched.arrived} has Gs, a P takes from these lists only when {@link org.gmp4j.policy.Turns} puts {@code sched.runq} first. No
 * M sleeps while one of these lists has a G.
 *
 * <p>Rejected: a lock for each list. After it has given up its P, an M would have to check all lists again, as it checks the rings.
 * Submitters would need a fence. An M that gives up its P or wakes another M takes sched.lock anyway, for the idle lists. So the lists of
 * nodes change on which node a G runs next, but not how long Ms wait for the lock.
 *
 * <p>The lists of a scheduler are in one off-heap block: a head of four words, a record for each node, and for each P the number of the
 * record of its node, 0 for none.
 */
public final class NodeQueues {
    /** One take in this number begins with the next list of the rotation. */
    static final int IN_TURN = 16;

    private static final int WORD = Long.BYTES;
    // The head:
    private static final int LISTS = 0;
    private static final int TAKES = WORD;
    private static final int OLDER = 2 * WORD;
    private static final int BYTES = 3 * WORD;
    private static final int HEAD_BYTES = 4 * WORD;
    /** The size of a record, which is a struct gqueue. */
    private static final int RECORD = 2 * WORD;

    private NodeQueues() {
    }

    /**
     * Makes a block of lists for Ps on these nodes. The caller has to pass the block to {@link #use} or {@link #drop}. Also releases blocks
     * that the scheduler no longer uses. Called by a thread that may replace the block in use.
     *
     * @param nodes the node of each P, -1 for none
     * @return the block; 0 when there are fewer than two nodes
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
            }
        }
        return block;
    }

    /**
     * Makes the scheduler use the lists of {@code block}, or no lists if it is 0. Gs in the old lists go to the end of {@code sched.runq}.
     * Called in a stopped world, under the lock. Allocates nothing.
     */
    public static void use(long sched, long block) {
        long old = Schedt.NODEQ.get(sched);
        for (int i = 1; i <= lists(old); i++) {
            GlobalRunq.append(sched, list(old, i));
        }
        if (block != 0) {
            Mem.LONG.set(block + OLDER, old);
            Schedt.NODEQ.set(sched, block);
        } else if (old != 0) {
            Mem.LONG.set(old + LISTS, 0); // The block stays, so that release finds it and the older blocks.
        }
    }

    /** Releases a block of {@link #make} that is not in use. */
    public static void drop(long block) {
        if (block != 0) {
            Memory.unmap(block, Mem.LONG.get(block + BYTES));
        }
    }

    /** Releases all blocks. Called when all lists are empty and no M of the scheduler lives. */
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
                return; // There is no memory for the call's objects, and a page or two stay mapped.
            }
            block = older;
        }
    }

    /** Returns the number of lists besides {@code sched.runq}. */
    public static int lists(long block) {
        return block == 0 ? 0 : (int) Mem.LONG.get(block + LISTS);
    }

    /** Returns the list number {@code i}, counted from 1, as the address of a {@code struct gqueue}. */
    public static long list(long block, int i) {
        return block + HEAD_BYTES + (long) (i - 1) * RECORD;
    }

    private static long numberOf(long block, int p) {
        return block + HEAD_BYTES + lists(block) * RECORD + (long) p * WORD;
    }

    /** Returns the list on which an M with this P puts Gs; {@code common} when the P's node has no list. */
    static long of(long block, long common, long pp) {
        int i = lists(block) == 0 ? 0 : (int) Mem.LONG.get(numberOf(block, P.ID.get(pp)));
        return i == 0 ? common : list(block, i);
    }

    /** Returns the list from which this P takes now: a list that is not empty, or {@code common} if all are empty. */
    static long choose(long block, long common, long pp) {
        int lists = lists(block);
        if (lists == 0) {
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

    /** Returns a list that is not empty; {@code common} when all are empty. */
    static long any(long block, long common) {
        for (int i = 1; i <= lists(block) && GlobalRunq.isEmpty(common); i++) {
            if (!GlobalRunq.isEmpty(list(block, i))) {
                return list(block, i);
            }
        }
        return common;
    }
}
