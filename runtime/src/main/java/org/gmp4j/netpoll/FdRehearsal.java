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
 * Uses a descriptor in all ways before the first goroutine waits for a descriptor, and again before the first other thread does. This loads
 * classes and links handles. Later that could fail for lack of memory or stack in the middle of a protocol, or on an M. A process without
 * sockets skips the rehearsal. A thread does not wait for the rehearsal of another thread.
 */
final class FdRehearsal {
    private static final long SOON = 20_000;

    /** Whether a goroutine has begun the rehearsal. */
    private static final AtomicBoolean ON_GOROUTINE = new AtomicBoolean();
    /** Whether another thread has begun the rehearsal. */
    private static final AtomicBoolean ON_THREAD = new AtomicBoolean();

    private FdRehearsal() {
    }

    /**
     * Does the rehearsal on the caller's kind of stack, a goroutine's or another thread's, unless this process has done it there. If no
     * descriptor can be made, this method returns without a rehearsal, because the caller's own wait may need no further descriptor. The
     * next call tries again.
     *
     * @throws OutOfMemoryError when there is too little memory; the next call tries again
     */
    static void once() {
        AtomicBoolean begun = GStack.current() == null ? ON_THREAD : ON_GOROUTINE;
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

    /** Adds 1 to an eventfd. */
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
            boolean _ = fd.setDeadline(SOON, true, true);
            long _ = fd.read(off, Limits.DEFAULT) + fd.read(heap, Limits.DEFAULT); // Waits until the deadline.
            boolean _ = fd.setDeadline(PollFd.NO_LIMIT, true, true);
            long _ = fd.read(off, Limits.within(Duration.ofNanos(1)));
            boolean _ = fd.setDeadline(0, true, true) && fd.setDeadline(PollFd.NO_LIMIT, true, true);
            var _ = fd.write(off, Limits.DEFAULT) + fd.write(heap, Limits.DEFAULT); // Fails, because an eventfd is not a socket.
            var _ = fd.write(new MemorySegment[] {off, off}) + fd.write(new MemorySegment[] {off, heap});
            PollFd.Use add = new Add();
            boolean _ = fd.use(add);
            var _ = fd.read(new MemorySegment[] {off, off}, 2);
            boolean _ = fd.use(add);
            var _ = fd.read(new MemorySegment[] {off, heap}, 2);
            var _ = fd.accept(Limits.DEFAULT);
        } finally {
            boolean _ = fd.close();
        }
    }
}
