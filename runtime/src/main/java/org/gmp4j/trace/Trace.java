// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.trace;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Gmp;
import org.gmp4j.events.Ev;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Tracing;
import org.gmp4j.tracing.Session;

/**
 * An execution trace: what each P and each goroutine did, when, and who woke whom. The file opens in Perfetto (ui.perfetto.dev); {@code gmp
 * trace FILE} sums it up. {@code GMPDEBUG=trace=FILE} writes one without a change to the program.
 *
 * <p>While it runs a switch takes some 20 ns more, and up to three times that where the CPUs are busy with the spool too. A start of a
 * goroutine whose function is no lambda takes some microseconds more, as the stack is walked to name the place. Begin and end stop the
 * world for a moment, which takes longer the more goroutines live. Full batches of events go to a spool file beside the file, which needs
 * 16 bytes an event; when the disk is slower than the program whole batches are dropped and counted. The file itself is written by
 * {@link #stop}, and is some four to eight times as long as the spool. When a deadlock, an uncaught exception or another fatal error ends a
 * program, traces that have begun are written too, after the error's text.
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
     * @param file is replaced if it is there
     * @throws IOException when it cannot be written
     * @throws IllegalStateException when there is no scheduler, or one of them is being traced already
     */
    public static Trace start(Path file) throws IOException {
        return start(file, Scheduler.all());
    }

    /**
     * Traces one scheduler.
     *
     * @param file is replaced if it is there
     * @throws IOException when it cannot be written
     * @throws IllegalStateException when it is closed, or is being traced already
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
        return new Trace(Session.start(schedulers, file, 0));
    }

    /**
     * Ends the trace and writes its file. A second call does nothing, unless the first ended with an OutOfMemoryError: then it goes on.
     * Not from a goroutine that others wait for: it may take as long as the trace did.
     *
     * <p>Any thread may call it. No interrupt ends it, and in a bubble it holds the clock.
     *
     * @throws IOException when the file, or the spool before it, could not be written
     */
    public void stop() throws IOException {
        session.stop();
    }

    /** {@link #stop}. */
    @Override
    public void close() throws IOException {
        stop();
    }

    /** After {@link #stop}: how many events the file has. */
    public long events() {
        return session.events();
    }

    /** After {@link #stop}: how many batches, of some 4,000 events each, are missing. */
    public long dropped() {
        return session.dropped();
    }

    // What users mark

    /**
     * A piece of work that many goroutines may do parts of; a lane of its own, from here to {@link #close}. Costs next to nothing while no
     * trace runs. Thread-safe.
     */
    public static final class Task implements AutoCloseable {
        private final long id = TASKS.incrementAndGet();
        private boolean ended;

        private Task(String name, long parent) {
            Tracing.user(Ev.TASK_BEGIN, name, id, parent);
        }

        /** A task that is part of this one. */
        public Task task(String name) {
            return new Task(Objects.requireNonNull(name, "name"), id);
        }

        /** The task has ended. A second call does nothing. */
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

    /** A stretch of what one goroutine does, from here to {@link #close}; regions nest. Of that goroutine. */
    public static final class Region implements AutoCloseable {
        private Region(String name) {
            Tracing.user(Ev.REGION_BEGIN, name, 0, 0);
        }

        @Override
        public void close() {
            Tracing.user(Ev.REGION_END, null, 0, 0);
        }
    }

    /** Begins a task; in a goroutine, elsewhere it is not in the trace. */
    public static Task task(String name) {
        return new Task(Objects.requireNonNull(name, "name"), 0);
    }

    /** Begins a region of the calling goroutine; on other threads nothing happens. */
    public static Region region(String name) {
        return new Region(Objects.requireNonNull(name, "name"));
    }

    /** Runs {@code body} as a region. */
    public static void region(String name, Runnable body) {
        Region r = region(name);
        try {
            body.run();
        } finally {
            r.close();
        }
    }

    /** A message at this moment, of at most 4,000 bytes, in the lane of the calling goroutine; on other threads nothing happens. */
    public static void log(String category, String message) {
        if (Tracing.on()) {
            Tracing.log(category + ": " + message);
        }
    }
}
