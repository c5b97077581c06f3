// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.Ticks;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.Mem;
import org.jspecify.annotations.Nullable;

/**
 * Writes the events of one P to off-heap batches, one batch after the other. No access here is atomic, because only one thread at a time
 * uses the ring: the M that holds the P, or the thread that takes the P from that M ({@code sched.base.Gate}). A P passes between threads
 * by a CAS, a release or sched.lock, and its ring passes with it. A thread without a P writes to the ring of {@link Tracer#outside}, under
 * a lock.
 */
public final class EventRing {
    private static final LongField WORDS = Mem.LONG;
    private static final int TWO_WORDS = 2 * Long.BYTES;

    private final int id;
    private final Batches pool;
    private final long began;
    private final @Nullable Lateness lateness;
    /** The NUMA node of the P; -1 for none. Written with the world stopped. */
    private int node = -1;
    @SuppressWarnings("NullAway.Init") // Null before open and after close, when no thread writes.
    private Batch batch;
    private long at;
    private long end;
    /**
     * The address after the last event that stopped a goroutine. {@link #stopped} has that event's ticks. If the next event is the start of
     * a goroutine from runnext, it gets the same ticks.
     */
    private long stoppedAt;
    private long stopped;

    /** @param lateness detects goroutines that start late; null for no detection */
    EventRing(int id, Batches pool, long began, @Nullable Lateness lateness) {
        this.id = id;
        this.lateness = lateness;
        this.pool = pool;
        this.began = began;
    }

    /** Takes the first batch. Returns false when no batch is free. */
    boolean open() {
        Batch b = pool.take(node);
        if (b != null) {
            use(b);
        }
        return b != null;
    }

    private void use(Batch b) {
        batch = b;
        at = b.address;
        end = b.address + Batch.BYTES;
        if (b.node == Batch.FRESH) { // The node has to be requested before a page is touched.
            b.node = Memory.preferNode(b.address, Batch.BYTES, node) ? node : -1;
        }
        stoppedAt = 0;
    }

    /** Sets the NUMA node of the P, -1 for none. Later batches are of that node if possible. Called with the world stopped. */
    public void place(int node) {
        this.node = node;
        if (node >= 0 && at == batch.address && Memory.preferNode(at, Batch.BYTES, node)) {
            batch.node = node; // This is the first batch, and is still empty.
        }
    }

    private long now() {
        return Ticks.now() - began;
    }

    private void put(long head, long word) {
        long p = at;
        if (p == end) {
            nextBatch();
            p = at;
        }
        WORDS.set(p, head);
        WORDS.set(p + Long.BYTES, word);
        at = p + TWO_WORDS;
    }

    /** Exchanges the full batch for a free one. */
    private void nextBatch() {
        seal();
        Batch next = pool.exchange(batch, node);
        use(next == null ? batch : next); // Without a free batch the ring overwrites this batch, and its events are lost.
    }

    private void seal() {
        batch.ring = id;
        batch.used = (int) (at - batch.address);
        batch.until = now();
    }

    /** Hands over the last batch, which may be only partly filled. The ring must not be used afterwards. */
    @SuppressWarnings("NullAway")
    void close() {
        seal();
        pool.hand(batch);
        batch = null;
    }

    /** Writes an event. */
    public void event(int kind, int argument, long number, int detail) {
        long t = now();
        put(Ev.head(t, kind, argument), Ev.word(number, detail));
        if (lateness != null && (kind == Ev.UNBLOCK || kind == Ev.CREATE || kind == Ev.SYSCALL_BLOCKED)) {
            lateness.runnable(number, t + began);
        }
    }

    /** Writes an event that takes a goroutine off this P. */
    public void stop(int kind, int argument, long goid) {
        long t = now();
        put(Ev.head(t, kind, argument), Ev.word(goid, 0));
        stopped = t;
        stoppedAt = at;
        if (lateness != null && kind == Ev.YIELD) {
            lateness.runnable(goid, t + began);
        }
    }

    /**
     * Writes the start of a goroutine.
     *
     * @param atOnce whether the goroutine was in this P's runnext. If so, and if the last event is a stop, the start gets the stop's time.
     *     That saves a read of the clock, which costs more than the rest of this call
     */
    public void start(long goid, boolean atOnce) {
        long t = atOnce && at == stoppedAt ? stopped : now();
        put(Ev.head(t, Ev.START, 0), Ev.word(goid, 0));
        if (lateness != null) {
            lateness.runs(goid, t + began);
        }
    }

    /** Writes an event with two more words. */
    void wide(int kind, long goid, int detail, long third, long fourth) {
        room(2 * TWO_WORDS);
        put(Ev.head(now(), kind, 0), Ev.word(goid, detail));
        put(third, fourth);
    }

    /** Writes an event with a text. */
    public void text(int kind, long goid, byte[] text) {
        int n = Math.min(text.length, Ev.LONGEST_LOG);
        int words = Ev.textWords(n);
        room(TWO_WORDS + words * Long.BYTES);
        put(Ev.head(now(), kind, 0), Ev.word(goid, n));
        for (int i = 0; i < words; i++) {
            long w = 0;
            for (int k = 0; k < Long.BYTES && i * Long.BYTES + k < n; k++) {
                w |= (text[i * Long.BYTES + k] & 0xFFL) << k * Byte.SIZE;
            }
            WORDS.set(at, w);
            at += Long.BYTES;
        }
    }

    private void room(int bytes) {
        if (end - at < bytes) {
            nextBatch();
        }
    }
}
