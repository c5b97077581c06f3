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
 * Writes and reads addresses of the Internet or the Unix domain in {@link #BYTES} of the caller's memory, for unconnected sockets. Such a
 * place has a sockaddr and then its length. Not thread-safe: only one caller at a time may use a place.
 */
public final class SocketAddresses {
    /** The size of an address's place. */
    public static final long BYTES = 128;

    private static final long LENGTH = 120;
    private static final int IPV4_BYTES = 4;
    private static final int MAPPED_AT = 10;

    private SocketAddresses() {
    }

    /**
     * Writes an address.
     *
     * @param place the place's address
     * @param address a resolved address
     * @param ipv6 whether the socket is for IPv6; an IPv4 address is mapped then
     * @throws IllegalArgumentException for an unresolved address, or an IPv6 address with an IPv4 socket
     */
    public static void write(long place, InetSocketAddress address, boolean ipv6) {
        MemorySegment to = at(place);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s;
            if (ipv6 && address.getAddress() instanceof Inet4Address ip) {
                s = sockaddr_in6.allocate(arena);
                sockaddr_in6.sin6_family(s, (short) linux_h.AF_INET6);
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
     * @param place the place's address
     * @param name a name as in {@link UnixSockets}
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
     * @param place the place's address
     * @return a name as in {@link UnixSockets}; null when the socket has none
     */
    public static String readUnix(long place) {
        return UnixSockets.decode(at(place).asSlice(0, Math.min(length(place), LENGTH)));
    }

    /**
     * Reads an address that the kernel wrote.
     *
     * @param place the place's address
     * @return the socket's address
     */
    public static InetSocketAddress read(long place) {
        return Sockets.decode(at(place));
    }

    /**
     * Returns whether two places hold the same bytes.
     *
     * @param a the address of a place
     * @param b the address of another place
     * @return false also for an IPv4 address and its mapping into IPv6
     */
    public static boolean same(long a, long b) {
        long n = length(a);
        return n == length(b) && MemorySegment.mismatch(AddressSpace.ALL, a, a + n, AddressSpace.ALL, b, b + n) < 0;
    }

    /**
     * Copies an address.
     *
     * @param from the address of the place that holds it
     * @param to the address of the other place
     */
    public static void copy(long from, long to) {
        MemorySegment.copy(AddressSpace.ALL, from, AddressSpace.ALL, to, BYTES);
    }

    private static MemorySegment at(long place) {
        return AddressSpace.ALL.asSlice(place, BYTES);
    }

    /** Sets the length to the room for a sockaddr, and returns the address of the length. */
    static long lengthForKernel(long place) {
        AddressSpace.ALL.set(ValueLayout.JAVA_INT_UNALIGNED, place + LENGTH, (int) LENGTH);
        return place + LENGTH;
    }

    static long length(long place) {
        return AddressSpace.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, place + LENGTH);
    }
}
