// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

import org.gmp4j.print.Frames;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * Where goroutines of a scheduler waited, or held what others waited for: by stack and labels, how often and how long. Off until
 * {@link #setRate}; off, a wait costs two loads and branches that are always the same.
 *
 * <p>A sample is taken on the goroutine's own stack, inside {@code GStack.enter}, when its wait is over, or when it has given the lock
 * back. It must not fail there: without room on the stack, or memory, no sample is taken. The map has a lock of the JDK's, for which
 * the goroutine waits pinned.
 */
public final class WaitProfile {
    /** The room on the stack, in bytes, that reading a stack takes, beside a section of the runtime. */
    private static final long ROOM = 64 << 10;

    /** What was counted at one place. Numbers are estimates where a sample stands for more than itself. */
    public static final class Place {
        /** Innermost first, the runtime's own left out. */
        public final List<StackTraceElement> frames;
        /** The goroutine's labels. */
        public final Map<String, String> labels;
        private double count;
        private double nanos;

        private Place(List<StackTraceElement> frames, Map<String, String> labels) {
            this.frames = frames;
            this.labels = labels;
        }

        /** How often. */
        public long count() {
            return Math.round(count);
        }

        /** How long in all, in ns. */
        public long nanos() {
            return Math.round(nanos);
        }
    }

    private record Key(List<StackTraceElement> frames, Map<String, String> labels) {
    }

    private final Map<Key, Place> places = new HashMap<>();
    /** 0 for off; what another value means is up to the caller of {@link #isOn}. */
    private volatile long rate;
    /** Whether the {@code Recorder} wants waits. */
    private volatile boolean recorded;

    /**
     * Sets it; 0 turns it off, and the waits that were found stay.
     *
     * @param what the sentence for the user begins with it
     * @throws IllegalArgumentException when the rate is negative
     */
    public void setRate(long rate, String what) {
        if (rate < 0) {
            throw new IllegalArgumentException(what + ": use 0 or more");
        }
        this.rate = rate;
    }

    /** Sets whether the {@code Recorder} wants waits. */
    public void setRecorded(boolean recorded) {
        this.recorded = recorded;
    }

    /** Whether a wait is looked at when it is over. */
    public boolean isOn() {
        return rate != 0 || recorded;
    }

    /** As {@link #setRate} has set it. */
    public long rate() {
        return rate;
    }

    /**
     * A wait that took {@code nanos} is over. If it is shorter than the rate, in ns, it is sampled with a probability in proportion to its
     * length, and always otherwise.
     *
     * @param labels the goroutine's; null for none
     * @param system whether frames of the runtime are to be shown
     */
    public void waited(@Nullable Map<String, String> labels, boolean system, long nanos) {
        long r = rate;
        if (r == 0) {
            return;
        }
        if (nanos >= r) {
            add(labels, system, 1, nanos);
        } else if (nanos > 0 && ThreadLocalRandom.current().nextLong(r) < nanos) {
            add(labels, system, (double) r / nanos, r);
        }
    }

    /** A lock was given back for which another goroutine has waited {@code nanos}: one in {@code rate} such events is sampled. */
    public void held(@Nullable Map<String, String> labels, boolean system, long nanos) {
        long r = rate;
        if (r != 0 && (r == 1 || ThreadLocalRandom.current().nextLong(r) == 0)) {
            add(labels, system, r, (double) r * nanos);
        }
    }

    private void add(@Nullable Map<String, String> labelled, boolean system, double count, double nanos) {
        if (Headroom.left() < Headroom.toTake() + ROOM) {
            return;
        }
        JdkThreads.pin();
        try {
            Map<String, String> labels = labelled == null ? Map.of() : labelled;
            List<StackTraceElement> frames = Frames.users(new Throwable().getStackTrace(), system);
            synchronized (places) {
                Key key = new Key(frames, labels);
                Place p = places.get(key);
                if (p == null) {
                    p = new Place(frames, labels);
                    places.put(key, p);
                }
                p.count += count;
                p.nanos += nanos;
            }
        } catch (OutOfMemoryError | StackOverflowError | NoClassDefFoundError e) {
            return; // One sample less.
        } finally {
            JdkThreads.unpin();
        }
    }

    /** All that there is: copies. */
    public List<Place> all() {
        JdkThreads.pin(); // Its holders are pinned, so a waiter that is not pinned could be kept by them from unmounting.
        try {
            synchronized (places) {
                List<Place> all = new ArrayList<>();
                for (Place p : places.values()) {
                    Place copy = new Place(p.frames, p.labels);
                    copy.count = p.count;
                    copy.nanos = p.nanos;
                    all.add(copy);
                }
                return all;
            }
        } finally {
            JdkThreads.unpin();
        }
    }
}
