// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.Memory;
import org.gmp4j.proc.LiveSchedulers;
import org.gmp4j.report.Uncaught;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * The poller for threads that are no goroutines: one epoll instance for the process, and a daemon thread, which starts when such a
 * thread first waits. Rejected: a poll(2) by the thread itself, which nothing could end; and the poller of some scheduler, whose Ms
 * poll only while its own goroutines wait.
 */
non-sealed class OutsidePoller implements EdgePoller {
    private static final int EVENTS = 64;
    /** After a failure for want of memory. */
    private static final long RETRY_NANOS = 1_000_000;

    /** Not made in a class initialiser: one that fails once, for want of descriptors, fails for ever. */
    private static volatile @Nullable OutsidePoller made;

    private final PollCache cache = new PollCache();
    private final int epfd;
    private final long events;
    /** The next event of the last wait to be looked at, and how many there are; written by the poller's thread. */
    private int next;
    private int found;

    OutsidePoller(int epfd, long events) {
        this.epfd = epfd;
        this.events = events;
    }

    /**
     * The one of this process.
     *
     * @throws org.gmp4j.ffi.NativeException when there is no epoll instance to be had just now
     */
    static OutsidePoller get() {
        OutsidePoller o = made;
        if (o != null) {
            return o;
        }
        JdkThreads.pin(); // The first starts the thread.
        try {
            return make();
        } finally {
            JdkThreads.unpin();
        }
    }

    private static synchronized OutsidePoller make() {
        if (made == null) {
            long events = Memory.map((long) EVENTS * Epoll.EVENT_BYTES);
            int epfd = -1;
            boolean started = false;
            try {
                epfd = Epoll.create();
                OutsidePoller o = new OutsidePoller(epfd, events);
                Leaving leaving = new Leaving(epfd);
                Thread thread = new OwnThread(new Serving(o), "gmp4j-net");
                thread.start();
                started = true;
                LiveSchedulers.sockets(leaving);
                made = o;
            } finally {
                if (!started) {
                    Memory.unmap(events, (long) EVENTS * Epoll.EVENT_BYTES);
                    if (epfd >= 0) {
                        Fd.release(epfd);
                    }
                }
            }
        }
        return made;
    }

    @Override
    public PollCache cache() {
        return cache;
    }

    @Override
    public int registerForGood(int fd, long pd) {
        return PollCache.register(epfd, fd, pd);
    }

    @Override
    public boolean isClosed() {
        return false;
    }

    /** What the thread does. No lambda: one for which there is no memory when it is first needed can never be linked. */
    private record Serving(OutsidePoller of) implements Runnable {
        @Override
        public void run() {
            of.loop();
        }
    }

    /** What the last shutdown hook does: the thread leaves its wait once. Before that nothing has to, so there is no descriptor for it. */
    private record Leaving(int epfd) implements Runnable {
        @Override
        public void run() {
            int fd = EventFd.create();
            int _ = EventFd.add(fd, 1);
            int _ = Epoll.control(epfd, Epoll.ADD, fd, Epoll.IN | Epoll.ONESHOT, 0); // No pollDesc: see event.
        }
    }

    final void loop() {
        try {
            boolean _ = Inheritance.begin(0, 1); // The thread that waited first may be pinned, or have a low priority.
        } catch (OutOfMemoryError e) {
            Uncaught.reportHere(e); // It serves all the same, with the CPUs and the priority that it has.
        }
        for (;;) {
            try {
                round();
            } catch (OutOfMemoryError e) { // It goes on with the same event, or all that wait would wait for ever.
                Uncaught.reportHere(e);
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    /** Waits for events, unless some are left of the last wait, and wakes the threads that they are for. */
    private void round() {
        if (next == found) {
            next = 0;
            found = 0;
            found = await();
        }
        for (; next < found; next++) {
            event(next);
        }
    }

    /** How many events there are, waiting for one. */
    int await() {
        return Math.max(Netpoller.await(epfd, events, EVENTS, -1), 0);
    }

    void event(int i) {
        long data = Epoll.dataAt(events, i);
        long pd = data == 0 ? 0 : PollCache.of(data);
        int what = Epoll.eventsAt(events, i);
        if (pd == 0) {
            return;
        }
        PollCache.note(pd, what);
        if (PollCache.readable(what)) {
            wake(Registration.unblock(pd, false, true));
        }
        if (PollCache.writable(what)) {
            wake(Registration.unblock(pd, true, true));
        }
    }

    private static void wake(long sg) {
        if (sg != 0) {
            try {
                Waiting.wake(sg);
            } catch (OutOfMemoryError e) { // Of the JDK's scheduler, for a virtual thread of its own.
                Uncaught.reportHere(e);
            }
        }
    }
}
