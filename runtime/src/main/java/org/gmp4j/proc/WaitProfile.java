// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;

/**
 * Where goroutines of a scheduler waited, or held what others waited for: by stack and labels, how often and how long. Off until
 * {@link #setRate}; off, a wait costs a load and a branch that is always the same.
 *
 * <p>A sample is taken on the goroutine's own stack, inside {@link GStack#enter}, when its wait is over, or when it has given the lock
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
    /** 0 for off; what another value means is up to the caller of {@link #on}. */
    private volatile long rate;
    /** Whether the {@link Recorder} wants waits. Written under the monitor. */
    private boolean recorded;
    /** Whether anybody wants them. Likewise. */
    private volatile boolean on;

    /** Sets it; 0 turns it off, and what was found stays. */
    public synchronized void setRate(long rate) {
        this.rate = rate;
        on = rate != 0 || recorded;
    }

    /** Sets whether the {@link Recorder} wants waits. */
    public synchronized void setRecorded(boolean recorded) {
        this.recorded = recorded;
        on = rate != 0 || recorded;
    }

    boolean on() {
        return on;
    }

    /** Whether a wait is looked at when it is over. */
    public boolean isOn() {
        return on;
    }

    long rate() {
        return rate;
    }

    /**
     * A wait that took {@code nanos} is over. If it is shorter than the rate, in ns, it is sampled with a probability in proportion to its
     * length, and always otherwise.
     */
    void waited(GStack st, long nanos) {
        long r = rate;
        if (r == 0) {
            return;
        }
        if (nanos >= r) {
            add(st, 1, nanos);
        } else if (nanos > 0 && ThreadLocalRandom.current().nextLong(r) < nanos) {
            add(st, (double) r / nanos, r);
        }
    }

    /** A lock was given back for which another goroutine has waited {@code nanos}: one in {@code rate} such events is sampled. */
    void held(GStack st, long nanos) {
        long r = rate;
        if (r != 0 && (r == 1 || ThreadLocalRandom.current().nextLong(r) == 0)) {
            add(st, r, (double) r * nanos);
        }
    }

    private void add(GStack st, double count, double nanos) {
        if (Headroom.left() < Headroom.toTake() + ROOM) {
            return;
        }
        JdkThreads.pin();
        try {
            Map<String, String> labels = st.labels == null ? Map.of() : st.labels;
            List<StackTraceElement> frames = Traceback.users(new Throwable().getStackTrace(), Traceback.system(st.s));
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
