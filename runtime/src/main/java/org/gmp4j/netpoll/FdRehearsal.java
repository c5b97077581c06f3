// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.EventFd;
import org.gmp4j.ffi.Fd;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.proc.GStack;
import org.gmp4j.wait.Limits;

/**
 * Does once what descriptors do: before the first goroutine waits for one, and again before the first thread does. It loads classes
 * and links handles, which could later fail for want of memory or stack in the middle of a protocol, or on an M. A service without
 * sockets does not pay for it. While one thread does it the others go on without.
 */
final class FdRehearsal {
    private static final long SOON = 20_000;

    /** Whether it has begun, for threads and for goroutines. */
    private static final AtomicBoolean[] BEGUN = {new AtomicBoolean(), new AtomicBoolean()};

    private FdRehearsal() {
    }

    /**
     * Does it, if it was not done in this process for the caller's kind. Where there is no descriptor for it the caller goes on without,
     * since its own wait may need none, and the next one tries again.
     *
     * @throws OutOfMemoryError when there is too little memory; the next one tries again
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
                Fd.release(descriptor); // No memory.
            }
        }
    }

    /** No lambda: with no memory to link it the rehearsal would fail for ever. */
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
            long _ = fd.read(off, Limits.DEFAULT) + fd.read(heap, Limits.DEFAULT); // Waits until the time is up.
            open = fd.setDeadline(PollFd.NO_LIMIT, true, true);
            long _ = fd.read(off, Limits.within(Duration.ofNanos(1)));
            open = fd.setDeadline(0, true, true) && fd.setDeadline(PollFd.NO_LIMIT, true, true);
            var _ = fd.write(off, Limits.DEFAULT) + fd.write(heap, Limits.DEFAULT); // No socket, says the kernel.
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
