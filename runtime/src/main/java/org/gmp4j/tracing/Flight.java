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
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.OwnThread;
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
    private volatile @Nullable OnStall onStall;
    /** Both under the lock of {@link #lateness}: where to write, or null, and how often that was asked for. To ask takes no memory. */
    private @Nullable Path onLate;
    private int askedOnLate;

    /** A snapshot that was asked for, and whether there was a stall since. Another may be asked for while it is written. */
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
     * Begins.
     *
     * @param keep nanoseconds
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
            if (!watched) {
                f.recording.release();
            }
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
     * Has a snapshot written at the next stall.
     *
     * @throws IllegalStateException after {@link #stop}
     */
    public void onStall(Path file) {
        OnStall asked = new OnStall(file);
        synchronized (lateness) { // Not what a snapshot holds while it is written.
            refuseIfOver();
            Stalls.of(s).setRecorder(asked);
            onStall = asked;
        }
    }

    /**
     * Has one written when a goroutine was runnable for longer than that, the next time.
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
            } catch (OutOfMemoryError | LinkageError e) { // The latter of what is used for the first time.
                LockSupport.parkNanos(NO_MEMORY_NANOS); // What was asked for still is.
            }
        }
    }

    private void look() {
        OnStall stall = onStall;
        if (stall != null && stall.stalled) {
            write(stall.file);
            drop(stall);
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
                if (askedOnLate == asked) { // Else another was asked for meanwhile.
                    onLate = null;
                    lateness.setLimit(Long.MAX_VALUE);
                }
            }
        }
    }

    private void drop(OnStall stall) {
        synchronized (lateness) {
            Stalls.of(s).dropRecorder(stall);
            if (onStall == stall) {
                onStall = null;
            }
        }
    }

    private void write(Path file) {
        try {
            snapshot(file);
        } catch (IOException | RuntimeException e) { // The latter of file systems that are not the default one, for example.
            if (!over) {
                System.err.println("gmp4j: a snapshot could not be written: " + ThrowableText.line(e));
            }
        }
    }

    /** Ends it; when there is too little memory for that, it goes on, and this may be called again. Ended it stays so. */
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
