// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.print.Stderr;
import org.gmp4j.report.Fatal;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.jspecify.annotations.Nullable;

/**
 * Traces some schedulers, and writes the trace to a file. During the trace a thread of its own moves full batches of events to a spool, a
 * file in the same folder. At the end the events are ordered and written in Perfetto's format. Thread-safe.
 */
public final class Session implements Fatal.Unsaved {
    /** The lane above all others. Its name shows that gmp4j wrote the file, and its last event shows that the file is complete. */
    static final long ROOT = 1;
    /** The name of that lane. */
    static final String TITLE = "gmp4j trace 1";
    /** The name of that lane's last event. */
    static final String LAST = "end of trace";

    /** The memory, in bytes, for each scheduler's events that are not yet in the spool. */
    private static final long POOL = 32L << 20;
    private static final long NAP_NANOS = 5_000_000;
    private static final int BUFFER = 1 << 16;

    private final Path file;
    /** Whether the file existed before. */
    private final boolean found;
    private final FileChannel spool;
    private final List<Recording> recordings;
    private final Thread thread;
    private volatile @Nullable IOException failed;
    private volatile boolean over;
    /** The number of recordings that have ended. */
    private int ended;
    private boolean stopped;
    private long dropped;
    private long events;

    private Session(Path file, int recordings) throws IOException {
        this.file = file;
        this.recordings = new ArrayList<>(recordings); // There is room for all, because adding must not fail.
        found = Files.exists(file);
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close(); // An error shows here, not at the end.
        Path name = file.toAbsolutePath();
        spool = FileChannel.open(Files.createTempFile(name.getParent(), name.getFileName() + ".", ".spool"), StandardOpenOption.READ,
                StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
        thread = new OwnThread(this::drain, "gmp-trace");
    }

    /**
     * Begins to trace.
     *
     * @param schedulers the schedulers to trace. Closed ones are left out
     * @throws IOException when the file or the spool cannot be written
     * @throws IllegalStateException when a scheduler is being traced already, or all are closed
     */
    public static Session start(List<Scheduler> schedulers, Path file) throws IOException {
        Session session = new Session(file, schedulers.size());
        boolean started = false;
        try {
            for (Scheduler s : schedulers) {
                Recording r = new Recording(s, POOL, null);
                try {
                    r.start();
                } catch (IllegalStateException e) {
                    if (s.isStopped()) {
                        continue;
                    }
                    throw e;
                }
                session.recordings.add(r);
            }
            if (session.recordings.isEmpty()) {
                throw new IllegalStateException("the Gmp is closed");
            }
            session.thread.start();
            Fatal.saveAtEnd(session);
            started = true;
        } finally {
            if (!started) {
                session.abandon();
            }
        }
        return session;
    }

    private void abandon() throws IOException {
        for (Recording r : recordings) {
            r.stop(null);
            r.release();
        }
        spool.close();
        if (!found) {
            Files.deleteIfExists(file);
        }
    }

    /** The thread's loop. Moves full batches to the disk. */
    private void drain() {
        while (!over) {
            try {
                if (!drainOnce()) {
                    LockSupport.parkNanos(NAP_NANOS);
                }
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(NAP_NANOS); // The batch that could not be moved counts as dropped.
            }
        }
    }

    private boolean drainOnce() {
        boolean any = false;
        for (Recording r : recordings) {
            try {
                any |= r.spool(spool);
            } catch (IOException e) {
                failed = e;
            }
        }
        return any;
    }

    /**
     * Ends the trace and writes the file. If it throws an OutOfMemoryError, another call continues where this call ended. After a complete
     * call, further calls do nothing.
     *
     * @throws IOException when the file or the spool could not be written
     */
    public synchronized void stop() throws IOException {
        if (stopped) {
            return;
        }
        for (; ended < recordings.size(); ended++) {
            recordings.get(ended).stop(null);
        }
        over = true;
        OwnThread.joinUninterruptibly(thread);
        // A new thread writes the file, because an interrupt of the caller's thread would close the spool.
        FutureTask<Void> writing = new FutureTask<>(this::finish);
        Thread t = new OwnThread(writing, "gmp-trace-end");
        t.start();
        OwnThread.joinUninterruptibly(t);
        switch (writing.state()) {
            case SUCCESS -> {
                stopped = true;
                Fatal.saved(this);
            }
            case FAILED -> {
                Throwable e = writing.exceptionNow();
                if (e instanceof OutOfMemoryError again) {
                    throw again;
                }
                stopped = true;
                Fatal.saved(this);
                release();
                throw e instanceof IOException io ? io : new IOException("the trace could not be written: " + e, e);
            }
            default -> throw new IllegalStateException("the trace was not written"); // Its thread found no memory to begin.
        }
        release();
        if (failed != null) {
            throw failed;
        }
    }

    private @Nullable Void finish() throws IOException {
        boolean _ = drainOnce();
        dropped = 0;
        events = 0;
        try (Arena arena = Arena.ofShared(); OutputStream out = open(file)) {
            for (Recording r : recordings) {
                r.map(spool, arena);
            }
            for (Recording.Trace t : write(out, recordings, Long.MAX_VALUE)) {
                dropped += t.dropped();
                events += t.events();
            }
        }
        return null;
    }

    private void release() throws IOException {
        for (Recording r : recordings) {
            r.release();
        }
        spool.close();
    }

    /** Makes the JVM call {@link #stop} when it shuts down. If that call fails, a line is printed on stderr. */
    public void stopAtExit() {
        Runtime.getRuntime().addShutdownHook(new OwnThread(this::save, "gmp-trace-end"));
    }

    /** Calls {@link #stop}. If it fails, prints a line on stderr. */
    @Override
    public void save() {
        try {
            stop();
        } catch (IOException e) {
            Stderr.print("gmp4j: the trace could not be written: " + e.getMessage() + "\n");
        }
    }

    @Override
    public boolean isWriting() {
        return over;
    }

    static OutputStream open(Path file) throws IOException {
        return new BufferedOutputStream(Files.newOutputStream(file), BUFFER);
    }

    /** Writes a complete file. */
    static Recording.Trace[] write(OutputStream to, List<Recording> recordings, long keep) throws IOException {
        Perfetto out = new Perfetto(to);
        out.track(ROOT, 0, TITLE, false);
        Recording.Trace[] traces = new Recording.Trace[recordings.size()];
        for (int i = 0; i < traces.length; i++) {
            traces[i] = recordings.get(i).write(out, i + 1, keep);
        }
        for (int i = 0; i < traces.length; i++) {
            Recording.Trace t = traces[i];
            out.instant(ROOT, i == traces.length - 1 ? LAST : "end of a scheduler").with("events", t.events())
                    .with("dropped batches", t.dropped()).with("goroutines before", t.before()).with("created", t.created())
                    .with("ended", t.ended()).with("goroutines after", t.after()).with("begin", t.begin()).with("end", t.end())
                    .put(t.end());
        }
        return traces;
    }

    /** Returns the number of batches, of some 4,000 events each, that are missing. Valid after {@link #stop}. */
    public synchronized long dropped() {
        return dropped;
    }

    /** Returns the number of events in the file. Valid after {@link #stop}. */
    public synchronized long events() {
        return events;
    }
}
