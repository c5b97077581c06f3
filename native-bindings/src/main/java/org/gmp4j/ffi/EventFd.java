package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.gmp4j.ffi.gmp.shims_h;
import org.gmp4j.ffi.linux.linux_h;

/**
 * A counter behind a file descriptor: wakes a thread out of {@link Epoll#await}. Non-blocking and closed on exec.
 * Closed by {@link Fd#close}. Thread-safe.
 */
public final class EventFd {
    private static final MethodHandle EVENTFD =
            Link.capturing(linux_h.eventfd$address(), linux_h.eventfd$descriptor());

    static {
        Shims.load();
    }

    private EventFd() {}

    /**
     * Makes one, with its counter at 0.
     *
     * @return the descriptor
     * @throws NativeException EMFILE or ENFILE without a free descriptor
     */
    public static int create() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int fd = (int) EVENTFD.invokeExact(state, 0, linux_h.EFD_CLOEXEC() | linux_h.EFD_NONBLOCK());
            if (fd < 0) {
                throw new NativeException("eventfd", Link.errno(state));
            }
            return fd;
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Adds to the counter: the descriptor becomes readable.
     *
     * @param fd the descriptor
     * @param n how much, 1 or more
     * @return 0, or {@link Errno#EAGAIN} when the counter is full (the descriptor is readable then, too)
     */
    public static int add(int fd, long n) {
        return -shims_h.gmp_eventfd_add(fd, n);
    }

    /**
     * Takes the whole counter and sets it to 0: the descriptor is not readable any more.
     *
     * @param fd the descriptor
     * @return what it held, 1 or more, or {@code -Errno.EAGAIN} when that was 0
     */
    public static long take(int fd) {
        return shims_h.gmp_eventfd_take(fd);
    }
}
