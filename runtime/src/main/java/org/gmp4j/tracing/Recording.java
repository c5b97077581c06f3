// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;

import org.gmp4j.events.Batch;
import org.gmp4j.events.Lateness;
import org.gmp4j.events.Tracer;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.Ticks;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Tracing;
import org.jspecify.annotations.Nullable;

/** What one scheduler's tracer wrote, from its beginning to its end. Not thread-safe. */
final class Recording {
    /** Where a batch stands in the spool. */
    private record Kept(int ring, long offset, int bytes) {
    }

    private final Scheduler s;
    private final Tracer tracer;
    private final List<Kept> kept = new ArrayList<>();
    private final List<Piece> pieces = new ArrayList<>();
    @SuppressWarnings("NullAway.Init")
    private Tracing.State first;
    private Tracing.@Nullable State last;
    private long endTicks;
    private long endNanos;
    private long unwritten;

    /** @param lateness if the latest events are to be kept, in so many bytes; null: all, as far as they go to the spool in time */
    Recording(Scheduler s, long bytes, @Nullable Lateness lateness) {
        this.s = s;
        tracer = new Tracer(s.gomaxprocs(), bytes, lateness);
    }

    /** From here on events are written. */
    void start() {
        boolean started = false;
        try {
            Tracing.set(s, null, tracer, state -> first = state);
            started = true;
        } finally {
            if (!started) {
                tracer.close();
                tracer.release();
            }
        }
    }

    /** The last event was written, unless the scheduler is closed, which writes none; {@code next} goes on, or is null. */
    void stop(@Nullable Recording next) {
        try {
            Tracing.set(s, tracer, next == null ? null : next.tracer, state -> {
                last = state;
                if (next != null) {
                    next.first = state;
                }
            });
        } catch (IllegalStateException closed) {
            if (!s.isStopped()) {
                throw closed;
            }
            s.awaitMs(); // No goroutine lives, but an M may still write what it does last.
            if (next != null) {
                next.first = new Tracing.State(); // Nobody lives.
            }
        }
        endTicks = Ticks.now();
        endNanos = System.nanoTime();
        tracer.close();
    }

    /** Moves what is full to the spool; returns whether there was anything. */
    boolean spool(FileChannel to) throws IOException {
        boolean any = false;
        for (Batch b = tracer.batches.poll(); b != null; b = tracer.batches.poll()) {
            any = true;
            long offset = to.size();
            boolean written = false;
            try {
                MemorySegment from = Memory.ALL.asSlice(b.address, b.used());
                for (int n = 0; n < b.used();) {
                    n += to.write(from.asSlice(n).asByteBuffer(), offset + n);
                }
                kept.add(new Kept(b.ring(), offset, b.used()));
                written = true;
            } finally {
                unwritten += written ? 0 : 1;
                tracer.batches.free(b);
            }
        }
        return any;
    }

    /** All that was spooled, for {@link #write}. */
    void map(FileChannel spool, Arena arena) throws IOException {
        pieces.clear(); // Of an attempt that had too little memory.
        MemorySegment all = spool.map(FileChannel.MapMode.READ_ONLY, 0, spool.size(), arena);
        for (Kept k : kept) {
            pieces.add(new Piece(k.ring, all.asSlice(k.offset, k.bytes)));
        }
    }

    /** All that is in memory, for {@link #write}. */
    void takeAll() {
        for (Batch b = tracer.batches.poll(); b != null; b = tracer.batches.poll()) {
            pieces.add(new Piece(b.ring(), Memory.ALL.asSlice(b.address, b.used())));
        }
    }

    /**
     * Writes it.
     *
     * @param number from 1 on
     * @param keep nanoseconds before the end; what was before is left out
     */
    Trace write(Perfetto out, int number, long keep) throws IOException {
        double nanosPerTick = (double) (endNanos - tracer.beganNanos) / Math.max(1, endTicks - tracer.beganTicks);
        long span = endNanos - tracer.beganNanos;
        long lost = (long) (tracer.batches.lostUntil() * nanosPerTick);
        long since = Math.max(lost, span - Math.min(span, keep));
        Lanes lanes = new Lanes(out, number, s.name(), tracer.names.all(), tracer.beganNanos, since, since == 0 ? first : null);
        long events = new Merge(pieces, nanosPerTick).run(since, lanes);
        lanes.close(span);
        long dropped = (lost == 0 ? tracer.batches.dropped() : 0) + unwritten;
        return new Trace(events, dropped, since == 0 ? first.count() : -1, lanes.created(), lanes.ended(),
                last == null ? 0 : last.count(), tracer.beganNanos + since, endNanos);
    }

    /**
     * What is in a file.
     *
     * @param events how many
     * @param dropped batches of some 4,000 events that are missing, as memory was short or the disk full
     * @param before how many goroutines lived at the beginning; -1 when nobody looked
     * @param created how many began meanwhile
     * @param ended how many ended
     * @param after how many lived at the end
     * @param begin the first moment, a nanoTime
     * @param end the last
     */
    record Trace(long events, long dropped, long before, long created, long ended, long after, long begin, long end) {
    }

    void release() {
        pieces.clear();
        tracer.release();
    }
}
