// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.struct.G;
import org.gmp4j.struct.Schedt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The global queue with a list for each node: Ps 0 and 2 are on one, 1 and 3 on another, 4 is on no node. */
class NodeQueuesTest {
    private static final int[] NODES = {3, 0, 3, 0, -1};

    private final FakeSched f = new FakeSched(NODES.length);

    private void use() {
        NodeQueues.use(f.sched, NodeQueues.make(f.sched, NODES));
        assertNotEquals(0, Schedt.NODEQ.get(f.sched));
    }

    @AfterEach
    void end() {
        while (GlobalRunq.pop(f.sched) != 0) {
            assertTrue(Schedt.RUNQSIZE.getOpaque(f.sched) >= 0);
        }
        NodeQueues.release(f.sched);
        f.close();
    }

    /** So many Gs, queued by an M with this P; -1 for none. */
    private List<Long> put(int p, int n) {
        List<Long> gs = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            long gp = f.runnable();
            gs.add(gp);
            if (p < 0) {
                GlobalRunq.globrunqput(f.sched, gp);
            } else {
                GlobalRunq.globrunqput(f.sched, f.ps[p], gp);
            }
        }
        return gs;
    }

    private long take(int p) {
        return GlobalRunq.globrunqturn(f.sched, f.ps[p]);
    }

    @Test
    void ownNodeFirst() {
        use();
        List<Long> here = put(0, 20);
        List<Long> there = put(1, 20);
        for (int i = 1; i < NodeQueues.IN_TURN; i++) {
            List<Long> from = i % 3 == 0 ? there : here;
            assertEquals(from.removeFirst(), take(i % 3 == 0 ? 3 : i % 3 == 1 ? 0 : 2), "take " + i);
        }
        assertEquals(here.removeFirst(), take(3), "the first list's turn");
    }

    /** Each list is looked at in turn, though the P's own never runs empty. */
    @Test
    void noneStarves() {
        use();
        long far = put(0, 1).getFirst();
        long common = put(-1, 1).getFirst();
        List<Long> own = put(1, 1);
        int takesOfFar = 0;
        int takesOfCommon = 0;
        for (int i = 1; i <= 3 * NodeQueues.IN_TURN; i++) {
            long gp = take(1);
            takesOfFar = gp == far ? i : takesOfFar;
            takesOfCommon = gp == common ? i : takesOfCommon;
            own.addAll(put(1, 1));
        }
        assertEquals(2, takesOfCommon);
        assertEquals(NodeQueues.IN_TURN, takesOfFar);
    }

    /** A P without nearby work takes any, so no G waits while a P searches. */
    @Test
    void anyPTakesAll() {
        use();
        for (int p = 0; p < NODES.length; p++) {
            for (int from = -1; from < NODES.length; from++) {
                long gp = put(from, 1).getFirst();
                assertEquals(gp, take(p), "P" + p + " of " + from);
                assertEquals(0, take(p));
            }
        }
    }

    /** A P without Gs takes what has arrived before what waits at its node. The turn of sched.runq is also that of the nodes. */
    @Test
    void whatHasArrived() {
        use();
        List<Long> own = put(0, 2);
        for (int i = 0; i < 3 * NodeQueues.IN_TURN; i++) {
            long gp = f.runnable();
            GlobalRunq.globrunqputarrived(f.sched, gp);
            assertEquals(gp, GlobalRunq.globrunqget(f.sched, f.ps[0]));
        }
        long gp = f.runnable();
        GlobalRunq.globrunqputarrived(f.sched, gp);
        assertEquals(own.getFirst(), take(0));
        assertEquals(own.getLast(), take(0));
        assertEquals(gp, take(0));
        assertEquals(0, take(0));
    }

    @Test
    void lockedInAListOfANode() {
        use();
        put(-1, 2);
        List<Long> gs = put(1, 3);
        G.LOCKEDM.setOpaque(gs.get(1), 1);
        assertEquals(gs.get(1), GlobalRunq.popLocked(f.sched));
        G.LOCKEDM.setOpaque(gs.get(1), 0);
        assertEquals(0, GlobalRunq.popLocked(f.sched));
        assertEquals(4, Schedt.RUNQSIZE.getOpaque(f.sched));
        long list = NodeQueues.list(Schedt.NODEQ.get(f.sched), 2);
        assertEquals(List.of(gs.getFirst(), gs.getLast()), List.of(GlobalRunq.head(list), GlobalRunq.tail(list)));
    }

    /** Other Ps, or other places: what is in the lists is in sched.runq then, behind what is there. */
    @Test
    void dealtAgain() {
        use();
        List<Long> all = new ArrayList<>(put(-1, 2));
        List<Long> second = put(1, 2);
        all.addAll(put(0, 2));
        all.addAll(second);
        use();
        assertEquals(6, Schedt.RUNQSIZE.getOpaque(f.sched));
        List<Long> fresh = put(0, 1);
        NodeQueues.use(f.sched, NodeQueues.make(f.sched, new int[] {1, 1, 1, 1, 1})); // One node: no lists.
        all.addAll(fresh);
        long last = put(0, 1).getFirst();
        all.add(last);
        assertEquals(last, GlobalRunq.tail(GlobalRunq.common(f.sched)));
        for (long gp : all) {
            assertEquals(f.name(gp), f.name(take(0)));
        }
        assertEquals(0, Schedt.RUNQSIZE.getOpaque(f.sched));
    }

    @Test
    void oneNodeHasNoLists() {
        assertEquals(0, NodeQueues.make(f.sched, new int[] {2, 2, -1}));
        assertEquals(0, NodeQueues.make(f.sched, new int[] {-1, -1}));
    }
}
