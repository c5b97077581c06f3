// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * Error numbers of Linux and their texts. The numbers are the same on x86-64 and aarch64; a test compares them with the C compiler's.
 * Thread-safe.
 */
public final class Errno {
    /** Operation not permitted. */
    public static final int EPERM = 1;

    /** No such file. */
    public static final int ENOENT = 2;

    /** No such process or thread. */
    public static final int ESRCH = 3;

    /** Interrupted by a signal. */
    public static final int EINTR = 4;

    /** Bad file descriptor. */
    public static final int EBADF = 9;

    /** Try again. Of a futex: the word did not hold the expected value. */
    public static final int EAGAIN = 11;

    /** Out of memory. */
    public static final int ENOMEM = 12;

    /** Permission denied. */
    public static final int EACCES = 13;

    /** Bad address. */
    public static final int EFAULT = 14;

    /** Device or resource busy. */
    public static final int EBUSY = 16;

    /** File exists, or is registered already. */
    public static final int EEXIST = 17;

    /** Invalid argument. */
    public static final int EINVAL = 22;

    /** The system's file table is full. */
    public static final int ENFILE = 23;

    /** The process has too many open files. */
    public static final int EMFILE = 24;

    /** No room: on a disk, or for another descriptor that epoll watches. */
    public static final int ENOSPC = 28;

    /** The other end of a pipe or socket is closed. */
    public static final int EPIPE = 32;

    /** Function not implemented by this kernel. */
    public static final int ENOSYS = 38;

    /** The kernel does not support the address family, such as IPv6. */
    public static final int EAFNOSUPPORT = 97;

    /** Address in use. */
    public static final int EADDRINUSE = 98;

    /** This machine does not have the address. */
    public static final int EADDRNOTAVAIL = 99;

    /** Connection aborted. */
    public static final int ECONNABORTED = 103;

    /** Connection reset by peer. */
    public static final int ECONNRESET = 104;

    /** The kernel has no memory for a buffer. */
    public static final int ENOBUFS = 105;

    /** Already connected. */
    public static final int EISCONN = 106;

    /** Not connected. */
    public static final int ENOTCONN = 107;

    /** Timed out. */
    public static final int ETIMEDOUT = 110;

    /** Connection refused. */
    public static final int ECONNREFUSED = 111;

    /** An earlier connect is still in progress. */
    public static final int EALREADY = 114;

    /** The connect is in progress. */
    public static final int EINPROGRESS = 115;

    private static final MethodHandle NAME = text("strerrorname_np");
    private static final MethodHandle MEANING = text("strerrordesc_np");

    private Errno() {
    }

    /**
     * Returns the symbol of an error number.
     *
     * @param errno the number
     * @return for example {@code EINVAL}; {@code errno 22} when the C library does not know it
     */
    public static String name(int errno) {
        String s = call(NAME, errno);
        return s != null ? s : "errno " + errno;
    }

    /**
     * Returns the symbol and meaning of an error number, in English in any locale.
     *
     * @param errno the number
     * @return for example {@code EINVAL (Invalid argument)}
     */
    public static String describe(int errno) {
        String meaning = call(MEANING, errno);
        return meaning != null ? name(errno) + " (" + meaning + ")" : name(errno);
    }

    /** Returns a handle of a function, or null before glibc 2.32, which lacks it. The generated linux_h would throw then. */
    @SuppressWarnings("restricted")
    private static MethodHandle text(String function) {
        Linker linker = Linker.nativeLinker();
        return linker.defaultLookup()
                .find(function)
                .map(f -> linker.downcallHandle(f, FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT)))
                .orElse(null);
    }

    @SuppressWarnings("restricted")
    private static String call(MethodHandle function, int errno) {
        if (function == null) {
            return null;
        }
        MemorySegment s;
        try {
            s = (MemorySegment) function.invokeExact(errno);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
        return s.address() == 0 ? null : s.reinterpret(Long.MAX_VALUE).getString(0);
    }
}
