// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;

import org.gmp4j.struct.Mem;
import org.junit.jupiter.api.Test;

class EventRingTest {
    private static final int PER_BATCH = Batch.BYTES / (2 * Long.BYTES);
    private static final int BATCHES = 4;

    /** The numbers of all events that were kept. */
    private static List<Long> kept(Batches pool) {
        List<Long> kept = new ArrayList<>();
        for (Batch b = pool.poll(); b != null; b = pool.poll()) {
            long before = 0;
            for (long at = b.address; at < b.address + b.used();) {
                long head = Mem.LONG.get(at);
                long word = Mem.LONG.get(at + Long.BYTES);
                assertEquals(true, Ev.ticks(head) >= before);
                before = Ev.ticks(head);
                kept.add(Ev.number(word));
                at += (long) Ev.words(Ev.kind(head), word) * Long.BYTES;
            }
            assertEquals(7, b.ring());
        }
        return kept;
    }

    private static Batches write(boolean latest, int n) {
        Batches pool = new Batches(BATCHES, latest);
        EventRing r = new EventRing(7, pool, 0, null);
        r.open();
        for (long i = 0; i < n; i++) {
            r.event(Ev.UNBLOCK, 0, i, 0);
        }
        r.close();
        return pool;
    }

    /** What does not fit is lost by whole batches, of which each is counted. */
    @Test
    void theFirstAreKept() {
        int n = PER_BATCH * (BATCHES + 3) + 10;
        Batches pool = write(false, n);
        List<Long> kept = kept(pool);
        assertEquals(4, pool.dropped());
        assertEquals(n - 4 * PER_BATCH, kept.size());
        for (int i = 0; i < (BATCHES - 1) * PER_BATCH; i++) {
            assertEquals(i, kept.get(i));
        }
        assertEquals(n - 1, kept.getLast());
        pool.release();
    }

    @Test
    void theLatestAreKept() {
        int n = PER_BATCH * (BATCHES + 3) + 10;
        Batches pool = write(true, n);
        List<Long> kept = kept(pool);
        assertEquals(4, pool.dropped());
        for (int i = 0; i < kept.size(); i++) {
            assertEquals(n - kept.size() + i, kept.get(i));
        }
        assertEquals((BATCHES - 1) * PER_BATCH + 10, kept.size());
        pool.release();
    }

    /** Events of several words stand whole in a batch, wherever it ends. */
    @Test
    void longEvents() {
        Batches pool = new Batches(64, false);
        EventRing r = new EventRing(7, pool, 0, null);
        r.open();
        int n = 3_000;
        for (int i = 0; i < n; i++) {
            switch (i % 3) {
                case 0 -> r.event(Ev.START, 0, i, 0);
                case 1 -> r.wide(Ev.TASK_BEGIN, i, 5, i, -1);
                default -> r.text(Ev.LOG, i, new byte[i % 1500]);
            }
        }
        r.close();
        List<Long> kept = kept(pool);
        assertEquals(n, kept.size());
        for (int i = 0; i < n; i++) {
            assertEquals(i, kept.get(i));
        }
        assertNull(pool.poll());
        pool.release();
    }

    @Test
    void wordsHoldWhatIsPutIntoThem() {
        long head = Ev.head((1L << 52) - 1, 31, 127);
        assertEquals(List.of((1L << 52) - 1, 31L, 127L), List.of(Ev.ticks(head), (long) Ev.kind(head), (long) Ev.argument(head)));
        long word = Ev.word((1L << 44) - 1, 0xF_FFFF);
        assertEquals(List.of((1L << 44) - 1, 0xF_FFFFL), List.of(Ev.number(word), (long) Ev.detail(word)));
    }
}
