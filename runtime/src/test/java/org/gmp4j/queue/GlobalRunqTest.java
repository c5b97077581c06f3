// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.LongStream;

import org.gmp4j.struct.G;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.struct.Throw;
import org.gmp4j.testing.NoHalt;
import org.gmp4j.testing.Raw;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("ring")
@ExtendWith(NoHalt.class)
class GlobalRunqTest {
    /** What has arrived precedes what Ps have put off; each list is first in, first out, with a way to the front of the first. */
    @Test
    void firstInFirstOut() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = LongStream.generate(f::runnable).limit(8).toArray();
            assertEquals(0, GlobalRunq.pop(f.sched));
            assertFalse(GlobalRunq.anyArrived(f.sched));
            GlobalRunq.globrunqput(f.sched, g[4]);
            GlobalRunq.globrunqputarrived(f.sched, g[1]);
            GlobalRunq.globrunqputhead(f.sched, g[0]);
            G.SCHEDLINK.set(g[2], g[3]);
            GlobalRunq.globrunqputarrived(f.sched, g[2], g[3], 2);
            G.SCHEDLINK.set(g[5], g[6]);
            GlobalRunq.globrunqputbatch(f.sched, g[5], g[6], 2);
            GlobalRunq.globrunqput(f.sched, g[7]);
            assertEquals(8, Schedt.RUNQSIZE.getOpaque(f.sched));
            for (int i = 0; i < g.length; i++) {
                assertEquals(i < 4, GlobalRunq.anyArrived(f.sched));
                assertEquals(f.name(g[i]), f.name(GlobalRunq.pop(f.sched)));
                assertEquals(0, G.SCHEDLINK.get(g[i]));
            }
            assertEquals(0, Schedt.RUNQSIZE.getOpaque(f.sched));
            assertEquals(0, GlobalRunq.tail(GlobalRunq.common(f.sched)));
            assertEquals(0, GlobalRunq.tail(GlobalRunq.arrived(f.sched)));
            GlobalRunq.globrunqputhead(f.sched, g[0]);
            assertEquals(g[0], GlobalRunq.tail(GlobalRunq.arrived(f.sched)));
            GlobalRunq.globrunqputarrived(f.sched, g[1]);
            assertEquals(g[0], GlobalRunq.pop(f.sched));
            assertEquals(g[1], GlobalRunq.pop(f.sched));
        }
    }

    /** Three that were woken go ahead of each that has arrived otherwise, all in their order. */
    @Test
    void theWokenGoAhead() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = LongStream.generate(f::runnable).limit(12).toArray();
            for (int start : new int[] {3, 7, 10}) {
                GlobalRunq.globrunqputarrived(f.sched, g[start]);
            }
            for (int woken : new int[] {0, 1, 2, 4, 5}) {
                GlobalRunq.globrunqputahead(f.sched, g[woken]);
            }
            GlobalRunq.globrunqput(f.sched, g[11]);
            assertOrder(f, g, 0, 5);
            GlobalRunq.globrunqputahead(f.sched, g[6]);
            GlobalRunq.globrunqputahead(f.sched, g[8]); // Behind g[7], as three went ahead of that.
            assertOrder(f, g, 5, 8);
            GlobalRunq.globrunqputahead(f.sched, g[9]);
            assertOrder(f, g, 8, 12);
            assertEquals(0, Schedt.RUNQSIZE.getOpaque(f.sched));
        }
    }

    /** Woken Gs that were taken count to the limit until another G of the list is taken; a G taken from sched.runq changes nothing. */
    @Test
    void takenOnesCount() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = LongStream.generate(f::runnable).limit(6).toArray();
            GlobalRunq.globrunqputarrived(f.sched, g[3]);
            for (int i = 0; i < 3; i++) {
                GlobalRunq.globrunqputahead(f.sched, g[i]);
                assertOrder(f, g, i, i + 1);
            }
            GlobalRunq.globrunqput(f.sched, g[5]);
            assertEquals(f.name(g[3]), f.name(GlobalRunq.head(GlobalRunq.arrived(f.sched))));
            assertTakenAsLocked(f, g[5]);
            GlobalRunq.globrunqputahead(f.sched, g[4]);
            assertOrder(f, g, 3, 5);
        }
    }

    /** When one of the others was taken, three more may go ahead of the next. */
    @Test
    void oneOfTheOthersBeginsAnew() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = LongStream.generate(f::runnable).limit(8).toArray();
            GlobalRunq.globrunqputarrived(f.sched, g[3]);
            GlobalRunq.globrunqputarrived(f.sched, g[7]);
            for (int i = 0; i < 3; i++) {
                GlobalRunq.globrunqputahead(f.sched, g[i]);
            }
            assertOrder(f, g, 0, 4);
            for (int i = 4; i < 7; i++) {
                GlobalRunq.globrunqputahead(f.sched, g[i]);
            }
            assertOrder(f, g, 4, 8);
        }
    }

    /** Takes a G as one that is locked to a thread. */
    private static void assertTakenAsLocked(FakeSched f, long gp) {
        G.LOCKEDM.setOpaque(gp, 1);
        long taken = GlobalRunq.popLocked(f.sched);
        G.LOCKEDM.setOpaque(gp, 0); // The slots of Gs are used again.
        assertEquals(f.name(gp), f.name(taken));
    }

    /** In an empty list nothing is passed: when all that were woken have been taken, three more may go ahead. */
    @Test
    void anEmptyListForgetsThem() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = LongStream.generate(f::runnable).limit(5).toArray();
            for (int i = 0; i < 3; i++) {
                GlobalRunq.globrunqputahead(f.sched, g[i]);
                assertOrder(f, g, i, i + 1);
            }
            GlobalRunq.globrunqputarrived(f.sched, g[4]);
            GlobalRunq.globrunqputahead(f.sched, g[3]);
            assertOrder(f, g, 3, 5);
        }
    }

    /** In a list of woken ones alone the last is the tail, however many there are. */
    @Test
    void onlyTheWoken() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = LongStream.generate(f::runnable).limit(6).toArray();
            for (int i = 0; i < 5; i++) {
                GlobalRunq.globrunqputahead(f.sched, g[i]);
            }
            GlobalRunq.globrunqputarrived(f.sched, g[5]);
            assertOrder(f, g, 0, 6);
            assertEquals(0, GlobalRunq.tail(GlobalRunq.arrived(f.sched)));
        }
    }

    /** One that is ahead and locked to a thread is taken from wherever it stands, and the next woken one goes behind the rest of them. */
    @Test
    void lockedAhead() {
        for (int at = 0; at < 2; at++) {
            try (FakeSched f = new FakeSched(1)) {
                long[] g = LongStream.generate(f::runnable).limit(4).toArray();
                GlobalRunq.globrunqputarrived(f.sched, g[3]);
                GlobalRunq.globrunqputahead(f.sched, g[0]);
                GlobalRunq.globrunqputahead(f.sched, g[1]);
                assertTakenAsLocked(f, g[at]);
                GlobalRunq.globrunqputahead(f.sched, g[2]);
                assertEquals(f.name(g[1 - at]), f.name(GlobalRunq.pop(f.sched)));
                assertOrder(f, g, 2, 4);
            }
        }
    }

    /** The next Gs of the global queue are these. */
    private static void assertOrder(FakeSched f, long[] g, int from, int to) {
        for (int i = from; i < to; i++) {
            assertEquals(f.name(g[i]), f.name(GlobalRunq.pop(f.sched)));
        }
    }

    /** One that is locked to a thread is taken from wherever it stands, the others stay in their order. */
    @Test
    void lockedFirst() {
        for (int at = 0; at < 4; at++) {
            try (FakeSched f = new FakeSched(1)) {
                assertEquals(0, GlobalRunq.popLocked(f.sched));
                long[] g = {f.runnable(), f.runnable(), f.runnable(), f.runnable()};
                G.SCHEDLINK.set(g[0], g[1]);
                GlobalRunq.globrunqputarrived(f.sched, g[0], g[1], 2);
                GlobalRunq.globrunqput(f.sched, g[2]);
                GlobalRunq.globrunqput(f.sched, g[3]);
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

    /** A P without Gs takes what has arrived, and then what Ps have put off; each counts apart, and only the second is a turn. */
    @Test
    void withoutGs() {
        try (FakeSched f = new FakeSched(4)) {
            long[] g = {f.runnable(), f.runnable()};
            long pp = f.ps[0];
            GlobalRunq.globrunqput(f.sched, g[1]);
            GlobalRunq.globrunqputarrived(f.sched, g[0]);
            P.GLOBALDUE.setOpaque(pp, 1);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqget(f.sched, pp)));
            assertEquals(1, P.GLOBALDUE.getOpaque(pp));
            assertEquals(f.name(g[1]), f.name(GlobalRunq.globrunqget(f.sched, pp)));
            assertEquals(0, P.GLOBALDUE.getOpaque(pp), "that was the turn");
            assertEquals(0, GlobalRunq.globrunqget(f.sched, pp));
            assertEquals(1, PStat.NARRIVED.getOpaque(pp));
            assertEquals(1, PStat.NGLOBAL.getOpaque(pp));
        }
    }

    /** At its turn one G runs that Ps have put off. If there is none, the turn is that of one that has arrived; it is one turn anyhow. */
    @Test
    void theTurn() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = {f.runnable(), f.runnable(), f.runnable()};
            long pp = f.ps[0];
            G.SCHEDLINK.set(g[1], g[2]);
            GlobalRunq.globrunqputarrived(f.sched, g[1], g[2], 2);
            GlobalRunq.globrunqput(f.sched, g[0]);
            for (long gp : g) {
                P.GLOBALDUE.setOpaque(pp, 1);
                assertEquals(f.name(gp), f.name(GlobalRunq.globrunqturn(f.sched, pp)));
                assertEquals(0, P.GLOBALDUE.getOpaque(pp));
                assertEquals(0, Runq.size(pp));
            }
            P.GLOBALDUE.setOpaque(pp, 1);
            assertEquals(g.length, PStat.NGLOBAL.getOpaque(pp), "sysmon counts each as a turn");
            assertEquals(0, GlobalRunq.globrunqturn(f.sched, pp), "others were faster");
            assertEquals(0, P.GLOBALDUE.getOpaque(pp));
        }
    }

    /** When {@code sched.arrived} comes first, a P takes one G of it, and none of another list. */
    @Test
    void theTurnOfWhatHasArrived() {
        try (FakeSched f = new FakeSched(1)) {
            long[] g = {f.runnable(), f.runnable(), f.runnable()};
            long pp = f.ps[0];
            GlobalRunq.globrunqput(f.sched, g[2]);
            GlobalRunq.globrunqputarrived(f.sched, g[0]);
            GlobalRunq.globrunqputarrived(f.sched, g[1]);
            assertEquals(f.name(g[0]), f.name(GlobalRunq.globrunqgetarrived(f.sched, pp)));
            assertEquals(0, Runq.size(pp));
            assertEquals(f.name(g[1]), f.name(GlobalRunq.globrunqgetarrived(f.sched, pp)));
            assertEquals(0, GlobalRunq.globrunqgetarrived(f.sched, pp));
            assertEquals(1, Schedt.RUNQSIZE.getOpaque(f.sched));
        }
    }

    /** A P takes one G at a time, so that the others do not wait in its ring for an M that has lost its CPU. */
    @Test
    void oneAtATime() {
        try (FakeSched f = new FakeSched(2)) {
            int n = 2 * Runq.LEN;
            for (int i = 0; i < n; i++) {
                GlobalRunq.globrunqput(f.sched, f.runnable());
            }
            for (int i = 0; i < n; i++) {
                assertEquals(i, f.name(GlobalRunq.globrunqget(f.sched, f.ps[i % 2])));
                assertEquals(n - 1 - i, Schedt.RUNQSIZE.getOpaque(f.sched));
                assertTrue(Runq.runqempty(f.ps[i % 2]));
            }
            assertEquals(0, GlobalRunq.globrunqget(f.sched, f.ps[0]));
        }
    }

    @Test
    void aSizeThatLiesIsFound() {
        try (FakeSched f = new FakeSched(1)) {
            Raw.setInt(Struct.SCHEDT, "runqsize", f.sched, 1);
            Throw t = assertThrows(Throw.class, () -> GlobalRunq.globrunqget(f.sched, f.ps[0]));
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
