// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.events.Lateness;
import org.gmp4j.ffi.Ticks;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.sysmon.Stalls;
import org.jspecify.annotations.Nullable;

/** The latest events of one scheduler, in memory, and when to write them down. Thread-safe. */
public final class Flight {
    private static final long NAP_NANOS = 10_000_000;
    /** Before it tries again: each try has the collector run. */
    private static final long NO_MEMORY_NANOS = 100_000_000;

    private final Scheduler s;
    private final long keep;
    private final long bytes;
    private final Lateness lateness = new Lateness();
    private final Thread thread;
    private Recording recording;
    private volatile boolean over;
    private volatile boolean stalled;
    private volatile @Nullable Path onStall;
    private volatile @Nullable Path onLate;

    private Flight(Scheduler s, long keep, long bytes) {
        this.s = s;
        this.keep = keep;
        this.bytes = bytes;
        recording = new Recording(s, bytes, lateness);
        thread = Thread.ofPlatform().daemon().name("gmp-flight").unstarted(this::watch);
    }

    /**
     * Begins.
     *
     * @param keep nanoseconds
     * @throws IllegalStateException when the scheduler is traced already, or is closed
     */
    public static Flight start(Scheduler s, long keep, long bytes) {
        Flight f = new Flight(s, keep, bytes);
        f.thread.start();
        boolean started = false;
        try {
            f.recording.start();
            started = true;
        } finally {
            f.over = !started;
        }
        return f;
    }

    /**
     * Writes the latest events; what comes after is for the next.
     *
     * @throws IOException when the file cannot be written
     * @throws IllegalStateException after {@link #stop}
     */
    public synchronized void snapshot(Path file) throws IOException {
        if (over) {
            throw new IllegalStateException("the flight recorder was stopped");
        }
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

    /** Has a snapshot written at the next stall. */
    public void onStall(Path file) {
        stalled = false;
        onStall = file;
        Stalls.of(s).setRecorder(() -> stalled = true);
    }

    /** Has one written when a goroutine was runnable for longer than that, the next time. */
    public void onLatency(long nanos, Path file) {
        onLate = file;
        lateness.setLimit((long) (nanos * Ticks.perNano()));
    }

    private void watch() {
        while (!over) {
            LockSupport.parkNanos(NAP_NANOS);
            try {
                look();
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(NO_MEMORY_NANOS); // What was asked for still is.
            }
        }
    }

    private void look() {
        Path file = onStall;
        if (stalled && file != null) {
            write(file);
            onStall = null;
            Stalls.of(s).setRecorder(null);
        }
        file = onLate;
        if (lateness.isLate() && file != null) {
            write(file);
            onLate = null;
            lateness.setLimit(Long.MAX_VALUE);
        }
    }

    private void write(Path file) {
        try {
            snapshot(file);
        } catch (IOException e) {
            System.err.println("gmp4j: a snapshot could not be written: " + e.getMessage());
        } catch (IllegalStateException stopped) {
            return; // Just now.
        }
    }

    /** Ends it; when there is too little memory for that, it goes on, and this may be called again. Ended it stays so. */
    public synchronized void stop() {
        if (over) {
            return;
        }
        recording.stop(null);
        over = true;
        Stalls.of(s).setRecorder(null);
        recording.release();
    }
}
