// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

import org.gmp4j.print.Frames;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * Counts and times waits by place: where goroutines of a scheduler waited, or held a lock for which another goroutine waited. A place is a
 * stack with labels ({@link Places}). The profile is off until {@link #setRate} or {@link #openWindow} is called. While it is off, it costs
 * a wait only two loads and well predicted branches.
 *
 * <p>A sample is taken on the goroutine's own stack, inside {@code GStack.enter}, when its wait is over, or when it has released the lock.
 * Sampling must not fail there. So no sample is taken if there is too little room on the stack, or too little memory. Places are
 * added under a monitor, and a goroutine is pinned while it waits for the monitor. Places are read without the monitor.
 */
public final class WaitProfile {
    /** The room on the stack, bytes, that reading a stack needs in addition to a section of the runtime. */
    private static final long ROOM = 64 << 10;

    /** The places that were found at the rate that the program has set. Its monitor also guards {@link #window} and the rates. */
    private final Places kept = new Places();
    /** The places that were found since a window was opened; null if none is open. */
    private @Nullable Places window;
    /**
     * The rate; 0 for off. {@link #waited} and {@link #held} define the meaning of other values. This is the rate of the program or, if the
     * program has set none, of the window. Written under the monitor.
     */
    private volatile long rate;
    /** The rate that the program has set; 0 for none. */
    private long wanted;
    /** The rate of the window; 0 if none is open. */
    private long ofWindow;
    /** Whether waits are passed to the {@code Recorder}. */
    private volatile boolean recorded;

    /**
     * Sets the program's rate. 0 turns the program's profile off, but keeps the waits that were found.
     *
     * @param what the beginning of the exception's message
     * @throws IllegalArgumentException when the rate is negative
     */
    public void setRate(long rate, String what) {
        if (rate < 0) {
            throw new IllegalArgumentException(what + ": use 0 or more");
        }
        JdkThreads.pin(); // An unmounted waiter that is to get the monitor might find no carrier while pinned waiters keep all carriers.
        try {
            synchronized (kept) {
                wanted = rate;
                updateRate();
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    private void updateRate() {
        rate = wanted != 0 ? wanted : ofWindow;
    }

    /**
     * Opens a window. Until {@link #closeWindow}, waits are sampled at this rate, or at the program's rate if the program has set one.
     *
     * @return false, without a change, when a window is open already
     */
    public boolean openWindow(long rate) {
        Places places = new Places();
        JdkThreads.pin();
        try {
            synchronized (kept) {
                if (window != null) {
                    return false;
                }
                window = places;
                ofWindow = rate;
                updateRate();
                return true;
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Closes the window that {@link #openWindow} has opened. Returns the places that were found meanwhile. */
    @SuppressWarnings("NullAway") // Called once for each window.
    public Places closeWindow() {
        Places places;
        JdkThreads.pin();
        try {
            synchronized (kept) {
                places = window;
                window = null;
                ofWindow = 0;
                updateRate();
            }
        } finally {
            JdkThreads.unpin();
        }
        return places;
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

    private void add(@Nullable Map<String, String> labels, boolean system, double count, double nanos) {
        if (Headroom.left() < Headroom.toTake() + ROOM) {
            return;
        }
        JdkThreads.pin();
        try {
            List<StackTraceElement> frames = Frames.users(new Throwable().getStackTrace(), system);
            synchronized (kept) {
                if (wanted != 0) {
                    kept.add(frames, labels, count, nanos);
                }
                if (window != null) {
                    window.add(frames, labels, count, nanos);
                }
            }
        } catch (OutOfMemoryError | StackOverflowError | NoClassDefFoundError e) {
            return; // This sample is left out.
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Returns the places that are found at the rate that the program has set. */
    public Places all() {
        return kept;
    }
}
