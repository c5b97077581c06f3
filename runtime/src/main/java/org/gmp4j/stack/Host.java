// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.jspecify.annotations.Nullable;

/**
 * The Java side of an M: a thread that mounts and unmounts stacks ({@link JdkThreads#run}), and, while lock ranks are checked, the ranks of
 * the runtime locks that the thread holds. (A lock that was taken on a goroutine's stack may be released on the M's own stack.)
 */
public abstract class Host {
    /** The ranks of the locks that are held, in the order in which they were taken. Kept only while lock ranks are checked. */
    public int[] heldRanks = new int[16];
    /** The number of ranks in {@link #heldRanks}. */
    public int held;

    /** The host's thread. The constructor of {@link HostThread} writes this field and {@link #before}. */
    @SuppressWarnings("NullAway.Init")
    public HostThread thread;
    /**
     * The virtual thread that was last mounted on {@link #thread}. It is {@link #thread} itself at first and after {@link JdkThreads#idle}.
     */
    @SuppressWarnings("NullAway.Init")
    Thread before;

    /** A platform thread that belongs to a host. */
    public static final class HostThread extends OwnThread {
        final Host host;

        /** @param stackSize the bytes of stack to reserve, which limit the depth of goroutines */
        public HostThread(Host host, Runnable body, String name, long stackSize) {
            super(body, name, stackSize);
            this.host = host;
            host.thread = this;
            host.before = this;
        }
    }

    /** Returns the host on whose thread the caller runs, inside a goroutine or not, or null on any other thread. */
    public static @Nullable Host current() {
        Thread t = Thread.currentThread();
        if (t instanceof HostThread h) {
            return h.host;
        }
        Stack st = Stack.of(t);
        return st == null ? null : st.host;
    }
}
