// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import org.gmp4j.struct.G;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.Raw;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Runq} beside a plain model, one thread: what is where after any sequence of operations. */
@Tag("ring")
class RunqModelTest {
    private static final int OPS = 5_000;

    private final FakeSched f = new FakeSched(2);
    private final Random random = new Random(42);
    private final List<Long> pool = new ArrayList<>();

    // The model.
    private final ArrayDeque<Long> ring = new ArrayDeque<>();
    private final ArrayDeque<Long> global = new ArrayDeque<>();
    private long next;

    @AfterEach
    void close() {
        f.close();
    }

    /** Indices count modulo 2^32: the ring goes on past every border. */
    @ParameterizedTest
    @ValueSource(ints = {0, 0x7ffffff0, -2, -1000})
    void anySequence(int start) {
        long pp = f.ps[0];
        Raw.setInt(Struct.P, "runqhead", pp, start);
        Raw.setInt(Struct.P, "runqtail", pp, start);
        Raw.setInt(Struct.P, "runqhead", f.ps[1], start + 7);
        Raw.setInt(Struct.P, "runqtail", f.ps[1], start + 7);
        for (int i = 0; i < 4 * Runq.LEN; i++) {
            pool.add(f.runnable());
        }
        for (int i = 0; i < OPS; i++) {
            step(pp);
            assertEquals(ring.size(), Runq.tail(pp) - Runq.head(pp));
            assertEquals(ring.size(), Runq.size(pp));
            assertEquals(next, Runq.runnext(pp));
            assertEquals(next == 0 && ring.isEmpty(), Runq.runqempty(pp));
            int at = Runq.head(pp);
            for (long gp : ring) {
                assertEquals(f.name(gp), f.name(Runq.at(pp, at++)));
            }
            assertEquals(List.copyOf(global), globalQueue());
        }
    }

    private List<Long> globalQueue() {
        List<Long> q = new ArrayList<>();
        long last = 0;
        for (long gp = GlobalRunq.head(GlobalRunq.common(f.sched)); gp != 0; gp = G.SCHEDLINK.get(gp)) {
            q.add(gp);
            last = gp;
        }
        assertEquals(last, GlobalRunq.tail(GlobalRunq.common(f.sched)));
        return q;
    }

    private void step(long pp) {
        switch (random.nextInt(8)) {
            case 0, 1 -> put(pp, true);
            case 2, 3 -> put(pp, false);
            case 4 -> putBatch(pp);
            case 5 -> get(pp);
            case 6 -> steal(pp);
            default -> fromGlobal(pp);
        }
    }

    private void put(long pp, boolean toNext) {
        if (pool.isEmpty()) {
            return;
        }
        long gp = pool.removeLast();
        Runq.runqput(f.sched, pp, gp, toNext);
        if (toNext) {
            long kicked = next;
            next = gp;
            gp = kicked;
        }
        if (gp != 0) {
            if (ring.size() == Runq.LEN) {
                for (int i = 0; i < Runq.LEN / 2; i++) {
                    global.add(ring.remove());
                }
                global.add(gp);
            } else {
                ring.add(gp);
            }
        }
    }

    private void putBatch(long pp) {
        int n = Math.min(pool.size(), 1 + random.nextInt(Runq.LEN + 2));
        if (n == 0) {
            return;
        }
        long head = 0;
        List<Long> batch = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            long gp = pool.removeLast();
            G.SCHEDLINK.set(gp, head);
            head = gp;
            batch.addFirst(gp);
        }
        Runq.runqputbatch(f.sched, pp, head, n);
        for (long gp : batch) {
            (ring.size() < Runq.LEN ? ring : global).add(gp);
        }
    }

    private void get(long pp) {
        long gp = Runq.runqget(pp);
        if (next != 0) {
            assertEquals(next | Runq.INHERIT, gp);
            next = 0;
        } else {
            assertEquals(ring.isEmpty() ? 0 : ring.remove(), gp);
        }
        back(gp);
    }

    /** The thief gets the younger half's border: the last of what it took; the others stand in its ring in order. */
    private void steal(long pp) {
        long thief = f.ps[1];
        boolean withNext = random.nextBoolean();
        long gp = Runq.runqsteal(thief, pp, withNext, random.nextBoolean() ? 0 : 1);
        int n = ring.size() - ring.size() / 2;
        if (n == 0) {
            assertEquals(withNext ? next : 0, gp);
            next = withNext ? 0 : next;
        } else {
            for (int i = 0; i < n - 1; i++) {
                long taken = Runq.runqget(thief);
                assertEquals(ring.remove(), taken);
                back(taken);
            }
            assertEquals(ring.remove(), gp);
        }
        assertTrue(Runq.runqempty(thief));
        back(gp);
    }

    /** A P takes one G. */
    private void fromGlobal(long pp) {
        if (!ring.isEmpty()) {
            return;
        }
        boolean turn = random.nextInt(3) == 0;
        long gp = turn ? GlobalRunq.globrunqturn(f.sched, pp) : GlobalRunq.globrunqget(f.sched, pp);
        assertEquals(global.isEmpty() ? 0 : global.remove(), gp);
        back(gp);
    }

    private void back(long gp) {
        if (gp != 0) {
            pool.add(gp & ~Runq.INHERIT);
        }
    }
}
