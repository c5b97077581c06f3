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

import org.gmp4j.proc.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * A trace of some schedulers into a file. While it runs full batches go to a spool beside the file, by a thread of its own; in the end they
 * are put in order and written for Perfetto. Thread-safe.
 */
public final class Session {
    /** The lane above all; its name and its last event mark a file as ours, and whole. */
    static final long ROOT = 1;
    /** The name of that lane. */
    static final String TITLE = "gmp4j trace 1";
    /** The name of the last event. */
    static final String LAST = "end of trace";

    private static final long POOL = 32L << 20;
    private static final long NAP_MILLIS = 5;
    private static final int BUFFER = 1 << 16;

    private final Path file;
    private final Path spoolFile;
    private final FileChannel spool;
    private final List<Recording> recordings = new ArrayList<>();
    private final Thread thread;
    private @Nullable IOException failed;
    private volatile boolean over;
    private boolean stopped;
    private long dropped;
    private long events;

    private Session(Path file) throws IOException {
        this.file = file;
        Files.newOutputStream(file).close(); // Now rather than in the end, if it cannot be.
        spoolFile = file.resolveSibling(file.getFileName() + ".spool");
        spool = FileChannel.open(spoolFile, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.READ,
                StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
        thread = Thread.ofPlatform().daemon().name("gmp-trace").unstarted(this::drain);
    }

    /**
     * Begins.
     *
     * @param schedulers those that are to be traced; one that is closed is left out unless it is the only one
     * @param bytes memory for events of each that are not in the spool yet; 0 for the usual 32 MiB
     * @throws IOException when the file or the spool cannot be written
     * @throws IllegalStateException when one is being traced already, or is closed
     */
    public static Session start(List<Scheduler> schedulers, Path file, long bytes) throws IOException {
        Session session = new Session(file);
        boolean started = false;
        try {
            for (Scheduler s : schedulers) {
                if (schedulers.size() > 1 && s.isStopped()) {
                    continue;
                }
                Recording r = new Recording(s, bytes == 0 ? POOL : bytes, null);
                r.start();
                session.recordings.add(r);
            }
            session.thread.start();
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
        Files.deleteIfExists(file);
    }

    /** The thread: what is full goes to the disk. */
    private void drain() {
        while (!over) {
            if (!drainOnce()) {
                try {
                    Thread.sleep(NAP_MILLIS);
                } catch (InterruptedException e) {
                    return; // Nobody does; stop() drains the rest.
                }
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
     * Ends it and writes the file. Called again it does nothing.
     *
     * @throws IOException when the file or the spool could not be written
     */
    public synchronized void stop() throws IOException {
        if (stopped) {
            return;
        }
        stopped = true;
        for (Recording r : recordings) {
            r.stop(null);
        }
        over = true;
        joinUninterruptibly();
        boolean _ = drainOnce();
        try (spool; Arena arena = Arena.ofShared(); OutputStream out = open(file)) {
            for (Recording r : recordings) {
                r.map(spool, arena);
            }
            Recording.Trace[] traces = write(out, recordings, Long.MAX_VALUE);
            for (Recording.Trace t : traces) {
                dropped += t.dropped();
                events += t.events();
            }
        } finally {
            for (Recording r : recordings) {
                r.release();
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    /** Has {@link #stop} called when the JVM shuts down, with a line on stderr if it fails. */
    public void stopAtExit() {
        Runtime.getRuntime().addShutdownHook(new Thread(null, () -> {
            try {
                stop();
            } catch (IOException e) {
                System.err.println("gmp4j: the trace could not be written: " + e.getMessage());
            }
        }, "gmp-trace-end", 0, false));
    }

    private void joinUninterruptibly() {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    static OutputStream open(Path file) throws IOException {
        return new BufferedOutputStream(Files.newOutputStream(file), BUFFER);
    }

    /** A whole file. */
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

    /** After {@link #stop}: how many batches of some 4,000 events are missing. */
    public synchronized long dropped() {
        return dropped;
    }

    /** After {@link #stop}: how many events are in the file. */
    public synchronized long events() {
        return events;
    }
}
