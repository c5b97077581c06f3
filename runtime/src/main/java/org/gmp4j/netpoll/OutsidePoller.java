// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.Memory;
import org.gmp4j.report.Uncaught;
import org.gmp4j.sched.life.LiveSchedulers;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * The poller for threads that are not goroutines: one epoll instance for the process, and a daemon thread that starts at their first wait.
 * Rejected: a poll(2) by the waiting thread itself, which a close could not end. Rejected too: the poller of a scheduler, whose Ms poll
 * only while its own goroutines wait.
 */
non-sealed class OutsidePoller implements EdgePoller {
    private static final int EVENTS = 64;
    /** The time that the thread sleeps after a failure for lack of memory, ns. */
    private static final long RETRY_NANOS = 1_000_000;

    /** The poller is not made in a class initialiser, because an initialiser that fails once, for lack of descriptors, fails for ever. */
    private static volatile @Nullable OutsidePoller made;

    private final PollCache cache = new PollCache();
    private final int epfd;
    private final long events;
    /** The index of the next event to be handled, and the number of events that the last wait found. Written by the poller's thread. */
    private int next;
    private int found;

    OutsidePoller(int epfd, long events) {
        this.epfd = epfd;
        this.events = events;
    }

    /**
     * Returns the poller of this process. The first call makes it.
     *
     * @throws org.gmp4j.ffi.NativeException when no epoll instance can be made now
     */
    static OutsidePoller get() {
        OutsidePoller o = made;
        if (o != null) {
            return o;
        }
        JdkThreads.pin(); // A goroutine inside the runtime must not unmount, and the monitor might unmount it.
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

    /** The task of the thread. */
    private record Serving(OutsidePoller of) implements Runnable {
        @Override
        public void run() {
            of.loop();
        }
    }

    /**
     * Ends the thread's wait in the kernel once. Run by the last shutdown hook. The eventfd is made only then, because no earlier wait has
     * to be ended.
     */
    private record Leaving(int epfd) implements Runnable {
        @Override
        public void run() {
            int fd = EventFd.create();
            int _ = EventFd.add(fd, 1);
            int _ = Epoll.control(epfd, Epoll.ADD, fd, Epoll.IN | Epoll.ONESHOT, 0); // The data 0 is no pollDesc: see event.
        }
    }

    final void loop() {
        try {
            boolean _ = Inheritance.begin(0, 1); // The thread that started this one may be bound to CPUs, or have a low priority.
        } catch (OutOfMemoryError e) {
            Uncaught.reportHere(e); // The thread polls even so, with the CPUs and the priority that it has inherited.
        }
        for (;;) {
            try {
                round();
            } catch (OutOfMemoryError e) { // The next round continues with the same event. If the thread ended, it would wake no waiter.
                Uncaught.reportHere(e);
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    /** Waits for events, unless events of the last wait are left, and wakes their waiters. */
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

    /** Waits for at least one event, and returns their number. Returns 0 if a signal ended the wait. */
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
            } catch (OutOfMemoryError e) { // The JDK's scheduler throws it, for one of its virtual threads.
                Uncaught.reportHere(e);
            }
        }
    }
}
