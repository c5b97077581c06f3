// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

import org.gmp4j.ffi.gmp.shims_h;

/**
 * Moves bytes between a non-blocking socket and memory on or off the heap. The bytes are not copied in between, and compiled code
 * allocates nothing. A result is a number of bytes or the negated error number. Thread-safe.
 *
 * <p>A call keeps memory off the heap alive: if another thread closes its arena, the call or the close throws. The kernel accesses arrays
 * in place, in a call without thread state transition, for which the collector waits. To bound this time to some 10 µs, such a call moves
 * at most {@value #HEAP_MOST} bytes of a stream. A datagram cannot be divided, so a call moves all of it. Its time is bounded by the
 * kernel's limit of a socket's buffer (net.core.wmem_max, by default 208 KiB).
 */
public final class SocketIo {
    /** The most bytes of a stream that one call moves to or from arrays. */
    public static final int HEAP_MOST = 64 << 10;

    /** The most pieces of a vectored call. */
    public static final int PIECES = 8;

    private static final FunctionDescriptor BYTES = FunctionDescriptor.of(
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG);
    private static final FunctionDescriptor DATAGRAM = FunctionDescriptor.of(
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
    private static final FunctionDescriptor VECTOR = vector();

    static {
        Shims.load();
    }

    private static final MethodHandle READ = Link.waiting(shims_h.gmp_read$address(), BYTES);
    private static final MethodHandle READ_HEAP = Link.criticalHeap(shims_h.gmp_read$address(), BYTES);
    private static final MethodHandle SEND = Link.waiting(shims_h.gmp_send$address(), BYTES);
    private static final MethodHandle SEND_HEAP = Link.criticalHeap(shims_h.gmp_send$address(), BYTES);
    private static final MethodHandle SENDV = Link.waiting(shims_h.gmp_sendv$address(), VECTOR);
    private static final MethodHandle SENDV_HEAP = Link.criticalHeap(shims_h.gmp_sendv$address(), VECTOR);
    private static final MethodHandle READV = Link.waiting(shims_h.gmp_readv$address(), VECTOR);
    private static final MethodHandle READV_HEAP = Link.criticalHeap(shims_h.gmp_readv$address(), VECTOR);
    private static final MethodHandle RECVFROM = Link.waiting(shims_h.gmp_recvfrom$address(), DATAGRAM);
    private static final MethodHandle RECVFROM_HEAP = Link.criticalHeap(shims_h.gmp_recvfrom$address(), DATAGRAM);
    private static final MethodHandle SENDTO = Link.waiting(shims_h.gmp_sendto$address(), DATAGRAM);
    private static final MethodHandle SENDTO_HEAP = Link.criticalHeap(shims_h.gmp_sendto$address(), DATAGRAM);

    private SocketIo() {
    }

    private static FunctionDescriptor vector() {
        ValueLayout[] args = new ValueLayout[2 + 2 * PIECES];
        Arrays.fill(args, ValueLayout.JAVA_LONG);
        args[0] = ValueLayout.JAVA_INT;
        args[1] = ValueLayout.JAVA_INT;
        for (int i = 2; i < args.length; i += 2) {
            args[i] = ValueLayout.ADDRESS;
        }
        return FunctionDescriptor.of(ValueLayout.JAVA_LONG, args);
    }

    /**
     * Reads bytes.
     *
     * @param fd a non-blocking descriptor
     * @param to memory for the bytes, not read-only
     * @return bytes read, 0 at the end, or the negated error number ({@code -Errno.EAGAIN} when there are no bytes)
     */
    public static long read(int fd, MemorySegment to) {
        try {
            return to.isNative()
                    ? (long) READ.invokeExact(fd, to, to.byteSize())
                    : (long) READ_HEAP.invokeExact(fd, to, Math.min(to.byteSize(), HEAP_MOST));
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Writes all of the bytes or a part, without SIGPIPE.
     *
     * @param fd a non-blocking socket
     * @param from the bytes
     * @return bytes written, or the negated error number ({@code -Errno.EAGAIN} when there is no room)
     */
    public static long send(int fd, MemorySegment from) {
        try {
            return from.isNative()
                    ? (long) SEND.invokeExact(fd, from, from.byteSize())
                    : (long) SEND_HEAP.invokeExact(fd, from, Math.min(from.byteSize(), HEAP_MOST));
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Writes all bytes of several pieces or a part, in one system call and without SIGPIPE. Pieces may be on and off the heap.
     *
     * @param fd a non-blocking socket
     * @param from the pieces
     * @param first the index of the first piece to write
     * @param n the number of pieces, 1 to {@link #PIECES}
     * @return bytes written, or the negated error number ({@code -Errno.EAGAIN} when there is no room)
     */
    public static long send(int fd, MemorySegment[] from, int first, int n) {
        return vectored(true, fd, from, first, n, HEAP_MOST);
    }

    /**
     * Sends a datagram to the peer, without SIGPIPE.
     *
     * @param fd a non-blocking socket
     * @param from its bytes
     * @return its bytes, or the negated error number ({@code -Errno.EAGAIN} when there is no room)
     */
    public static long sendDatagram(int fd, MemorySegment from) {
        try {
            return from.isNative()
                    ? (long) SEND.invokeExact(fd, from, from.byteSize())
                    : (long) SEND_HEAP.invokeExact(fd, from, from.byteSize());
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /** Sends a datagram of several pieces, which are as in {@link #send(int, MemorySegment[], int, int)}. */
    public static long sendDatagram(int fd, MemorySegment[] from, int first, int n) {
        return vectored(true, fd, from, first, n, Long.MAX_VALUE);
    }

    /**
     * Reads in one system call into several pieces, which it fills in order. Pieces may be on and off the heap.
     *
     * @param fd a non-blocking descriptor
     * @param to the pieces, none read-only
     * @param first the index of the first piece to fill
     * @param n the number of pieces, 1 to {@link #PIECES}
     * @return bytes read, 0 at the end, or the negated error number ({@code -Errno.EAGAIN} when there are no bytes)
     */
    public static long read(int fd, MemorySegment[] to, int first, int n) {
        return vectored(false, fd, to, first, n, HEAP_MOST);
    }

    /**
     * Receives a datagram. Bytes that do not fit are lost.
     *
     * @param fd a non-blocking socket
     * @param to memory for the bytes, not read-only
     * @return bytes that fit, 0 or more, or the negated error number ({@code -Errno.EAGAIN} when there is no datagram)
     */
    public static long receiveDatagram(int fd, MemorySegment to) {
        try {
            return to.isNative()
                    ? (long) READ.invokeExact(fd, to, to.byteSize())
                    : (long) READ_HEAP.invokeExact(fd, to, to.byteSize());
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /** Receives a datagram into several pieces, as in {@link #read(int, MemorySegment[], int, int)}. Bytes that do not fit are lost. */
    public static long receiveDatagram(int fd, MemorySegment[] to, int first, int n) {
        return vectored(false, fd, to, first, n, Long.MAX_VALUE);
    }

    private static long vectored(boolean send, int fd, MemorySegment[] from, int first, int n, long heapMost) {
        boolean heap = false;
        for (int i = 0; i < n; i++) {
            heap |= !from[first + i].isNative();
        }
        long left = heap ? heapMost : Long.MAX_VALUE;
        long l0 = Math.min(left, size(from, first, n, 0));
        long l1 = Math.min(left -= l0, size(from, first, n, 1));
        long l2 = Math.min(left -= l1, size(from, first, n, 2));
        long l3 = Math.min(left -= l2, size(from, first, n, 3));
        long l4 = Math.min(left -= l3, size(from, first, n, 4));
        long l5 = Math.min(left -= l4, size(from, first, n, 5));
        long l6 = Math.min(left -= l5, size(from, first, n, 6));
        long l7 = Math.min(left - l6, size(from, first, n, 7));
        MemorySegment s0 = piece(from, first, n, 0);
        MemorySegment s1 = piece(from, first, n, 1);
        MemorySegment s2 = piece(from, first, n, 2);
        MemorySegment s3 = piece(from, first, n, 3);
        MemorySegment s4 = piece(from, first, n, 4);
        MemorySegment s5 = piece(from, first, n, 5);
        MemorySegment s6 = piece(from, first, n, 6);
        MemorySegment s7 = piece(from, first, n, 7);
        try {
            if (send) {
                return heap
                        ? (long) SENDV_HEAP.invokeExact(fd, n, s0, l0, s1, l1, s2, l2, s3, l3, s4, l4, s5, l5, s6, l6, s7, l7)
                        : (long) SENDV.invokeExact(fd, n, s0, l0, s1, l1, s2, l2, s3, l3, s4, l4, s5, l5, s6, l6, s7, l7);
            }
            return heap
                    ? (long) READV_HEAP.invokeExact(fd, n, s0, l0, s1, l1, s2, l2, s3, l3, s4, l4, s5, l5, s6, l6, s7, l7)
                    : (long) READV.invokeExact(fd, n, s0, l0, s1, l1, s2, l2, s3, l3, s4, l4, s5, l5, s6, l6, s7, l7);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    private static long size(MemorySegment[] from, int first, int n, int i) {
        return i < n ? from[first + i].byteSize() : 0;
    }

    private static MemorySegment piece(MemorySegment[] from, int first, int n, int i) {
        return i < n ? from[first + i] : MemorySegment.NULL;
    }

    /**
     * Receives a datagram. Bytes that do not fit are lost.
     *
     * @param fd a non-blocking socket
     * @param to memory for the bytes, not read-only
     * @param address the place for the sender's address, see {@link SocketAddresses}
     * @return bytes that fit, 0 or more, or the negated error number ({@code -Errno.EAGAIN} when there is no datagram)
     */
    public static long receiveFrom(int fd, MemorySegment to, long address) {
        long length = SocketAddresses.lengthForKernel(address);
        try {
            return to.isNative()
                    ? (long) RECVFROM.invokeExact(fd, to, to.byteSize(), address, length)
                    : (long) RECVFROM_HEAP.invokeExact(fd, to, to.byteSize(), address, length);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /**
     * Sends a datagram.
     *
     * @param fd a non-blocking socket
     * @param from its bytes
     * @param address the place with the receiver's address, see {@link SocketAddresses}
     * @return its bytes, or the negated error number ({@code -Errno.EAGAIN} when there is no room)
     */
    public static long sendTo(int fd, MemorySegment from, long address) {
        long length = SocketAddresses.length(address);
        try {
            return from.isNative()
                    ? (long) SENDTO.invokeExact(fd, from, from.byteSize(), address, length)
                    : (long) SENDTO_HEAP.invokeExact(fd, from, from.byteSize(), address, length);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }
}
