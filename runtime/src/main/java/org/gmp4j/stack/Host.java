// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.jspecify.annotations.Nullable;

/**
 * What drives stacks: the Java side of an M. It knows its thread, and which runtime locks the thread holds (for lock-rank
 * checks only; a lock taken on a goroutine's stack may be given back on the M's own).
 */
public abstract class Host {
    /** Ranks of the locks held, in the order taken; kept only while lock ranks are checked. */
    public int[] heldRanks = new int[16];
    /** How many of {@link #heldRanks} count. */
    public int held;

    /** The host's thread. Its constructor writes this and {@link #before}. */
    @SuppressWarnings("NullAway.Init")
    public HostThread thread;
    /** What was mounted last on {@link #thread}; the thread itself at first, and after {@link JdkThreads#idle}. */
    @SuppressWarnings("NullAway.Init")
    Thread before;

    /** A platform thread that belongs to a host. */
    public static final class HostThread extends OwnThread {
        final Host host;

        /**
         * @param host the host that it belongs to
         * @param name the thread's name
         * @param stackSize bytes of stack to reserve: goroutines run on it, so it bounds their depth
         */
        public HostThread(Host host, Runnable body, String name, long stackSize) {
            super(body, name, stackSize);
            this.host = host;
            host.thread = this;
            host.before = this;
        }
    }

    /** The host whose thread this code runs on, inside a goroutine or not; null on any other thread. */
    public static @Nullable Host current() {
        Thread t = Thread.currentThread();
        if (t instanceof HostThread h) {
            return h.host;
        }
        Stack st = Stack.of(t);
        return st == null ? null : st.host;
    }
}
