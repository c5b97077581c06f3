// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import org.gmp4j.events.Places;
import org.gmp4j.events.WaitProfile;
import org.gmp4j.metrics.Profile.Sample;
import org.gmp4j.report.WaitSampler;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.tracing.Session;

/**
 * Profiles and traces of a given length, for users outside of the process, who call {@link GmpMXBean} or request pages of
 * {@link MetricsServer}. Each call lasts as long as its recording, and stops the recording even if the user disconnects.
 */
final class Inspection {
    /** The greatest length, seconds. */
    static final int MOST_SECONDS = 3600;
    private static final double NANOS = 1e9;
    private static final long CPU_INTERVAL = 10_000_000;
    /** All waits of at least this length, ns, are recorded. Of shorter waits a sample is recorded. */
    private static final long BLOCK_RATE = 10_000;
    /** All unlocks for which a goroutine waited are recorded. */
    private static final long MUTEX_RATE = 1;

    enum Kind {
        CPU,
        BLOCK,
        MUTEX;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        static Kind of(String text) {
            for (Kind k : values()) {
                if (k.text().equals(text)) {
                    return k;
                }
            }
            throw new IllegalArgumentException("there is no profile \"" + text + "\": use cpu, block or mutex");
        }
    }

    private Inspection() {
    }

    /**
     * Profiles a scheduler for some seconds.
     *
     * @throws IllegalArgumentException when {@code seconds} is out of range
     * @throws IllegalStateException when another profile of waits or locks is being taken
     * @throws InterruptedException when the caller is interrupted during the call
     */
    static Profile profile(Scheduler s, Kind kind, double seconds) throws InterruptedException {
        long nanos = nanos(seconds);
        return switch (kind) {
            case CPU -> {
                try (CpuProfiler p = new CpuProfiler(s, CPU_INTERVAL)) {
                    TimeUnit.NANOSECONDS.sleep(nanos);
                    yield p.stop();
                }
            }
            case BLOCK -> {
                WaitSampler inJdk = new WaitSampler(s);
                List<Sample> samples = waits(s.blockProfile, kind, BLOCK_RATE, () -> {
                    inJdk.start();
                    try {
                        TimeUnit.NANOSECONDS.sleep(nanos);
                    } finally {
                        inJdk.stop();
                    }
                });
                samples.addAll(Profile.samples(inJdk.found()));
                yield new Profile(kind.text(), samples);
            }
            case MUTEX -> new Profile(kind.text(), waits(s.mutexProfile, kind, MUTEX_RATE, () -> TimeUnit.NANOSECONDS.sleep(nanos)));
        };
    }

    /** A wait during which events are recorded. */
    private interface Span {
        void pass() throws InterruptedException;
    }

    /** Returns the samples of a span. The program may record a profile of its own meanwhile. */
    private static List<Sample> waits(WaitProfile p, Kind kind, long rate, Span span) throws InterruptedException {
        if (!p.openWindow(rate)) {
            throw new IllegalStateException("another " + kind.text() + " profile of it is being taken");
        }
        Places found;
        try {
            span.pass();
        } finally {
            found = p.closeWindow();
        }
        return Profile.samples(found);
    }

    /**
     * Writes a trace of some seconds of all schedulers of the process.
     *
     * @throws IllegalArgumentException when {@code seconds} is out of range, or the file cannot be written
     * @throws IllegalStateException when a scheduler is being traced already
     * @throws InterruptedException when the caller is interrupted during the call; the trace is written nevertheless
     */
    static void trace(Path file, double seconds) throws InterruptedException {
        long nanos = nanos(seconds);
        try {
            Session session = Session.start(Scheduler.all(), file);
            try {
                TimeUnit.NANOSECONDS.sleep(nanos);
            } finally {
                session.stop();
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot write " + file + ": " + problem(e), e);
        }
    }

    /** Returns why a file cannot be written, without the file's name. */
    static String problem(IOException e) {
        if (e instanceof FileSystemException f && f.getReason() != null) {
            return f.getReason();
        }
        return switch (e.getClass().getSimpleName()) {
            case "NoSuchFileException" -> "there is no such folder";
            case "AccessDeniedException" -> "permission denied";
            default -> e.toString();
        };
    }

    private static long nanos(double seconds) {
        if (!(seconds > 0 && seconds <= MOST_SECONDS)) {
            throw new IllegalArgumentException("seconds is " + seconds + ": use more than 0, and at most " + MOST_SECONDS);
        }
        return (long) (seconds * NANOS);
    }
}
