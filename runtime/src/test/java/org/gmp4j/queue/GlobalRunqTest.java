// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.LongStream;

import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.policy.Turns;
import org.gmp4j.struct.G;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;
import org.gmp4j.testing.NoHalt;
import org.gmp4j.testing.Raw;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("ring")
@ExtendWith(NoHalt.class)
class GlobalRunqTest {
    @Test
    void firstInFirstOutWithAWayToTheFront() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = {f.runnable(), f.runnable(), f.runnable(), f.runnable(), f.runnable()};
            assertEquals(0, GlobalRunq.pop(f.sched));
            GlobalRunq.globrunqput(f.sched, g[1]);
            GlobalRunq.globrunqputhead(f.sched, g[0]);
            G.SCHEDLINK.set(g[2], g[3]);
            GlobalRunq.globrunqputbatch(f.sched, g[2], g[3], 2);
            GlobalRunq.globrunqput(f.sched, g[4]);
            assertEquals(5, Schedt.RUNQSIZE.getOpaque(f.sched));
            for (long expected : g) {
                assertEquals(f.name(expected), f.name(GlobalRunq.pop(f.sched)));
                assertEquals(0, G.SCHEDLINK.get(expected));
            }
            assertEquals(0, Schedt.RUNQSIZE.getOpaque(f.sched));
            assertEquals(0, GlobalRunq.tail(GlobalRunq.common(f.sched)));
            GlobalRunq.globrunqputhead(f.sched, g[0]);
            assertEquals(g[0], GlobalRunq.tail(GlobalRunq.common(f.sched)));
            GlobalRunq.globrunqput(f.sched, g[1]);
            assertEquals(g[0], GlobalRunq.pop(f.sched));
            assertEquals(g[1], GlobalRunq.pop(f.sched));
        }
    }

    /** One that is locked to a thread is taken from wherever it stands, the others stay in their order. */
    @Test
    void lockedFirst() {
        for (int at = 0; at < 4; at++) {
            try (FakeSched f = new FakeSched(1)) {
                assertEquals(0, GlobalRunq.popLocked(f.sched));
                long[] g = {f.runnable(), f.runnable(), f.runnable(), f.runnable()};
                for (long gp : g) {
                    GlobalRunq.globrunqput(f.sched, gp);
                }
                assertEquals(0, GlobalRunq.popLocked(f.sched));
                G.LOCKEDM.setOpaque(g[at], 1);
                assertEquals(f.name(g[at]), f.name(GlobalRunq.popLocked(f.sched)));
                G.LOCKEDM.setOpaque(g[at], 0);
                GlobalRunq.globrunqput(f.sched, g[at]);
                assertEquals(4, Schedt.RUNQSIZE.getOpaque(f.sched));
                for (int i = 0; i < 4; i++) {
                    if (i != at) {
                        assertEquals(f.name(g[i]), f.name(GlobalRunq.pop(f.sched)));
                    }
                }
                assertEquals(f.name(g[at]), f.name(GlobalRunq.pop(f.sched)));
                assertEquals(0, GlobalRunq.tail(GlobalRunq.common(f.sched)));
            }
        }
    }

    /** What the poller found comes first, in the order in which it was found, whatever was taken out meanwhile. */
    @Test
    void polledBeforeAllOthersInOrder() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = new long[8];
            for (int i = 0; i < g.length; i++) {
                g[i] = f.runnable();
            }
            GlobalRunq.globrunqput(f.sched, g[6]);
            G.SCHEDLINK.set(g[0], g[1]);
            GlobalRunq.globrunqputpolled(f.sched, g[0], g[1], 2);
            GlobalRunq.globrunqputpolled(f.sched, g[2], g[2], 1);
            GlobalRunq.globrunqput(f.sched, g[7]);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.pop(f.sched)));
            GlobalRunq.globrunqputpolled(f.sched, g[3], g[3], 1);
            G.LOCKEDM.setOpaque(g[3], 1);
            assertEquals(f.name(g[3]), f.name(GlobalRunq.popLocked(f.sched))); // The last that was found.
            G.LOCKEDM.setOpaque(g[3], 0);
            GlobalRunq.globrunqputpolled(f.sched, g[3], g[3], 1);
            for (int i = 1; i < 4; i++) {
                assertEquals(f.name(g[i]), f.name(GlobalRunq.pop(f.sched)));
            }
            GlobalRunq.globrunqputpolled(f.sched, g[4], g[4], 1); // All that were found before are gone.
            GlobalRunq.globrunqputpolled(f.sched, g[5], g[5], 1);
            for (int i = 4; i < 8; i++) {
                assertEquals(f.name(g[i]), f.name(GlobalRunq.pop(f.sched)));
            }
            assertEquals(0, Schedt.RUNQSIZE.getOpaque(f.sched));
            assertEquals(0, GlobalRunq.tail(GlobalRunq.common(f.sched)));
            GlobalRunq.globrunqputpolled(f.sched, g[0], g[0], 1);
            GlobalRunq.globrunqput(f.sched, g[1]);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.pop(f.sched)));
            assertEquals(f.name(g[1]), f.name(GlobalRunq.pop(f.sched)));
        }
    }

    /** Those that the poller did not find have a turn before those that it did; both are counted apart. */
    @Test
    void theTurnOfThoseBehindThePolled() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = {f.runnable(), f.runnable(), f.runnable(), f.runnable()};
            long pp = f.ps[0];
            GlobalRunq.globrunqput(f.sched, g[1]);
            GlobalRunq.globrunqput(f.sched, g[3]);
            GlobalRunq.globrunqputpolled(f.sched, g[0], g[0], 1);
            GlobalRunq.globrunqputpolled(f.sched, g[2], g[2], 1);
            P.GLOBALDUE.setOpaque(pp, 1);
            assertEquals(f.name(g[1]), f.name(GlobalRunq.globrunqturn(f.sched, pp)));
            assertEquals(0, P.GLOBALDUE.getOpaque(pp));
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqget(f.sched, pp, 1)));
            assertEquals(f.name(g[3]), f.name(GlobalRunq.globrunqturn(f.sched, pp)));
            assertEquals(g[2], GlobalRunq.tail(GlobalRunq.common(f.sched)));
            P.GLOBALDUE.setOpaque(pp, 1);
            assertEquals(f.name(g[2]), f.name(GlobalRunq.globrunqturn(f.sched, pp)), "none but what the poller found");
            assertEquals(0, P.GLOBALDUE.getOpaque(pp), "one turn, whoever had it");
            assertEquals(0, GlobalRunq.globrunqturn(f.sched, pp));
            assertEquals(2, PStat.NGLOBAL.getOpaque(pp));
            assertEquals(2, PStat.NPOLLED.getOpaque(pp));
        }
    }

    /** When it is the turn of what the poller found, the P takes its share of that, and nothing else; else it goes on with its own. */
    @Test
    void theTurnOfThePolled() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = {f.runnable(), f.runnable(), f.runnable()};
            long pp = f.ps[0];
            GlobalRunq.globrunqput(f.sched, g[2]);
            GlobalRunq.globrunqputpolled(f.sched, g[0], g[0], 1);
            GlobalRunq.globrunqputpolled(f.sched, g[1], g[1], 1);
            P.GLOBALDUE.setOpaque(pp, Turns.POLLED_DUE);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqturn(f.sched, pp)));
            assertEquals(Turns.NOT_DUE, P.GLOBALDUE.getOpaque(pp));
            assertEquals(f.name(g[1]), f.name(Runq.runqget(pp)));
            assertEquals(0, Runq.size(pp));
            P.GLOBALDUE.setOpaque(pp, Turns.POLLED_DUE);
            assertEquals(0, GlobalRunq.globrunqturn(f.sched, pp), "others are not meant");
            assertEquals(Turns.NOT_DUE, P.GLOBALDUE.getOpaque(pp));
            P.GLOBALDUE.setOpaque(pp, Turns.DUE);
            assertEquals(f.name(g[2]), f.name(GlobalRunq.globrunqget(f.sched, pp, 0)));
            assertEquals(Turns.NOT_DUE, P.GLOBALDUE.getOpaque(pp), "that was the turn");
        }
    }

    /** Ahead of those that were preempted: a share of the first others, which take nobody's turn. */
    @Test
    void aheadOfThoseThatWerePreempted() {
        try (FakeSched f = new FakeSched(1)) {
            long pp = f.ps[0];
            long[] g = {f.runnable(), f.runnable(), f.runnable(), f.runnable(), f.runnable()};
            for (long gp : g) {
                GlobalRunq.globrunqput(f.sched, gp);
            }
            G.PREEMPT.setOpaque(g[0], 1);
            G.PREEMPT.setOpaque(g[3], 1);
            P.GLOBALDUE.setOpaque(pp, Turns.DUE);
            assertEquals(f.name(g[1]), f.name(GlobalRunq.globrunqgetahead(f.sched, pp, true)));
            assertEquals(f.name(g[2]), f.name(Runq.runqget(pp)));
            assertEquals(0, Runq.size(pp));
            assertEquals(f.name(g[4]), f.name(GlobalRunq.globrunqgetahead(f.sched, pp, true)));
            assertEquals(g[3], GlobalRunq.tail(GlobalRunq.common(f.sched)));
            assertEquals(0, GlobalRunq.globrunqgetahead(f.sched, pp, true));
            assertEquals(Turns.DUE, P.GLOBALDUE.getOpaque(pp));
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqturn(f.sched, pp)));
            assertEquals(f.name(g[3]), f.name(GlobalRunq.globrunqget(f.sched, pp, 0)));
            assertEquals(0, GlobalRunq.globrunqgetahead(f.sched, pp, true));
        }
    }

    /** One that was preempted is run alone, whatever stands behind it. */
    @Test
    void thePreemptedAlone() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = {f.runnable(), f.runnable()};
            GlobalRunq.globrunqput(f.sched, g[0]);
            GlobalRunq.globrunqput(f.sched, g[1]);
            G.PREEMPT.setOpaque(g[0], 1);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqget(f.sched, f.ps[0], 0)));
            assertEquals(0, Runq.size(f.ps[0]));
        }
    }

    /** What is in runnext has had its slice: it stands at the end of the queue, as one that was preempted, and others pass it. */
    @Test
    void aheadOfRunnext() {
        try (FakeSched f = new FakeSched(1)) {
            long pp = f.ps[0];
            long[] g = LongStream.generate(f::runnable).limit(3).toArray();
            long[] next = {f.runnable(), f.runnable()};
            for (int i = 0; i < Runq.LEN - 2; i++) {
                Runq.runqput(f.sched, pp, f.runnable(), false);
            }
            GlobalRunq.globrunqput(f.sched, g[0]);
            GlobalRunq.globrunqput(f.sched, g[1]);
            Runq.runqput(f.sched, pp, next[0], true);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqgetahead(f.sched, pp, true)));
            assertEquals(Runq.LEN - 1, Runq.size(pp)); // With the second.
            assertEquals(0, Runq.runnext(pp));
            assertEquals(f.name(next[0]), f.name(GlobalRunq.tail(GlobalRunq.common(f.sched))));
            GlobalRunq.globrunqput(f.sched, g[2]);
            Runq.runqput(f.sched, pp, next[1], true);
            assertEquals(f.name(g[2]), f.name(GlobalRunq.globrunqgetahead(f.sched, pp, true)));
            assertEquals(0, GlobalRunq.globrunqgetahead(f.sched, pp, true));
            assertEquals(f.name(next[0]), f.name(GlobalRunq.pop(f.sched)));
            assertEquals(f.name(next[1]), f.name(GlobalRunq.pop(f.sched)));
            assertEquals(Runq.LEN - 1, Runq.size(pp));
        }
    }

    /** In a slice that has just begun it stands at the end of the ring, if that has room. */
    @Test
    void aheadOfRunnextThatHasJustCome() {
        try (FakeSched f = new FakeSched(1)) {
            long pp = f.ps[0];
            long[] g = LongStream.generate(f::runnable).limit(2).toArray();
            long[] next = {f.runnable(), f.runnable()};
            for (int i = 0; i < Runq.LEN - 1; i++) {
                Runq.runqput(f.sched, pp, f.runnable(), false);
            }
            GlobalRunq.globrunqput(f.sched, g[0]);
            Runq.runqput(f.sched, pp, next[0], true);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqgetahead(f.sched, pp, false)));
            assertEquals(Runq.LEN, Runq.size(pp));
            assertEquals(0, G.PREEMPT.getOpaque(next[0]));
            GlobalRunq.globrunqput(f.sched, g[1]);
            Runq.runqput(f.sched, pp, next[1], true);
            assertEquals(f.name(g[1]), f.name(GlobalRunq.globrunqgetahead(f.sched, pp, false)));
            assertEquals(f.name(next[1]), f.name(GlobalRunq.pop(f.sched)));
            assertEquals(1, G.PREEMPT.getOpaque(next[1]));
        }
    }

    /** What the poller found is the first of them; what it finds next still stands before the others. */
    @Test
    void thePolledAhead() {
        try (FakeSched f = new FakeSched(2)) {
            long[] g = {f.runnable(), f.runnable(), f.runnable()};
            GlobalRunq.globrunqput(f.sched, g[2]);
            GlobalRunq.globrunqputpolled(f.sched, g[0], g[0], 1);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqgetahead(f.sched, f.ps[0], true)));
            assertEquals(f.name(g[2]), f.name(Runq.runqget(f.ps[0])));
            GlobalRunq.globrunqput(f.sched, g[2]);
            GlobalRunq.globrunqputpolled(f.sched, g[1], g[1], 1);
            assertEquals(f.name(g[1]), f.name(GlobalRunq.pop(f.sched)));
        }
    }

    /** The lock is not held for as long as the queue is. */
    @Test
    void notAheadOfAnyNumber() {
        try (FakeSched f = new FakeSched(1)) {
            for (int i = 0; i <= Turns.MOST_PASSED; i++) {
                long gp = f.runnable();
                GlobalRunq.globrunqput(f.sched, gp);
                G.PREEMPT.setOpaque(gp, 1);
            }
            GlobalRunq.globrunqput(f.sched, f.runnable());
            assertEquals(0, GlobalRunq.globrunqgetahead(f.sched, f.ps[0], true));
            long _ = GlobalRunq.pop(f.sched);
            assertTrue(GlobalRunq.globrunqgetahead(f.sched, f.ps[0], true) != 0);
        }
    }

    /** With short slices the queue has its turn by their number long before sysmon finds it due. */
    @Test
    void theTurnsByNumberAlternate() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = {f.runnable(), f.runnable()};
            long pp = f.ps[0];
            int first = 61;
            for (int i = 0; i < 2; i++) {
                GlobalRunq.globrunqput(f.sched, g[1]);
                GlobalRunq.globrunqputpolled(f.sched, g[0], g[0], 1);
                P.SCHEDTICK.setOpaque(pp, first + i * 61);
                long turn = GlobalRunq.globrunqturn(f.sched, pp);
                assertEquals(f.name(g[i]), f.name(turn));
                assertEquals(f.name(g[1 - i]), f.name(GlobalRunq.globrunqget(f.sched, pp, 1)));
            }
        }
    }

    /** It takes no more of them than its ring has room for: it has its own work, which is why they wait. */
    @Test
    void theTurnOfThePolledWithAFullRing() {
        try (FakeSched f = new FakeSched(1)) {
            long pp = f.ps[0];
            for (int i = 0; i < Runq.LEN - 1; i++) {
                Runq.runqput(f.sched, pp, f.runnable(), false);
            }
            for (int i = 0; i < Runq.LEN; i++) {
                long gp = f.runnable();
                GlobalRunq.globrunqputpolled(f.sched, gp, gp, 1);
            }
            P.GLOBALDUE.setOpaque(pp, Turns.POLLED_DUE);
            assertEquals(Runq.LEN - 1, f.name(GlobalRunq.globrunqturn(f.sched, pp)));
            assertEquals(Runq.LEN, Runq.size(pp));
            P.GLOBALDUE.setOpaque(pp, Turns.POLLED_DUE);
            assertEquals(Runq.LEN + 1, f.name(GlobalRunq.globrunqturn(f.sched, pp)));
            assertEquals(Runq.LEN, Runq.size(pp));
            assertEquals(Runq.LEN - 3, Schedt.RUNQSIZE.getOpaque(f.sched));
        }
    }

    /** A P takes its share of what is there and one more, but at most four, and at most what it asked for. */
    @Test
    void fairShare() {
        for (int procs = 1; procs <= 4; procs++) {
            for (int size = 0; size <= 4 * Turns.MOST_TAKEN; size++) {
                for (int max : new int[] {0, 1, 3}) {
                    try (FakeSched f = new FakeSched(procs)) {
                        for (int i = 0; i < size; i++) {
                            GlobalRunq.globrunqput(f.sched, f.runnable());
                        }
                        int share = Math.min(Math.min(size, size / procs + 1), Turns.MOST_TAKEN);
                        int n = max == 0 ? share : Math.min(share, max);
                        long gp = GlobalRunq.globrunqget(f.sched, f.ps[0], max);
                        assertEquals(size == 0 ? -1 : 0, f.name(gp));
                        assertEquals(size - n, Schedt.RUNQSIZE.getOpaque(f.sched));
                        assertEquals(Math.max(0, n - 1), Runq.size(f.ps[0]));
                        for (int i = 1; i < n; i++) {
                            assertEquals(i, f.name(Runq.runqget(f.ps[0])));
                        }
                    }
                }
            }
        }
    }

    @Test
    void aSizeThatLiesIsFound() {
        try (FakeSched f = new FakeSched(1)) {
            Raw.setInt(schedt.layout(), "runqsize", f.sched, 1);
            Throw t = assertThrows(Throw.class, () -> GlobalRunq.globrunqget(f.sched, f.ps[0], 0));
            assertEquals("sched.runqsize != 0 but globrunqget returned nil", t.getMessage());
        }
    }

    @Test
    void aListThatDoesNotFitIsFound() {
        try (FakeSched f = new FakeSched(1)) {
            for (int i = 0; i < Runq.LEN; i++) {
                Runq.runqput(f.sched, f.ps[0], f.runnable(), false);
            }
            assertThrows(Throw.class, () -> Runq.runqpushlist(f.ps[0], f.runnable(), 1));
        }
    }
}
