// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

import org.gmp4j.ffi.linux.linux_h;
import org.gmp4j.ffi.linux.sockaddr_un;

/**
 * Sockets of the Unix domain, non-blocking and closed on exec. {@link Sockets} has the operations of all sockets. A name is a path of at
 * most 107 bytes without a 0, or an abstract name, which begins with {@code @} and has no file. Thread-safe.
 */
public final class UnixSockets {
    private static final int PATH_BYTES = 108;

    private UnixSockets() {
    }

    /**
     * Makes a stream socket.
     *
     * @return the descriptor
     * @throws NativeException EMFILE or ENFILE without a free descriptor
     */
    public static int stream() {
        return Sockets.socket(linux_h.AF_UNIX, linux_h.SOCK_STREAM);
    }

    /**
     * Makes a datagram socket.
     *
     * @return the descriptor
     * @throws NativeException EMFILE or ENFILE without a free descriptor
     */
    public static int datagram() {
        return Sockets.socket(linux_h.AF_UNIX, linux_h.SOCK_DGRAM);
    }

    /**
     * Binds a socket to a name. If the name is a path, this makes the file.
     *
     * @param fd the socket
     * @param name the name
     * @throws NativeException EADDRINUSE, EACCES, ENOENT
     * @throws IllegalArgumentException when the name is empty, too long, or a path with a NUL
     */
    public static void bind(int fd, String name) {
        try (Arena arena = Arena.ofConfined()) {
            Sockets.bind(fd, encode(name, arena), name);
        }
    }

    /**
     * Connects a socket. This never waits: it returns EAGAIN when the listener's queue is full.
     *
     * @param fd the socket
     * @param name the listener's name
     * @return 0, or an error number
     * @throws IllegalArgumentException when the name is empty, too long, or a path with a NUL
     */
    public static int connect(int fd, String name) {
        try (Arena arena = Arena.ofConfined()) {
            return Sockets.connect(fd, encode(name, arena));
        }
    }

    /**
     * Removes the file of a path if it exists and may be removed. Ignores an abstract name. (The JDK's own call accepts only names that
     * the locale's charset can encode.)
     *
     * @param name the name, as given to {@link #bind}
     */
    public static void unlink(String name) {
        if (name.startsWith("@")) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            long _ = Call.call(Call.libc("unlink"), arena.allocateFrom(name).address());
        }
    }

    static MemorySegment encode(String name, Arena arena) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        if (bytes.length == 0 || bytes.length >= PATH_BYTES) {
            throw new IllegalArgumentException("a Unix socket's name has 1 to " + (PATH_BYTES - 1) + " bytes: " + name);
        }
        if (bytes[0] != '@' && name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("a Unix socket's path has no NUL: " + name.replace('\0', '?'));
        }
        MemorySegment s = sockaddr_un.allocate(arena);
        sockaddr_un.sun_family(s, (short) linux_h.AF_UNIX);
        MemorySegment path = sockaddr_un.sun_path(s);
        MemorySegment.copy(bytes, 0, path, ValueLayout.JAVA_BYTE, 0, bytes.length);
        boolean inKernel = bytes[0] == '@';
        if (inKernel) {
            path.set(ValueLayout.JAVA_BYTE, 0, (byte) 0);
        }
        return s.asSlice(0, sockaddr_un.sun_path$offset() + bytes.length + (inKernel ? 0 : 1));
    }

    /** Returns the name in an address that fills the segment, or null when the address has no name. */
    static String decode(MemorySegment address) {
        long length = address.byteSize() - sockaddr_un.sun_path$offset();
        if (length <= 0) {
            return null;
        }
        byte[] bytes = address.asSlice(sockaddr_un.sun_path$offset()).toArray(ValueLayout.JAVA_BYTE);
        if (bytes[0] == 0) {
            bytes[0] = '@';
            return new String(bytes, StandardCharsets.UTF_8);
        }
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }
}
