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
 * The places where goroutines of a scheduler waited, or held a lock for which others waited, with the number and the time of these waits. A
 * place is a stack with labels. The profile is off until {@link #setRate} or {@link #openWindow} is called. While it is off, it costs a
 * wait only two loads and well predicted branches.
 *
 * <p>A sample is taken on the goroutine's own stack, inside {@code GStack.enter}, when its wait is over, or when it has released the lock.
 * Sampling must not fail there, so without enough room on the stack, or memory, no sample is taken. The map is guarded by a monitor, for
 * which the goroutine waits pinned.
 */
public final class WaitProfile {
    /** The room on the stack, bytes, that reading a stack needs in addition to a section of the runtime. */
    private static final long ROOM = 64 << 10;

    /** The counts of one place. They are estimates if a sample represents more than one wait. */
    public static final class Place {
        /** The frames, innermost first, without those of the runtime. */
        public final List<StackTraceElement> frames;
        /** The goroutine's labels. */
        public final Map<String, String> labels;
        private double count;
        private double nanos;

        private Place(List<StackTraceElement> frames, Map<String, String> labels) {
            this.frames = frames;
            this.labels = labels;
        }

        /** Returns the number of waits. */
        public long count() {
            return Math.round(count);
        }

        /** Returns the total time, ns. */
        public long nanos() {
            return Math.round(nanos);
        }
    }

    private record Key(List<StackTraceElement> frames, Map<String, String> labels) {
    }

    private final Map<Key, Place> places = new HashMap<>();
    /**
     * The rate; 0 for off. The callers of {@link #isOn} define the meaning of other values. It is the program's rate, or, if the program
     * has set none, the window's. Written under the monitor of {@link #places}.
     */
    private volatile long rate;
    /**
     * The rate that the program has set; 0 for none. {@link #window} is that of an open window. Both are used under the monitor of
     * {@link #places}.
     */
    private long wanted;
    private long window;
    /** Whether waits are passed to the {@code Recorder}. */
    private volatile boolean recorded;

    /**
     * Sets the rate. 0 turns the profile off, but keeps the waits that were found.
     *
     * @param what the beginning of the exception's message
     * @throws IllegalArgumentException when the rate is negative
     */
    public void setRate(long rate, String what) {
        if (rate < 0) {
            throw new IllegalArgumentException(what + ": use 0 or more");
        }
        boolean _ = setRates(rate, -1);
    }

    /**
     * Opens a window. Until {@link #closeWindow}, waits are sampled at this rate, or at the program's, if it has set one.
     *
     * @return false, without a change, when a window is open already
     */
    public boolean openWindow(long rate) {
        return setRates(-1, rate);
    }

    /** Closes the window that {@link #openWindow} has opened. */
    public void closeWindow() {
        boolean _ = setRates(-1, 0);
    }

    /**
     * Sets the program's rate and the window's; a negative argument leaves that rate as it is. Returns false, without a change, if a second
     * window would be opened.
     */
    private boolean setRates(long ofProgram, long ofWindow) {
        JdkThreads.pin(); // For the reason in all().
        try {
            synchronized (places) {
                if (ofWindow > 0 && window != 0) {
                    return false;
                }
                wanted = ofProgram < 0 ? wanted : ofProgram;
                window = ofWindow < 0 ? window : ofWindow;
                rate = wanted != 0 ? wanted : window;
                return true;
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Sets whether waits are passed to the {@code Recorder}. */
    public void setRecorded(boolean recorded) {
        this.recorded = recorded;
    }

    /** Returns whether a wait is examined when it is over. */
    public boolean isOn() {
        return rate != 0 || recorded;
    }

    /** Returns the present rate. */
    public long rate() {
        return rate;
    }

    /**
     * Adds a wait that took {@code nanos}. A wait that is shorter than the rate, in ns, is sampled with a probability in proportion to its
     * length. Any other wait is always sampled.
     *
     * @param labels the goroutine's labels; null for none
     * @param system whether frames of the runtime are kept
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

    /** Adds the release of a lock for which another goroutine has waited {@code nanos}. One in {@code rate} releases is sampled. */
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
            return; // This sample is left out.
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Returns copies of all places. */
    public List<Place> all() {
        JdkThreads.pin(); // Holders of the monitor are pinned. They could keep an unpinned waiter from unmounting.
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
