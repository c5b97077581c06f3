// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

import org.gmp4j.Gmp;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.tracing.Flight;

/**
 * Keeps the latest events of a scheduler in memory. When something has gone wrong, {@link #snapshot} writes them as a trace
 * ({@link Trace}). A recorder may run all the time. It costs as much CPU time as a running trace, in addition to its memory. A scheduler
 * cannot have a recorder and a trace at the same time. Thread-safe.
 *
 * <p>Source: Go's {@code runtime/trace.FlightRecorder}.
 */
public final class FlightRecorder implements AutoCloseable {
    /** The default memory, bytes, enough for some 600,000 events. */
    public static final long DEFAULT_BYTES = 10L << 20;

    private static final long MOST_BYTES = 1L << 36;

    private final Flight flight;

    private FlightRecorder(Flight flight) {
        this.flight = flight;
    }

    /**
     * Starts a recorder with {@link #DEFAULT_BYTES} of memory.
     *
     * @param keep the time that a snapshot covers, more than 0; it covers less if the memory does not hold all events of this time
     * @throws IllegalStateException when the scheduler is closed, or is being traced already
     */
    public static FlightRecorder start(Gmp gmp, Duration keep) {
        return start(gmp, keep, DEFAULT_BYTES);
    }

    /**
     * Starts a recorder.
     *
     * @param keep the time that a snapshot covers, more than 0; it covers less if the memory does not hold all events of this time
     * @param bytes the memory in bytes, from 1 to 2<sup>36</sup>; at least 1 MiB and 64 KiB for each P are used
     * @throws IllegalArgumentException when {@code keep} or {@code bytes} is out of range
     * @throws IllegalStateException when the scheduler is closed, or is being traced already
     */
    public static FlightRecorder start(Gmp gmp, Duration keep, long bytes) {
        Objects.requireNonNull(gmp, "gmp");
        if (keep.isNegative() || keep.isZero()) {
            throw new IllegalArgumentException("keep is " + keep + ": use more than 0");
        }
        if (bytes < 1 || bytes > MOST_BYTES) {
            throw new IllegalArgumentException("bytes is " + bytes + ": use 1 to " + MOST_BYTES);
        }
        for (Scheduler s : Scheduler.all()) {
            if (s.owner() == gmp) {
                return new FlightRecorder(Flight.start(s, nanos(keep), bytes));
            }
        }
        throw new IllegalStateException("the Gmp is closed");
    }

    private static long nanos(Duration d) {
        try {
            return d.toNanos();
        } catch (ArithmeticException e) {
            return Long.MAX_VALUE; // The duration is too long for a long of nanoseconds.
        }
    }

    /**
     * Writes the events to a file and discards them, so the next snapshot has only later events. Stops the world for a moment.
     *
     * @throws IOException when the file cannot be written
     * @throws IllegalStateException after {@link #close}
     */
    public void snapshot(Path file) throws IOException {
        flight.snapshot(Objects.requireNonNull(file, "file"));
    }

    /**
     * Requests one snapshot, soon after the next stall. In a stall a goroutine keeps a P from other goroutines until the P is taken away.
     * Each further snapshot needs a further call. A call before the stall replaces the present request.
     *
     * @throws IllegalStateException after {@link #close}
     */
    public void snapshotOnStall(Path file) {
        flight.onStall(Objects.requireNonNull(file, "file"));
    }

    /**
     * Requests one snapshot, soon after a goroutine was runnable for longer than {@code limit} before it ran. Each further snapshot needs a
     * further call. A call before the snapshot replaces the present request. With more than 16,000 goroutines some such waits are missed.
     *
     * @throws IllegalStateException after {@link #close}
     */
    public void snapshotOnLatency(Duration limit, Path file) {
        flight.onLatency(nanos(limit), Objects.requireNonNull(file, "file"));
    }

    /** Ends the recorder and discards its events. A call that throws an OutOfMemoryError can be repeated; else further calls do nothing. */
    @Override
    public void close() {
        flight.stop();
    }
}
