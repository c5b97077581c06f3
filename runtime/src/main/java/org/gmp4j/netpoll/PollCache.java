// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.util.Arrays;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.PollDesc;

/**
 * {@code pollCache}: the pollDesc structs of a poller's descriptors. A struct stays a pollDesc for ever, and belongs to this poller until
 * the poller is closed, because an M may still hold an event of a struct that was given back and serves another descriptor now. Such an
 * event has another tag ({@link #of}). If the M looks at the tag an instant too soon it wakes a waiter for nothing. That waiter waits in
 * the same poller, and in the same way, so the M does the right thing with what it finds in the struct.
 */
final class PollCache {
    /** In an event's data, above all tags and descriptors of registrations that serve one wait. */
    static final long FOR_GOOD = 1L << 62;

    private static final int TAG_SHIFT = 48;
    private static final int TAGS = (1 << 14) - 1;
    private static final long ADDRESS = (1L << TAG_SHIFT) - 1;
    private static final int EVENTS = Epoll.IN | Epoll.OUT | Epoll.RDHUP | Epoll.PRI | Epoll.EDGE;
    /** After these a read may find something, or the end, although the one before found less than it had room for. */
    private static final int ENDS = Epoll.RDHUP | Epoll.HUP | Epoll.ERR | Epoll.PRI;
    private static final int FIRST_ROOM = 16;

    /** Those of pollers that were closed, of which nobody holds an event. Under its own lock, after a poller's. */
    private static final PollCache OF_CLOSED = new PollCache();

    /** Under the lock of this; room for all that could be given back, so that giving one back takes no memory. */
    private long[] free = new long[FIRST_ROOM];
    private int count;
    /** How many could be given back: those in use, and those here. */
    private int most;
    private boolean closed;

    /** One in which nobody waits; on a goroutine's stack inside the runtime. */
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

    /** Gives one back: its descriptor is about to be closed, and nobody waits. */
    void give(long pd) {
        JdkThreads.pin();
        try {
            PollDesc.setSeqVolatile(pd, PollDesc.seqVolatile(pd) + 1 & TAGS); // Before the words: what comes later is stale.
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

    /** The poller is closed, and nobody polls: what it has, and what comes back, may serve others. */
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

    /** Has an epoll instance report a descriptor's changes from now on, and how it is now; 0, or an error number. */
    static int register(int epfd, int fd, long pd) {
        return Epoll.control(epfd, Epoll.ADD, fd, EVENTS, FOR_GOOD | (long) PollDesc.seqVolatile(pd) << TAG_SHIFT | pd);
    }

    /** The pollDesc of an event's data, 0 when the event is stale. */
    static long of(long data) {
        long pd = data & ADDRESS;
        return PollDesc.seqVolatile(pd) == (int) (data >>> TAG_SHIFT & TAGS) ? pd : 0;
    }

    /** Notes what {@link FdWaits} wants to know of events, before it is told of them. */
    static void note(long pd, int events) {
        if ((events & ENDS) != 0) {
            PollDesc.setEndSeen(pd, true);
        }
    }

    /** Whether what happened concerns a reader. */
    static boolean readable(int events) {
        return (events & (Epoll.IN | Epoll.RDHUP | Epoll.HUP | Epoll.ERR)) != 0;
    }

    /** Whether what happened is of interest to a writer. */
    static boolean writable(int events) {
        return (events & (Epoll.OUT | Epoll.HUP | Epoll.ERR)) != 0;
    }
}
