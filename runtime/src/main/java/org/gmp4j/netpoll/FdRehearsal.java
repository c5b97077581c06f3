// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.sched.GStack;
import org.gmp4j.wait.Limits;

/**
 * Uses a descriptor in all ways before the first goroutine waits for one, and again before the first other thread waits for one. This loads
 * classes and links handles, which could later fail for lack of memory or stack in the middle of a protocol, or on an M. A process without
 * sockets skips the rehearsal. Other threads do not wait while one thread rehearses.
 */
final class FdRehearsal {
    private static final long SOON = 20_000;

    /** Whether the rehearsal has begun: for threads at index 0, for goroutines at 1. */
    private static final AtomicBoolean[] BEGUN = {new AtomicBoolean(), new AtomicBoolean()};

    private FdRehearsal() {
    }

    /**
     * Does the rehearsal for the caller's kind, goroutines or other threads, unless this process has done it. If no descriptor can be made
     * for the rehearsal, this method returns without a rehearsal, because the caller's own wait may need no further descriptor. The next
     * call tries again.
     *
     * @throws OutOfMemoryError when there is too little memory; the next call tries again
     */
    static void once() {
        AtomicBoolean begun = BEGUN[GStack.current() == null ? 0 : 1];
        if (begun.get() || !begun.compareAndSet(false, true)) {
            return;
        }
        boolean done = false;
        try {
            all(eventFd());
            done = true;
        } catch (NativeException e) {
            return;
        } finally {
            if (!done) {
                begun.set(false);
            }
        }
    }

    private static PollFd eventFd() {
        int descriptor = EventFd.create();
        PollFd fd = null;
        try {
            fd = new PollFd(descriptor);
            return fd;
        } finally {
            if (fd == null) {
                Fd.release(descriptor); // There was no memory for the PollFd.
            }
        }
    }

    /** Adds 1 to an eventfd. It is no lambda, because a lambda whose linking once fails for lack of memory fails for ever. */
    private record Add() implements PollFd.Use {
        @Override
        public void with(int d) {
            EventFd.add(d, 1);
        }
    }

    private static void all(PollFd fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment off = arena.allocate(Long.BYTES);
            MemorySegment heap = MemorySegment.ofArray(new byte[Long.BYTES]);
            boolean open = fd.setDeadline(SOON, true, true);
            long _ = fd.read(off, Limits.DEFAULT) + fd.read(heap, Limits.DEFAULT); // Waits until the deadline.
            open = fd.setDeadline(PollFd.NO_LIMIT, true, true);
            long _ = fd.read(off, Limits.within(Duration.ofNanos(1)));
            open = fd.setDeadline(0, true, true) && fd.setDeadline(PollFd.NO_LIMIT, true, true);
            var _ = fd.write(off, Limits.DEFAULT) + fd.write(heap, Limits.DEFAULT); // Fails, because an eventfd is not a socket.
            var _ = fd.write(new MemorySegment[] {off, off}, 0, 2) + fd.write(new MemorySegment[] {off, heap}, 0, 2);
            PollFd.Use add = new Add();
            open = fd.use(add);
            var _ = fd.read(new MemorySegment[] {off, off}, 0, 2);
            open = fd.use(add);
            var _ = fd.read(new MemorySegment[] {off, heap}, 0, 2);
            var _ = fd.accept(Limits.DEFAULT);
        } finally {
            boolean _ = fd.close();
        }
    }
}
