package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.gmp4j.ffi.gmp.shims_h;
import org.gmp4j.ffi.linux.linux_h;

/**
 * File descriptors of any kind. Thread-safe, as far as the caller does not close a number that another thread still
 * uses. {@link #read} and {@link #write} block the OS thread unless the descriptor is non-blocking.
 */
public final class Fd {
    private static final MethodHandle CLOSE = Link.capturing(linux_h.close$address(), linux_h.close$descriptor());

    static {
        Shims.load();
    }

    private Fd() {}

    /**
     * Reads.
     *
     * @param fd the descriptor
     * @param buf address of the place to read to
     * @param len bytes at most
     * @return bytes read, 0 at the end, or the negated error number ({@code -Errno.EAGAIN} when it would block)
     */
    public static long read(int fd, long buf, long len) {
        return shims_h.gmp_read(fd, buf, len);
    }

    /**
     * Writes. To a pipe nobody reads, this raises SIGPIPE (ignored by the JVM); for sockets see {@link Sockets#send}.
     *
     * @param fd the descriptor
     * @param buf address of the bytes
     * @param len how many
     * @return bytes written, or the negated error number ({@code -Errno.EAGAIN} when it would block)
     */
    public static long write(int fd, long buf, long len) {
        return shims_h.gmp_write(fd, buf, len);
    }

    /**
     * Closes.
     *
     * @param fd the descriptor; the number is free afterwards, whatever the outcome
     * @throws NativeException EBADF, or a delayed write error
     */
    public static void close(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Link.state(arena);
            int r = (int) CLOSE.invokeExact(state, fd);
            if (r < 0) {
                throw new NativeException("close(" + fd + ")", Link.errno(state));
            }
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Closes, whatever comes of it: for who has no use for an error. Does not allocate.
     *
     * @param fd the descriptor; the number is free afterwards
     */
    public static void release(int fd) {
        try {
            int unused = (int) Release.CLOSE.invokeExact(fd);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /** Apart, so that nobody links it who has no use for it. */
    private static final class Release {
        static final MethodHandle CLOSE =
                Link.plain("close", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
    }
}
