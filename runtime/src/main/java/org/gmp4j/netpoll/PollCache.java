// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.util.Arrays;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.PollDesc;

/**
 * {@code pollCache}: the pollDesc structs of a poller's descriptors. A released struct serves another descriptor while an M may still have
 * an event of the first one. Such an event has an old tag ({@link #of}). If the M reads the struct's tag just before the tag changes, the M
 * wakes the waiter of the other descriptor needlessly. That does no harm, because a struct stays a pollDesc for ever, and belongs to one
 * poller until the poller is closed. So the M always finds a waiter's word of the form that it expects, and a waiter of its own poller.
 */
final class PollCache {
    /**
     * The bit in an event's data that marks a registration until close. In the data of a registration for one wait the bit is 0, because
     * the tag and the descriptor use only lower bits.
     */
    static final long FOR_GOOD = 1L << 62;

    private static final int TAG_SHIFT = 48;
    private static final int TAGS = (1 << 14) - 1;
    private static final long ADDRESS = (1L << TAG_SHIFT) - 1;
    private static final int EVENTS = Epoll.IN | Epoll.OUT | Epoll.RDHUP | Epoll.PRI | Epoll.EDGE;
    /** After these events a read may find data or the end, even if the last read returned fewer bytes than it had room for. */
    private static final int ENDS = Epoll.RDHUP | Epoll.HUP | Epoll.ERR | Epoll.PRI;
    private static final int FIRST_ROOM = 16;

    /**
     * The structs of closed pollers. No M has an event of such a struct. The monitor of this cache is entered after the monitor of a
     * poller's cache.
     */
    private static final PollCache OF_CLOSED = new PollCache();

    /**
     * The first {@code count} elements are the free structs. There is room for all structs, so a release allocates nothing. Guarded by the
     * monitor.
     */
    private long[] free = new long[FIRST_ROOM];
    private int count;
    /** The number of all structs of this cache, free or taken. Guarded by the monitor. */
    private int most;
    private boolean closed;

    /** Returns a struct without waiters. Called inside the runtime, also on a goroutine's stack. */
    long take() {
        long pd = taken();
        PollDesc.setEndSeen(pd, false);
        return pd;
    }

    private long taken() {
        JdkThreads.pin();
        try {
            synchronized (this) {
                if (count > 0) {
                    return free[--count];
                }
                reserve();
                long pd = OF_CLOSED.takeOrMake();
                most++;
                return pd;
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    private synchronized long takeOrMake() {
        if (count > 0) {
            return free[--count];
        }
        reserve();
        long pd = PollDesc.make();
        most++;
        return pd;
    }

    private void reserve() {
        if (most == free.length) {
            free = Arrays.copyOf(free, 2 * most);
        }
    }

    /** Releases a struct without waiters, because its descriptor or its poller is about to be closed. */
    void give(long pd) {
        JdkThreads.pin();
        try {
            PollDesc.setSeqVolatile(pd, PollDesc.seqVolatile(pd) + 1 & TAGS); // Changed before the words, so that later events are stale.
            PollDesc.setWaiterVolatile(pd, false, 0);
            PollDesc.setWaiterVolatile(pd, true, 0);
            synchronized (this) {
                if (closed) {
                    OF_CLOSED.put(pd);
                } else {
                    free[count++] = pd;
                }
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    private synchronized void put(long pd) {
        free[count++] = pd;
    }

    /** Passes the free structs, and each struct released from now on, to other pollers. The poller is closed, and no M polls it. */
    void close() {
        JdkThreads.pin();
        try {
            synchronized (this) {
                closed = true;
                while (count > 0) {
                    OF_CLOSED.put(free[--count]);
                }
            }
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Makes an epoll instance report a descriptor's state now and at each change. Returns 0, or an error number. */
    static int register(int epfd, int fd, long pd) {
        return Epoll.control(epfd, Epoll.ADD, fd, EVENTS, FOR_GOOD | (long) PollDesc.seqVolatile(pd) << TAG_SHIFT | pd);
    }

    /** Returns the pollDesc in an event's data, or 0 when the event is stale. */
    static long of(long data) {
        long pd = data & ADDRESS;
        return PollDesc.seqVolatile(pd) == (int) (data >>> TAG_SHIFT & TAGS) ? pd : 0;
    }

    /** Records an end, an error or urgent data among the events. Called before READY is written: see {@link Registration}. */
    static void note(long pd, int events) {
        if ((events & ENDS) != 0) {
            PollDesc.setEndSeen(pd, true);
        }
    }

    /** Returns whether the events concern a reader. */
    static boolean readable(int events) {
        return (events & (Epoll.IN | Epoll.RDHUP | Epoll.HUP | Epoll.ERR)) != 0;
    }

    /** Returns whether the events concern a writer. */
    static boolean writable(int events) {
        return (events & (Epoll.OUT | Epoll.HUP | Epoll.ERR)) != 0;
    }
}
