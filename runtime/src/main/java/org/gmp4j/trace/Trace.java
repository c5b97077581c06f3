// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Gmp;
import org.gmp4j.events.Ev;
import org.gmp4j.sched.Tracing;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.tracing.Session;

/**
 * An execution trace. It shows the work of each P and each goroutine over time, and which goroutine woke which. The file opens in Perfetto
 * (ui.perfetto.dev), and {@code gmp trace FILE} prints a summary of it. {@code GMPDEBUG=trace=FILE} writes a trace without a change to the
 * program.
 *
 * <p>While a trace runs, a switch takes some tens of nanoseconds more. The start of a goroutine whose function is not a lambda takes some
 * microseconds more, because a stack walk finds the place of the start. The start and the end of the trace stop the world for a time that
 * grows with the number of goroutines. Full batches of events go to a spool, a file beside the trace file, with 16 bytes for each event. If
 * the disk is slower than the program, whole batches are dropped and counted. {@link #stop} writes the trace file, which is four to eight
 * times as long as the spool. When a deadlock, an uncaught exception or another fatal error ends a program, running traces are written
 * after the text of the error.
 *
 * <p>Thread-safe. Source: Go's {@code runtime/trace}.
 */
public final class Trace implements AutoCloseable {
    private static final AtomicLong TASKS = new AtomicLong();

    private final Session session;

    private Trace(Session session) {
        this.session = session;
    }

    /**
     * Traces all schedulers of this process that live now.
     *
     * @param file the file to write, which is replaced if it exists
     * @throws IOException when the file cannot be written
     * @throws IllegalStateException when there is no scheduler, or one of them is being traced already
     */
    public static Trace start(Path file) throws IOException {
        return start(file, Scheduler.all());
    }

    /**
     * Traces one scheduler.
     *
     * @param file the file to write, which is replaced if it exists
     * @throws IOException when the file cannot be written
     * @throws IllegalStateException when the scheduler is closed, or is being traced already
     */
    public static Trace start(Gmp gmp, Path file) throws IOException {
        Objects.requireNonNull(gmp, "gmp");
        return start(file, Scheduler.all().stream().filter(s -> s.owner() == gmp).toList());
    }

    private static Trace start(Path file, List<Scheduler> schedulers) throws IOException {
        Objects.requireNonNull(file, "file");
        if (schedulers.isEmpty()) {
            throw new IllegalStateException("there is no open Gmp to trace");
        }
        return new Trace(Session.start(schedulers, file));
    }

    /**
     * Ends the trace and writes its file. If it throws an OutOfMemoryError, another call continues. After a complete call, further calls do
     * nothing. The call may take as long as the trace ran. So a goroutine for which others wait should not make the call.
     *
     * <p>Any thread may call it. An interrupt does not end it, and the clock of a bubble does not move on during it.
     *
     * @throws IOException when the file or the spool could not be written
     */
    public void stop() throws IOException {
        session.stop();
    }

    /** Calls {@link #stop}. */
    @Override
    public void close() throws IOException {
        stop();
    }

    /** Returns the number of events in the file. Valid after {@link #stop}. */
    public long events() {
        return session.events();
    }

    /** Returns the number of batches, of some 4,000 events each, that were dropped. Valid after {@link #stop}. */
    public long dropped() {
        return session.dropped();
    }

    // Events that the program adds

    /**
     * A piece of work that several goroutines may share. It has a lane of its own in the trace, from its creation to {@link #close}. It
     * costs almost nothing while no trace runs. Thread-safe.
     */
    public static final class Task implements AutoCloseable {
        private final long id = TASKS.incrementAndGet();
        private boolean ended;

        private Task(String name, long parent) {
            Tracing.user(Ev.TASK_BEGIN, name, id, parent);
        }

        /** Begins a task that is part of this one. */
        public Task task(String name) {
            return new Task(Objects.requireNonNull(name, "name"), id);
        }

        /** Ends the task. A second call does nothing. */
        @Override
        public void close() {
            synchronized (this) {
                if (ended) {
                    return;
                }
                ended = true;
            }
            Tracing.user(Ev.TASK_END, null, id, 0);
        }
    }

    /** A part of one goroutine's work, from its creation to {@link #close}. Regions may be nested. Only that goroutine may use it. */
    public static final class Region implements AutoCloseable {
        private Region(String name) {
            Tracing.user(Ev.REGION_BEGIN, name, 0, 0);
        }

        @Override
        public void close() {
            Tracing.user(Ev.REGION_END, null, 0, 0);
        }
    }

    /** Begins a task. The trace shows the task only if the caller is a goroutine. */
    public static Task task(String name) {
        return new Task(Objects.requireNonNull(name, "name"), 0);
    }

    /** Begins a region of the calling goroutine. On other threads it does nothing. */
    public static Region region(String name) {
        return new Region(Objects.requireNonNull(name, "name"));
    }

    /** Runs {@code body} in a region of the calling goroutine. */
    public static void region(String name, Runnable body) {
        Region r = region(name);
        try {
            body.run();
        } finally {
            r.close();
        }
    }

    /** Writes a message, cut to 4,000 bytes, into the calling goroutine's lane. On other threads it does nothing. */
    public static void log(String category, String message) {
        if (Tracing.on()) {
            Tracing.log(category + ": " + message);
        }
    }
}
