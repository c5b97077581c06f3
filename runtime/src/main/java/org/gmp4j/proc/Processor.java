// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/** The Java side of a P, with the free stacks that dead goroutines left, which only the M that holds the P touches. */
public final class Processor {
    private static final int LOCAL = 64;

    /** Its struct p. */
    public final long pp;
    /** What sysmon knows of this P. */
    public final Monitor.Watched watched;
    /**
     * How many Gs of the global queue this P has begun with ahead of others ({@code FindRunnable.globalFirst}); written by the owner, read
     * by sysmon, which takes it for one less if it reads it too early: then what waits in the queue may have its turn later.
     */
    public long ahead;
    /** How many switches there had been when it last did, or might have; and since when others have run, as far as is known. */
    private long aheadSwitches;
    private long othersSince = System.nanoTime();
    /** The time slice, by {@code p.schedtick}, in which that was. */
    private int othersSlice;
    private final GStack[] free = new GStack[LOCAL];
    private int n;
    /** The NUMA node of all its CPUs; see {@link #node()}. */
    private volatile int node = -1;
    /** By their numbers. */
    private Cache[] caches = {};

    /** What an off-heap allocator keeps with a P: see {@code org.gmp4j.memory}. */
    public interface Cache {
        /** The P dies: gives away all that is in it. World stopped, under sched.lock; needs no memory. */
        void flush();

        /** The scheduler has ended, and the P with it. Needs no memory. */
        void drop();
    }

    Processor(long pp, Monitor monitor) {
        this.pp = pp;
        watched = monitor.ofP();
    }

    /**
     * Whether others than what was taken ahead have run for so many nanoseconds since this last said so. At the first look after that
     * they have just begun, as far as is known: what was taken may have run until then. Owner only.
     *
     * @param switches how many there have been
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

    /** Whether the time slice is still the one in which others began to run, as isAheadAgain has seen. Owner only. */
    boolean sliceLasts(int tick) {
        return tick == othersSlice;
    }

    /** A free stack, or null. */
    @SuppressWarnings("NullAway") // Nobody reads behind n.
    @Nullable GStack take() {
        if (n == 0) {
            return null;
        }
        GStack st = free[--n];
        free[n] = null;
        return st;
    }

    /** Keeps a free stack; false when there are enough. */
    boolean give(GStack st) {
        if (n == LOCAL) {
            return false;
        }
        free[n++] = st;
        return true;
    }

    /** The NUMA node of all its CPUs; -1 when they are of several, or the machine has but one, or nobody has chosen them. */
    public int node() {
        return node;
    }

    /** With the world stopped. */
    void setNode(int n) {
        node = n;
    }

    /** The cache of a number; null for none. On a goroutine's stack, inside {@link GStack#enter}, as long as that lasts. */
    public @Nullable Cache cache(int number) {
        return number < caches.length ? caches[number] : null;
    }

    /**
     * Sets it, likewise.
     *
     * @throws OutOfMemoryError when there is no memory for that; nothing has changed
     */
    public void setCache(int number, Cache c) {
        if (number >= caches.length) {
            caches = Arrays.copyOf(caches, number + 1);
        }
        caches[number] = c;
    }

    /** Drops all free stacks, which the collector takes, and what else would be of use to a P that lives. */
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

    /** The scheduler has ended. */
    void drop() {
        for (Cache c : caches) {
            if (c != null) {
                c.drop();
            }
        }
    }
}
