// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/** The Java side of a P. Its free stacks, which dead goroutines have left, are touched only by the M that holds the P. */
public final class Processor {
    private static final int LOCAL = 64;

    /** Its struct p. */
    public final long pp;
    /** Sysmon's notes on this P. */
    public final Monitor.Watched watched;
    /**
     * How many times this P has taken from the global queue ahead of preempted Gs ({@code FindRunnable.globalFirst}). Written by the
     * owner, read by sysmon without order. If sysmon misses the last one, the preempted Gs may become due a little later.
     */
    public long ahead;
    /** The number of switches when {@link #isAheadAgain} last returned true. The next three fields are the owner's. */
    private long aheadSwitches;
    /** A time, by nanoTime, since which the P has run only Gs that it did not take ahead, as far as is known. */
    private long othersSince = System.nanoTime();
    /** The time slice, by {@code p.schedtick}, that ran at {@link #othersSince}. */
    private int othersSlice;
    private final GStack[] free = new GStack[LOCAL];
    private int n;
    /** The NUMA node of all its CPUs; see {@link #node()}. */
    private volatile int node = -1;
    /** The caches, indexed by their numbers. */
    private Cache[] caches = {};

    /** A cache of an off-heap allocator that belongs to a P: see {@code org.gmp4j.memory}. */
    public interface Cache {
        /** Gives all its contents away, as the P dies. Called under sched.lock in a stopped world; must not allocate. */
        void flush();

        /** Drops its contents, as the scheduler has ended, and the P with it. Must not allocate. */
        void drop();
    }

    Processor(long pp, Monitor monitor) {
        this.pp = pp;
        watched = monitor.ofP();
    }

    /**
     * Returns whether the P's other Gs have run for at least {@code nanos} since this last returned true, which lets the P take from the
     * global queue ahead again. The first call after that only begins to measure, because the G that was taken may have run until then.
     * Called by the owner only.
     *
     * @param switches the number of the P's switches so far
     * @param tick {@code p.schedtick}
     */
    boolean isAheadAgain(long nanos, long switches, int tick) {
        long now = System.nanoTime();
        if (switches - aheadSwitches <= FindRunnable.AHEAD) {
            othersSince = now;
            othersSlice = tick;
            return false;
        }
        if (now - othersSince < nanos) {
            return false;
        }
        aheadSwitches = switches;
        return true;
    }

    /** Returns whether slice {@code tick} is still the one in which {@link #isAheadAgain} began to measure. Called by the owner only. */
    boolean sliceLasts(int tick) {
        return tick == othersSlice;
    }

    /** Takes a free stack; null when there is none. Called by the owner only. */
    @SuppressWarnings("NullAway") // The entries behind n are null, and are never read.
    @Nullable GStack take() {
        if (n == 0) {
            return null;
        }
        GStack st = free[--n];
        free[n] = null;
        return st;
    }

    /** Keeps a free stack. Returns false when there are enough already. Called by the owner only. */
    boolean give(GStack st) {
        if (n == LOCAL) {
            return false;
        }
        free[n++] = st;
        return true;
    }

    /** Returns the NUMA node of the P's CPUs; -1 when they span several nodes, the machine has one node, or no placement is set. */
    public int node() {
        return node;
    }

    /** Sets the P's NUMA node. Called with the world stopped. */
    void setNode(int n) {
        node = n;
    }

    /**
     * Returns the cache with that number; null for none. Called on a goroutine's stack, inside {@link GStack#enter}; the cache may be
     * used until the goroutine leaves the runtime.
     */
    public @Nullable Cache cache(int number) {
        return number < caches.length ? caches[number] : null;
    }

    /**
     * Sets the cache with that number. Called on a goroutine's stack, inside {@link GStack#enter}.
     *
     * @throws OutOfMemoryError when there is no memory for that; nothing has changed
     */
    public void setCache(int number, Cache c) {
        if (number >= caches.length) {
            caches = Arrays.copyOf(caches, number + 1);
        }
        caches[number] = c;
    }

    /** Drops all free stacks, for the collector, and flushes the caches, as the P dies. */
    void trim() {
        while (take() != null) {
            // Dropped.
        }
        for (Cache c : caches) {
            if (c != null) {
                c.flush();
            }
        }
    }

    /** Drops the caches, as the scheduler has ended. */
    void drop() {
        for (Cache c : caches) {
            if (c != null) {
                c.drop();
            }
        }
    }
}
