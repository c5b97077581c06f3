// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.InetSocketAddress;

import org.gmp4j.ffi.linux.linux_h;
import org.gmp4j.ffi.linux.sockaddr_in;
import org.gmp4j.ffi.linux.sockaddr_in6;

/**
 * Addresses of the Internet or the Unix domain in memory of the caller's, {@link #BYTES} of it, for sockets that speak to
 * many: its first part is a sockaddr, behind that stands its length. Not thread-safe: a place belongs to one caller at a time.
 */
public final class SocketAddresses {
    /** How much memory an address takes. */
    public static final long BYTES = 128;

    private static final long LENGTH = 120;
    private static final int IPV4_BYTES = 4;
    private static final int MAPPED_AT = 10;

    private SocketAddresses() {
    }

    /**
     * Writes an address.
     *
     * @param place where to
     * @param address a resolved address
     * @param ipv6 whether the socket is one for IPv6, which takes IPv4 addresses mapped
     * @throws IllegalArgumentException for an address that is not resolved, or of IPv6 with a socket of IPv4
     */
    public static void write(long place, InetSocketAddress address, boolean ipv6) {
        MemorySegment to = at(place);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s;
            if (ipv6 && address.getAddress() instanceof Inet4Address ip) {
                s = sockaddr_in6.allocate(arena);
                sockaddr_in6.sin6_family(s, (short) linux_h.AF_INET6());
                MemorySegment in4 = Sockets.encode(address, arena);
                sockaddr_in6.sin6_port(s, sockaddr_in.sin_port(in4));
                MemorySegment bytes = sockaddr_in6.sin6_addr(s);
                bytes.set(ValueLayout.JAVA_SHORT_UNALIGNED, MAPPED_AT, (short) -1);
                MemorySegment.copy(MemorySegment.ofArray(ip.getAddress()), 0, bytes, MAPPED_AT + 2, IPV4_BYTES);
            } else {
                s = Sockets.encode(address, arena);
            }
            if (!ipv6 && s.byteSize() != sockaddr_in.sizeof()) {
                throw new IllegalArgumentException("an IPv4 socket cannot reach " + address);
            }
            put(to, s);
        }
    }

    /**
     * Writes the address of a Unix socket.
     *
     * @param place where to
     * @param name as {@link UnixSockets} has it
     * @throws IllegalArgumentException when the name is empty, too long, or a path with a NUL
     */
    public static void writeUnix(long place, String name) {
        try (Arena arena = Arena.ofConfined()) {
            put(at(place), UnixSockets.encode(name, arena));
        }
    }

    private static void put(MemorySegment to, MemorySegment s) {
        to.copyFrom(s);
        to.set(ValueLayout.JAVA_INT, LENGTH, (int) s.byteSize());
    }

    /**
     * Reads the address of a Unix socket that the kernel wrote.
     *
     * @param place where it stands
     * @return the name as {@link UnixSockets} has it; null of a socket that has none
     */
    public static String readUnix(long place) {
        return UnixSockets.decode(at(place).asSlice(0, Math.min(length(place), LENGTH)));
    }

    /**
     * Reads an address that the kernel wrote.
     *
     * @param place where it stands
     * @return the address
     */
    public static InetSocketAddress read(long place) {
        return Sockets.decode(at(place));
    }

    /**
     * Whether two places hold the same address.
     *
     * @param a the one
     * @param b the other
     * @return true if a read of both gives the same
     */
    public static boolean same(long a, long b) {
        long n = length(a);
        return n == length(b) && MemorySegment.mismatch(Memory.ALL, a, a + n, Memory.ALL, b, b + n) < 0;
    }

    /**
     * Copies an address.
     *
     * @param from where it stands
     * @param to the other place
     */
    public static void copy(long from, long to) {
        MemorySegment.copy(Memory.ALL, from, Memory.ALL, to, BYTES);
    }

    private static MemorySegment at(long place) {
        return Memory.ALL.asSlice(place, BYTES);
    }

    /** Says how much room there is, and gives the address of the length. */
    static long lengthForKernel(long place) {
        Memory.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, place + LENGTH, (int) LENGTH);
        return place + LENGTH;
    }

    static long length(long place) {
        return Memory.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, place + LENGTH);
    }
}
