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
import org.gmp4j.ffi.AddressSpace;
import org.gmp4j.ffi.Ticks;
import org.gmp4j.sched.Tracing;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.jspecify.annotations.Nullable;

/** The events that one scheduler's tracer writes while it is on. Not thread-safe. */
final class Recording {
    /** The place of a batch in the spool. */
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

    /**
     * @param lateness not null to keep the latest {@code bytes} of events; null to keep all but batches that fill while none is free
     */
    Recording(Scheduler s, long bytes, @Nullable Lateness lateness) {
        this.s = s;
        tracer = new Tracer(s.gomaxprocs(), bytes, lateness);
    }

    /** Turns the tracer on. */
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

    /**
     * Ends the recording. Later events go to {@code next} if that is not null. If the scheduler is closed, no events follow, and
     * {@code next} stays empty.
     */
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
            Closing.awaitMs(s); // No goroutine lives, but an M may still write its last events.
            if (next != null) {
                next.first = new Tracing.State();
            }
        }
        endTicks = Ticks.now();
        endNanos = System.nanoTime();
        tracer.close();
    }

    /** Moves full batches to the spool, and returns whether there were any. */
    boolean spool(FileChannel to) throws IOException {
        boolean any = false;
        for (Batch b = tracer.batches.poll(); b != null; b = tracer.batches.poll()) {
            any = true;
            long offset = to.size();
            boolean written = false;
            try {
                MemorySegment from = AddressSpace.ALL.asSlice(b.address, b.used());
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

    /** Maps the spool's batches for {@link #write}. */
    void map(FileChannel spool, Arena arena) throws IOException {
        pieces.clear(); // An earlier attempt that ran out of memory may have left some.
        MemorySegment all = spool.map(FileChannel.MapMode.READ_ONLY, 0, spool.size(), arena);
        for (Kept k : kept) {
            pieces.add(new Piece(k.ring, all.asSlice(k.offset, k.bytes)));
        }
    }

    /** Takes the batches in memory for {@link #write}. */
    void takeAll() {
        for (Batch b = tracer.batches.poll(); b != null; b = tracer.batches.poll()) {
            pieces.add(new Piece(b.ring(), AddressSpace.ALL.asSlice(b.address, b.used())));
        }
    }

    /**
     * Writes the events.
     *
     * @param number the scheduler's number in the file, from 1 on
     * @param keep the time before the end of the recording, ns, of which events are written
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
     * Describes what a file contains.
     *
     * @param events the number of events
     * @param dropped the number of batches, of some 4,000 events each, that are missing because memory was short or the disk was full
     * @param before the number of goroutines that lived at the beginning; -1 if they were not counted
     * @param created the number of goroutines that began during the trace
     * @param ended the number of goroutines that ended during the trace
     * @param after the number of goroutines that lived at the end
     * @param begin the time of the beginning, a nanoTime
     * @param end the time of the end, a nanoTime
     */
    record Trace(long events, long dropped, long before, long created, long ended, long after, long begin, long end) {
    }

    void release() {
        pieces.clear();
        tracer.release();
    }
}
