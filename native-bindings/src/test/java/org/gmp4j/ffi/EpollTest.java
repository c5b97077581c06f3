// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

// Apart from the runner: a system call cannot be interrupted.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class EpollTest {
    private static final int MAX = 8;

    private final long buffer = Memory.map(4096);
    private final int epfd = Epoll.create();
    private final int first = EventFd.create();
    private final int second = EventFd.create();

    @AfterEach
    void close() {
        Fd.close(first);
        Fd.close(second);
        Fd.close(epfd);
        Memory.unmap(buffer, 4096);
    }

    @Test
    void anEventMakesTheRoundTrip() {
        assertEquals(0, Epoll.control(epfd, Epoll.ADD, first, Epoll.IN | Epoll.EDGE, 0x1122_3344_5566_7788L));
        assertEquals(0, Epoll.control(epfd, Epoll.ADD, second, Epoll.IN, -2));
        assertEquals(0, Epoll.await(epfd, buffer, MAX, 0));

        assertEquals(0, EventFd.add(first, 3));
        assertEquals(1, Epoll.await(epfd, buffer, MAX, -1));
        assertEquals(Epoll.IN, Epoll.eventsAt(buffer, 0));
        assertEquals(0x1122_3344_5566_7788L, Epoll.dataAt(buffer, 0));
        assertEquals(0, Epoll.await(epfd, buffer, MAX, 0), "edge-triggered: reported once");

        assertEquals(0, EventFd.add(first, 4));
        assertEquals(0, EventFd.add(second, 1));
        assertEquals(2, Epoll.await(epfd, buffer, MAX, 0));
        long both = Epoll.dataAt(buffer, 0) ^ Epoll.dataAt(buffer, 1);
        assertEquals(0x1122_3344_5566_7788L ^ -2L, both, "the second event stands where it should");
        assertEquals(Epoll.IN, Epoll.eventsAt(buffer, 1));

        assertEquals(7, EventFd.take(first));
        assertEquals(-Errno.EAGAIN, EventFd.take(first));
        assertEquals(1, Epoll.await(epfd, buffer, MAX, 0), "level-triggered: still readable");
        assertEquals(-2, Epoll.dataAt(buffer, 0));
        assertEquals(1, EventFd.take(second));
        assertEquals(0, Epoll.await(epfd, buffer, MAX, 0));

        assertEquals(0, Epoll.control(epfd, Epoll.MODIFY, second, Epoll.IN | Epoll.ONESHOT, 9));
        assertEquals(0, EventFd.add(second, 1));
        assertEquals(1, Epoll.await(epfd, buffer, MAX, 0));
        assertEquals(9, Epoll.dataAt(buffer, 0));
        assertEquals(0, Epoll.await(epfd, buffer, MAX, 0), "reported once");

        assertEquals(0, Epoll.control(epfd, Epoll.DELETE, first, 0, 0));
        assertEquals(0, EventFd.add(first, 1));
        assertEquals(0, Epoll.await(epfd, buffer, MAX, 0));
    }

    @Test
    void anotherThreadEndsTheWait() throws Exception {
        assertEquals(0, Epoll.control(epfd, Epoll.ADD, first, Epoll.IN, 1));
        Thread waker = Thread.ofPlatform().start(() -> assertEquals(0, EventFd.add(first, 1)));
        assertEquals(1, Epoll.await(epfd, buffer, MAX, 10_000));
        waker.join();
    }

    @Test
    void timeout() {
        long start = Clock.monotonicNanos();
        assertEquals(0, Epoll.await(epfd, buffer, MAX, 20));
        assertTrue(Clock.monotonicNanos() - start >= 19_000_000);
    }

    @Test
    void theCounterHasAnEnd() {
        assertEquals(0, EventFd.add(first, -2));
        assertEquals(Errno.EAGAIN, EventFd.add(first, 1));
    }

    @Test
    void errors() {
        assertEquals(0, Epoll.control(epfd, Epoll.ADD, first, Epoll.IN, 1));
        assertEquals(Errno.EEXIST, Epoll.control(epfd, Epoll.ADD, first, Epoll.IN, 1));
        assertEquals(Errno.ENOENT, Epoll.control(epfd, Epoll.MODIFY, second, Epoll.IN, 1));
        assertEquals(Errno.EBADF, Epoll.control(epfd, Epoll.ADD, 1 << 20, Epoll.IN, 1));
        assertEquals(-Errno.EINVAL, Epoll.await(epfd, buffer, 0, 0));
        assertEquals(
                "close(1048576) failed: EBADF (Bad file descriptor)",
                assertThrows(NativeException.class, () -> Fd.close(1 << 20)).getMessage());
    }
}
