// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.events.Lateness;
import org.gmp4j.ffi.Ticks;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.sysmon.Stalls;
import org.jspecify.annotations.Nullable;

/** Keeps the latest events of one scheduler in memory, and writes them to a file on request. Thread-safe. */
public final class Flight {
    private static final long NAP_NANOS = 10_000_000;
    /** The pause before a new attempt after memory ran out, ns. It is long, because each attempt makes the collector run. */
    private static final long NO_MEMORY_NANOS = 100_000_000;

    private final Scheduler s;
    private final long keep;
    private final long bytes;
    private final Lateness lateness = new Lateness();
    private final Thread thread;
    private Recording recording; // Guarded by the monitor.
    private volatile boolean over;
    private volatile @Nullable OnStall onStall;
    /** The file to write when a goroutine was late; null for none. Guarded by {@link #lateness}. */
    private @Nullable Path onLate;
    /**
     * The number of requests so far that set {@link #onLate}. It shows whether a new request came while a snapshot was written. Rejected:
     * an object for each request, which would need memory. Guarded by {@link #lateness}.
     */
    private int askedOnLate;

    /** A request for a snapshot after a stall. Another request may replace it while the snapshot is written. */
    private static final class OnStall implements Runnable {
        final Path file;
        volatile boolean stalled;

        OnStall(Path file) {
            this.file = file;
        }

        @Override
        public void run() {
            stalled = true;
        }
    }

    private Flight(Scheduler s, long keep, long bytes) {
        this.s = s;
        this.keep = keep;
        this.bytes = bytes;
        thread = new OwnThread(this::watch, "gmp-flight");
        recording = new Recording(s, bytes, lateness);
    }

    /**
     * Begins to keep events.
     *
     * @param keep how far back a snapshot goes, ns
     * @throws IllegalStateException when the scheduler is traced already, or is closed
     */
    public static Flight start(Scheduler s, long keep, long bytes) {
        Flight f = new Flight(s, keep, bytes);
        boolean watched = false;
        boolean started = false;
        try {
            f.thread.start();
            watched = true;
            f.recording.start();
            started = true;
        } finally {
            f.over = !started;
            if (!watched) { // A recording whose start fails releases its memory itself.
                f.recording.release();
            }
        }
        return f;
    }

    /**
     * Writes the latest events to a file. Later events belong to the next snapshot.
     *
     * @throws IOException when the file cannot be written
     * @throws IllegalStateException after {@link #stop}
     */
    public synchronized void snapshot(Path file) throws IOException {
        refuseIfOver();
        try (OutputStream out = Session.open(file)) {
            Recording next = new Recording(s, bytes, lateness);
            Recording old = recording;
            boolean stopped = false;
            try {
                old.stop(next);
                stopped = true;
            } finally {
                if (!stopped) {
                    next.release();
                }
            }
            recording = next;
            try {
                old.takeAll();
                Recording.Trace[] _ = Session.write(out, List.of(old), keep);
            } finally {
                old.release();
            }
        }
    }

    /**
     * Requests a snapshot at the next stall.
     *
     * @throws IllegalStateException after {@link #stop}
     */
    public void onStall(Path file) {
        OnStall asked = new OnStall(file);
        synchronized (lateness) { // Not this object's monitor, which a thread holds while it writes a snapshot.
            refuseIfOver();
            Stalls.of(s).setRecorder(asked);
            onStall = asked;
        }
    }

    /**
     * Requests a snapshot for the next time that a goroutine is runnable for longer than a limit before it runs.
     *
     * @throws IllegalStateException after {@link #stop}
     */
    public void onLatency(long nanos, Path file) {
        synchronized (lateness) {
            refuseIfOver();
            askedOnLate++;
            onLate = file;
            lateness.setLimit((long) (nanos * Ticks.perNano()));
        }
    }

    private void refuseIfOver() {
        if (over) {
            throw new IllegalStateException("the flight recorder was stopped");
        }
    }

    private void watch() {
        while (!over) {
            LockSupport.parkNanos(NAP_NANOS);
            try {
                look();
            } catch (OutOfMemoryError | LinkageError e) { // The first use of a class may throw a LinkageError.
                LockSupport.parkNanos(NO_MEMORY_NANOS); // The request stays.
            }
        }
    }

    private void look() {
        OnStall stall = onStall;
        if (stall != null && stall.stalled) {
            write(stall.file);
            synchronized (lateness) {
                Stalls.of(s).dropRecorder(stall);
                if (onStall == stall) { // Otherwise there is a new request.
                    onStall = null;
                }
            }
        }
        int asked;
        Path file;
        synchronized (lateness) {
            asked = askedOnLate;
            file = lateness.isLate() ? onLate : null;
        }
        if (file != null) {
            write(file);
            synchronized (lateness) {
                if (askedOnLate == asked) { // Otherwise there is a new request.
                    onLate = null;
                    lateness.setLimit(Long.MAX_VALUE);
                }
            }
        }
    }

    private void write(Path file) {
        try {
            snapshot(file);
        } catch (IOException | RuntimeException e) { // Some file systems throw RuntimeExceptions.
            if (!over) {
                System.err.println("gmp4j: a snapshot could not be written: " + ThrowableText.line(e));
            }
        }
    }

    /**
     * Stops keeping events. If this throws an OutOfMemoryError, the recorder is still on, and this may be called again. After a complete
     * call, further calls do nothing.
     */
    public synchronized void stop() {
        if (over) {
            return;
        }
        recording.stop(null);
        synchronized (lateness) {
            over = true;
            if (onStall != null) {
                Stalls.of(s).dropRecorder(onStall);
            }
        }
        recording.release();
    }
}
