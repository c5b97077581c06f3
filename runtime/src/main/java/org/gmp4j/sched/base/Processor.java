// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.util.Arrays;

import org.gmp4j.stack.Stack;
import org.jspecify.annotations.Nullable;

/** The Java side of a P. Only the M that holds the P accesses its free stacks, which ended goroutines have left. */
public final class Processor {
    private static final int LOCAL = 64;

    /** Its struct p. */
    public final long pp;
    /** Sysmon's record of this P. */
    public final Monitor.Watched watched;
    private final Stack[] free = new Stack[LOCAL];
    private int n;
    /** See {@link #node()}. */
    private volatile int node = -1;
    /** The caches, indexed by their numbers. */
    private Cache[] caches = {};

    /** A cache of an off-heap allocator that belongs to a P: see {@code org.gmp4j.memory}. */
    public interface Cache {
        /** Moves its contents elsewhere, because the P dies. Called under sched.lock in a stopped world; must not allocate. */
        void flush();

        /** Drops its contents, because the scheduler has ended. Must not allocate. */
        void drop();
    }

    Processor(long pp, Monitor monitor) {
        this.pp = pp;
        watched = monitor.ofP();
    }

    /** Takes a free stack; null when there is none. Called by the owner only. */
    @SuppressWarnings("NullAway") // The entries from n on are null, and are never read.
    public @Nullable Stack take() {
        if (n == 0) {
            return null;
        }
        Stack st = free[--n];
        free[n] = null;
        return st;
    }

    /** Keeps a free stack. Returns false when there are enough of them. Called by the owner only. */
    public boolean give(Stack st) {
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
    public void setNode(int n) {
        node = n;
    }

    /**
     * Returns the cache with that number; null for none. Called on a goroutine's stack, inside {@code GStack.enter}. The goroutine may use
     * the cache until it leaves that section.
     */
    public @Nullable Cache cache(int number) {
        return number < caches.length ? caches[number] : null;
    }

    /**
     * Sets the cache with that number. Called on a goroutine's stack, inside {@code GStack.enter}.
     *
     * @throws OutOfMemoryError when there is no memory for that; nothing has changed
     */
    public void setCache(int number, Cache c) {
        if (number >= caches.length) {
            caches = Arrays.copyOf(caches, number + 1);
        }
        caches[number] = c;
    }

    /** Drops all free stacks, for the collector, and flushes the caches, because the P dies. */
    public void trim() {
        while (take() != null) {
            // Dropped.
        }
        for (Cache c : caches) {
            if (c != null) {
                c.flush();
            }
        }
    }

    /** Drops the caches, because the scheduler has ended. */
    void drop() {
        for (Cache c : caches) {
            if (c != null) {
                c.drop();
            }
        }
    }
}
