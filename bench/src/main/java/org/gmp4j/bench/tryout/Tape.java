// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.Histograms;

/**
 * Latencies of a turn, by when a request was due: those of the young service in windows, altogether, and in slots for pictures; and
 * those of the warm one. A request that was never answered counts with the time that it has waited.
 *
 * <p>One thread writes. {@link #errors}, {@link #broken} and {@link #all} may be read by others meanwhile; the rest when the writer has
 * ended.
 */
final class Tape implements Answers {
    /** Of the picture, and of the search for when a service has settled twice as long. */
    static final double SLOT_SECONDS = 0.25;
    private static final int SETTLING_SLOTS = 2;
    private static final double SETTLED_NANOS = 5e6;
    private static final int SLOT_DIGITS = 2;
    private static final int ERROR = 400;
    private static final int STATUSES = 1000;
    private static final long SECOND = 1_000_000_000L;

    private final long begin;
    private final long youngEnd;
    private final long warmBegin;
    private final long warmEnd;
    private final List<Window> windows;
    private final Histogram young = Histograms.latencies();
    private final Histogram warm = Histograms.latencies();
    private final Histogram youngLate = Histograms.latencies();
    private final Histogram warmLate = Histograms.latencies();
    private final List<Histogram> slots = new ArrayList<>();
    private final long[] statuses = new long[STATUSES];
    private long least = Long.MAX_VALUE;
    private long most = -1;
    private volatile long errors;
    private volatile long broken;
    private volatile long all;

    /** Latencies of the requests that were due in so many seconds of the service's life. */
    record Window(double from, double to, Histogram latencies) {
        static String name(double from, double to) {
            return Format.plain(from) + " to " + Format.plain(to) + " s";
        }

        String name() {
            return name(from, to);
        }
    }

    /** Makes a tape that begins at a time by nanoTime. The warm part begins so many seconds later, or never for 0. */
    Tape(long begin, double seconds, double warmup) {
        this.begin = begin;
        youngEnd = (long) (seconds * SECOND);
        warmBegin = warmup == 0 ? Long.MAX_VALUE : (long) (warmup * SECOND);
        warmEnd = warmup == 0 ? Long.MAX_VALUE : warmBegin + youngEnd;
        windows = windows(seconds);
        for (double at = 0; at < seconds; at += SLOT_SECONDS) {
            slots.add(Histograms.latencies(SLOT_DIGITS));
        }
    }

    /** Returns the windows: 0 to 1 s, and then each as long as all before. */
    static List<Window> windows(double seconds) {
        List<Window> all = new ArrayList<>();
        for (double from = 0, to = 1; from < seconds; from = to, to *= 2) {
            all.add(new Window(from, Math.min(to, seconds), Histograms.latencies()));
        }
        return all;
    }

    @Override
    public void sent(long due, long now) {
        long at = due - begin;
        if (at < youngEnd) {
            youngLate.recordValue(now - due);
        } else if (at >= warmBegin && at < warmEnd) {
            warmLate.recordValue(now - due);
        }
    }

    @Override
    public void answered(long due, long now, int status, long length) {
        record(due, now - due);
        count(status, length);
    }

    @Override
    public void broken(long due, long now) {
        record(due, now - due);
        countBroken();
    }

    /** Counts an answer whose latency is of no interest here. */
    void count(int status, long length) {
        all = all + 1;
        statuses[Math.min(status, STATUSES - 1)]++;
        if (status >= ERROR) {
            errors = errors + 1; // It has one writer.
        } else {
            least = Math.min(least, length);
            most = Math.max(most, length);
        }
    }

    /** Counts a request without an answer whose latency is of no interest here. */
    void countBroken() {
        all = all + 1;
        broken = broken + 1;
    }

    private void record(long due, long nanos) {
        long at = due - begin;
        if (at < youngEnd) {
            young.recordValue(nanos);
            slots.get(Math.min(slots.size() - 1, (int) (at / (SLOT_SECONDS * SECOND)))).recordValue(nanos);
            for (Window w : windows) {
                if (at < w.to * SECOND) {
                    w.latencies.recordValue(nanos);
                    return;
                }
            }
        } else if (at >= warmBegin && at < warmEnd) {
            warm.recordValue(nanos);
        }
    }

    long errors() {
        return errors;
    }

    long broken() {
        return broken;
    }

    /** Requests that were answered or will not be. */
    long all() {
        return all;
    }

    List<Window> windows() {
        return windows;
    }

    Histogram young() {
        return young;
    }

    Histogram warm() {
        return warm;
    }

    /** Returns the client's own lateness while the service was young. */
    Histogram youngLate() {
        return youngLate;
    }

    Histogram warmLate() {
        return warmLate;
    }

    List<Histogram> slots() {
        return slots;
    }

    /** Returns the number of answers by status. */
    TreeMap<Integer, Long> statuses() {
        TreeMap<Integer, Long> found = new TreeMap<>();
        for (int i = 0; i < STATUSES; i++) {
            if (statuses[i] > 0) {
                found.put(i, statuses[i]);
            }
        }
        return found;
    }

    /** Returns the least length of an answer that is no error; above {@link #mostLength} if there is none. */
    long leastLength() {
        return least;
    }

    long mostLength() {
        return most;
    }

    /** Returns the most frequent status of an error. */
    int usualError() {
        int usual = ERROR;
        for (int i = ERROR; i < STATUSES; i++) {
            usual = statuses[i] > statuses[usual] ? i : usual;
        }
        return usual;
    }

    /**
     * Seconds until the first half second, of the young ones, in which the mean latency is below 5 ms; NaN if there is none. A half second
     * without a request says nothing.
     */
    double settled() {
        for (int i = 0; i + SETTLING_SLOTS <= slots.size(); i += SETTLING_SLOTS) {
            double sum = 0;
            long count = 0;
            for (Histogram h : slots.subList(i, i + SETTLING_SLOTS)) {
                sum += h.getTotalCount() == 0 ? 0 : h.getMean() * h.getTotalCount();
                count += h.getTotalCount();
            }
            if (count > 0 && sum / count < SETTLED_NANOS) {
                return i * SLOT_SECONDS;
            }
        }
        return Double.NaN;
    }
}
