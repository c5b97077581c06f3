// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.gmp4j.Cancelable;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.SocketIo;
import org.gmp4j.ffi.Sockets;
import org.gmp4j.netpoll.IoResult;
import org.gmp4j.netpoll.PollFd;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * A connection ({@code net.Conn}). It is a {@link ByteChannel} in blocking mode, for code that takes such a channel, and it has methods
 * that return streams. It is not an {@link java.nio.channels.InterruptibleChannel}: an interrupt may end a call, but does not close the
 * connection.
 *
 * <p>The runtime copies no bytes. The kernel reads or writes the memory of a call's argument: a buffer, direct or not, or a memory segment.
 * No other thread may use this memory before the call returns. If the arena of the memory is closed while the call waits, the call throws
 * an IllegalStateException.
 *
 * <p>A call with memory segments allocates nothing, once it is compiled. A call with a buffer or an array makes one or two small objects
 * for the segment of that buffer or array.
 *
 * <p>Thread-safe. The package's description lists the ways in which a call may end early. After an early end the position of the call's
 * buffer, or {@link java.io.InterruptedIOException#bytesTransferred}, shows how many bytes the call has moved.
 */
public abstract sealed class Conn implements ByteChannel permits TcpConn, UnixConn, DatagramConn {
    final PollFd fd;

    Conn(PollFd fd) {
        this.fd = fd;
    }

    /** Returns the network and both addresses, for messages. */
    abstract String what();

    /** Returns whether a read of 0 bytes means the end of the stream. It is false for datagrams, which may be empty. */
    abstract boolean isStream();

    // Reading

    /**
     * Reads the bytes that have arrived. If there are none, it waits for some.
     *
     * @param to the buffer, which gets the bytes from its position to its limit; the position moves behind the bytes that were read
     * @return the number of bytes; -1 at the end; 0 when {@code to} has no room
     * @throws IllegalArgumentException when {@code to} is read-only
     * @throws IOException when the read failed: see the package's description
     */
    @Override
    public int read(ByteBuffer to) throws IOException {
        return read(to, Limits.DEFAULT);
    }

    /**
     * Like {@link #read(ByteBuffer)}, this reads arrived bytes, but an interrupt of the calling thread ends the wait. The caller
     * may be a goroutine or a thread of any kind.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #read(ByteBuffer)}
     */
    public int readInterruptibly(ByteBuffer to) throws IOException, InterruptedException {
        return read(to, Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #read(ByteBuffer)}, this reads arrived bytes, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     * @throws IOException as {@link #read(ByteBuffer)}
     */
    public int readUnless(Cancelable ctx, ByteBuffer to) throws IOException {
        return read(to, Limits.until(ctx));
    }

    /**
     * Like {@link #read(ByteBuffer)}, this reads arrived bytes, but waits for {@code d} at most. If {@code d} is zero or less,
     * it does not wait. A deadline also ends the wait.
     *
     * @throws java.net.SocketTimeoutException when the time was up
     * @throws IOException as {@link #read(ByteBuffer)}
     */
    public int readWithin(ByteBuffer to, Duration d) throws IOException {
        return read(to, Limits.within(d));
    }

    private int read(ByteBuffer to, Limits limits) throws IOException {
        limits.check();
        writable(to);
        if (!to.hasRemaining()) {
            return nothing();
        }
        int n = (int) got(readSome(MemorySegment.ofBuffer(to), limits), limits);
        if (n > 0) {
            int _ = to.position(to.position() + n).position();
        }
        return n;
    }

    /**
     * Reads the bytes that have arrived. If there are none, it waits for some.
     *
     * @param to the memory or the array that gets the bytes
     * @return the number of bytes; -1 at the end; 0 when {@code to} has no room
     * @throws IOException when the read failed: see the package's description
     */
    public long read(MemorySegment to) throws IOException {
        writable(to);
        if (to.byteSize() == 0) {
            return nothing();
        }
        return got(readSome(to, Limits.DEFAULT), Limits.DEFAULT);
    }

    /** Reads into a buffer without room: returns 0 without a wait, or throws when the connection is closed. */
    private int nothing() throws IOException {
        if (!fd.use(new Nothing())) {
            throw failed("read", IoResult.CLOSED, Limits.DEFAULT);
        }
        return 0;
    }

    private long got(long r, Limits limits) throws IOException {
        if (IoResult.error(r) != 0) {
            throw failed("read", r, limits);
        }
        long n = IoResult.count(r);
        return n == 0 && isStream() ? -1 : n;
    }

    /**
     * Reads the bytes that have arrived. If there are none, it waits for some.
     *
     * @param to the memory or the array that gets the bytes
     * @param offset the index of the first byte in it
     * @param length the greatest number of bytes to read
     * @return the number of bytes; -1 at the end; 0 when {@code length} is 0
     * @throws IOException when the read failed: see the package's description
     */
    public int read(byte[] to, int offset, int length) throws IOException {
        int _ = Objects.checkFromIndexSize(offset, length, to.length);
        return (int) read(MemorySegment.ofArray(to).asSlice(offset, length));
    }

    /**
     * Reads the bytes that have arrived into several buffers, in order, by one system call. If there are none, it waits for some.
     *
     * @param to the buffers; their positions move behind the bytes that were read. Only the first 8 that have room get bytes
     * @return the number of bytes; -1 at the end; 0 when no buffer has room
     * @throws IllegalArgumentException when a buffer is read-only
     * @throws IOException when the read failed: see the package's description
     */
    public long read(ByteBuffer[] to) throws IOException {
        return read(to, 0, to.length);
    }

    /**
     * Reads the bytes that have arrived into several buffers, in order, by one system call. If there are none, it waits for some.
     *
     * @param to the buffers; their positions move behind the bytes that were read
     * @param offset the index of the first element
     * @param length the number of buffers; only the first 8 that have room get bytes
     * @return the number of bytes; -1 at the end; 0 when no buffer has room
     * @throws IllegalArgumentException when a buffer is read-only
     * @throws IOException when the read failed: see the package's description
     */
    public long read(ByteBuffer[] to, int offset, int length) throws IOException {
        int _ = Objects.checkFromIndexSize(offset, length, to.length);
        MemorySegment[] pieces = new MemorySegment[length];
        for (int i = 0; i < length; i++) {
            writable(to[offset + i]);
            pieces[i] = MemorySegment.ofBuffer(to[offset + i]);
        }
        long n = readPieces(pieces);
        advance(to, offset, length, n);
        return n;
    }

    /**
     * Reads the bytes that have arrived into several segments, in order, by one system call. If there are none, it waits for some.
     *
     * @param to the segments; only the first 8 that have room get bytes
     * @return the number of bytes; -1 at the end; 0 when no segment has room
     * @throws IllegalArgumentException when a segment is read-only
     * @throws IOException when the read failed: see the package's description
     */
    public long read(MemorySegment[] to) throws IOException {
        for (MemorySegment s : to) {
            writable(s);
        }
        return readPieces(to);
    }

    private long readPieces(MemorySegment[] to) throws IOException {
        int n = 0;
        int end = 0;
        for (; end < to.length && n < SocketIo.PIECES; end++) {
            n += to[end].byteSize() > 0 ? 1 : 0;
        }
        if (n == 0) {
            return nothing();
        }
        return got(readSome(n == end ? to : withRoom(to, n), n), Limits.DEFAULT);
    }

    /** Returns the first {@code n} pieces that have room. */
    private static MemorySegment[] withRoom(MemorySegment[] to, int n) {
        MemorySegment[] some = new MemorySegment[n];
        for (int i = 0, k = 0; k < n; i++) {
            if (to[i].byteSize() > 0) {
                some[k++] = to[i];
            }
        }
        return some;
    }

    /** Reads into memory that has room. */
    long readSome(MemorySegment to, Limits limits) {
        return fd.read(to, limits);
    }

    /** Reads into the first {@code n} pieces, which have room. */
    long readSome(MemorySegment[] to, int n) {
        return fd.read(to, n);
    }

    /** Writes all of the pieces. */
    long writeAll(MemorySegment[] from) {
        return fd.write(from);
    }

    /** Moves the buffers' positions behind the first {@code bytes} bytes. If a buffer is in the array twice, its position moves twice. */
    private static void advance(ByteBuffer[] buffers, int offset, int length, long bytes) {
        long left = bytes;
        for (int i = offset; left > 0 && i < offset + length; i++) {
            int n = (int) Math.min(left, buffers[i].remaining());
            left -= n;
            int _ = buffers[i].position(buffers[i].position() + n).position();
        }
    }

    static void writable(ByteBuffer to) {
        if (to.isReadOnly()) {
            throw new IllegalArgumentException("the buffer is read-only");
        }
    }

    static void writable(MemorySegment to) {
        if (to.isReadOnly()) {
            throw new IllegalArgumentException("the segment is read-only");
        }
    }

    // Writing

    /**
     * Writes all bytes, and waits for room.
     *
     * @param from the bytes from its position to its limit; the position moves behind the bytes that were written
     * @return the number of bytes
     * @throws IOException when not all was written: see the package's description
     */
    @Override
    public int write(ByteBuffer from) throws IOException {
        return write(from, Limits.DEFAULT);
    }

    /**
     * Like {@link #write(ByteBuffer)}, this writes all bytes, but an interrupt of the calling thread ends the wait. The caller may be a
     * goroutine or a thread of any kind.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #write(ByteBuffer)}
     */
    public int writeInterruptibly(ByteBuffer from) throws IOException, InterruptedException {
        return write(from, Limits.INTERRUPTIBLY);
    }

    /**
     * Like {@link #write(ByteBuffer)}, this writes all bytes, but a cancel of {@code ctx} ends the wait.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     * @throws IOException as {@link #write(ByteBuffer)}
     */
    public int writeUnless(Cancelable ctx, ByteBuffer from) throws IOException {
        return write(from, Limits.until(ctx));
    }

    /**
     * Like {@link #write(ByteBuffer)}, this writes all bytes, but waits for {@code d} at most. If {@code d} is zero or less, it does not
     * wait. A deadline also ends the wait.
     *
     * @throws java.net.SocketTimeoutException when the time was up
     * @throws IOException as {@link #write(ByteBuffer)}
     */
    public int writeWithin(ByteBuffer from, Duration d) throws IOException {
        return write(from, Limits.within(d));
    }

    int write(ByteBuffer from, Limits limits) throws IOException {
        limits.check();
        long r = fd.write(MemorySegment.ofBuffer(from), limits);
        int _ = from.position(from.position() + (int) IoResult.count(r)).position();
        return (int) written(r, limits);
    }

    /**
     * Writes all bytes, and waits for room.
     *
     * @param from the bytes
     * @return the number of bytes
     * @throws IOException when not all was written: see the package's description
     */
    public long write(MemorySegment from) throws IOException {
        return written(fd.write(from, Limits.DEFAULT), Limits.DEFAULT);
    }

    /**
     * Writes all bytes, and waits for room.
     *
     * @param from the bytes
     * @param offset the index of the first element
     * @param length the number of elements
     * @throws IOException when not all was written: see the package's description
     */
    public void write(byte[] from, int offset, int length) throws IOException {
        int _ = Objects.checkFromIndexSize(offset, length, from.length);
        long _ = write(MemorySegment.ofArray(from).asSlice(offset, length));
    }

    /**
     * Writes all bytes of several buffers, with as few system calls as possible. Other calls write their bytes before or after these, not
     * in between.
     *
     * @param from the buffers; their positions move behind the bytes that were written
     * @return the number of bytes
     * @throws IOException when not all was written: see the package's description
     */
    public long write(ByteBuffer[] from) throws IOException {
        return write(from, 0, from.length);
    }

    /**
     * Writes all bytes of several buffers, with as few system calls as possible. Other calls write their bytes before or after these, not
     * in between.
     *
     * @param from the buffers; their positions move behind the bytes that were written
     * @param offset the index of the first element
     * @param length the number of elements
     * @return the number of bytes
     * @throws IOException when not all was written: see the package's description
     */
    public long write(ByteBuffer[] from, int offset, int length) throws IOException {
        int _ = Objects.checkFromIndexSize(offset, length, from.length);
        MemorySegment[] pieces = new MemorySegment[length];
        for (int i = 0; i < length; i++) {
            pieces[i] = MemorySegment.ofBuffer(from[offset + i]);
        }
        long r = writeAll(pieces);
        advance(from, offset, length, IoResult.count(r));
        return written(r, Limits.DEFAULT);
    }

    /**
     * Writes all bytes of several segments, with as few system calls as possible. Other calls write their bytes before or after these, not
     * in between.
     *
     * @param from the segments
     * @return the number of bytes
     * @throws IOException when not all was written: see the package's description
     */
    public long write(MemorySegment[] from) throws IOException {
        return written(writeAll(from), Limits.DEFAULT);
    }

    final long written(long r, Limits limits) throws IOException {
        if (IoResult.error(r) != 0) {
            throw failed("write", r, limits);
        }
        return IoResult.count(r);
    }

    final IOException failed(String op, long r, Limits limits) {
        Errors.check(limits, IoResult.error(r));
        return Errors.of(op, what(), IoResult.error(r), IoResult.count(r));
    }

    // Deadlines

    /**
     * Sets the deadline of reads and writes. It holds for later calls and for present waits, until it is set anew. A call that has no time
     * left throws {@link java.net.SocketTimeoutException}, even if there is something to read.
     *
     * @param at the time, by the clock; with a time in the past all calls end at once; null, the default, for no deadline
     * @throws ClosedException when the connection is closed
     */
    public void setDeadline(@Nullable Instant at) throws IOException {
        setDeadline(Deadlines.left(at), true, true);
    }

    /**
     * Sets the deadline of reads only, as {@link #setDeadline} does.
     *
     * @param at as for {@link #setDeadline}
     * @throws ClosedException when the connection is closed
     */
    public void setReadDeadline(@Nullable Instant at) throws IOException {
        setDeadline(Deadlines.left(at), true, false);
    }

    /**
     * Sets the deadline of writes only, as {@link #setDeadline} does.
     *
     * @param at as for {@link #setDeadline}
     * @throws ClosedException when the connection is closed
     */
    public void setWriteDeadline(@Nullable Instant at) throws IOException {
        setDeadline(Deadlines.left(at), false, true);
    }

    /**
     * Sets the deadline of reads and writes as {@link #setDeadline} does, but relative to now. A change of the clock does not move the
     * deadline.
     *
     * @param d the time from now; with zero or less all calls end at once; null for no deadline
     * @throws ClosedException when the connection is closed
     */
    public void setDeadlineAfter(@Nullable Duration d) throws IOException {
        setDeadline(Deadlines.left(d), true, true);
    }

    /**
     * Sets the deadline of reads only, as {@link #setDeadlineAfter} does.
     *
     * @param d as for {@link #setDeadlineAfter}
     * @throws ClosedException when the connection is closed
     */
    public void setReadDeadlineAfter(@Nullable Duration d) throws IOException {
        setDeadline(Deadlines.left(d), true, false);
    }

    /**
     * Sets the deadline of writes only, as {@link #setDeadlineAfter} does.
     *
     * @param d as for {@link #setDeadlineAfter}
     * @throws ClosedException when the connection is closed
     */
    public void setWriteDeadlineAfter(@Nullable Duration d) throws IOException {
        setDeadline(Deadlines.left(d), false, true);
    }

    private void setDeadline(long nanos, boolean read, boolean write) throws IOException {
        if (!fd.setDeadline(nanos, read, write)) {
            throw Errors.of("set", what(), IoResult.CLOSED, 0);
        }
    }

    // Views and the end

    /**
     * Returns a stream of the bytes that are read. Its {@code close} closes the connection.
     *
     * @return a stream without a buffer
     */
    public InputStream inputStream() {
        return new ConnInput(this);
    }

    /**
     * Returns a stream that writes to the connection. Its {@code close} closes the connection.
     *
     * @return a stream without a buffer
     */
    public OutputStream outputStream() {
        return new ConnOutput(this);
    }

    /** Returns true until a close of the connection begins. */
    @Override
    public boolean isOpen() {
        return fd.isOpen();
    }

    /**
     * Closes the connection. Calls that read or write at that moment throw a {@link ClosedException}. When this returns, the descriptor is
     * closed, even if another thread had begun to close it. On a closed connection this does nothing. The kernel still sends the bytes that
     * were written before.
     *
     * <p>Any thread may call this. The close waits until the reads and writes that it ends have returned, and until a close that another
     * thread began is done. An interrupt does not end that wait. In a bubble of {@code Synctest} the bubble's clock stands still during the
     * wait.
     */
    @Override
    public void close() {
        boolean _ = fd.close();
    }

    /** Changes a setting of the socket by {@code u}, which may fail and does not wait. */
    final void use(PollFd.Use u) throws IOException {
        use("set", u);
    }

    /** Shuts one direction down: {@code how} is one of the {@code SHUT} constants. */
    final void shutdown(int how) throws IOException {
        use("close", new Shutdown(how));
    }

    /** Shuts one direction down. */
    private record Shutdown(int how) implements PollFd.Use {
        @Override
        public void with(int d) {
            Sockets.shutdown(d, how);
        }
    }

    private record Nothing() implements PollFd.Use {
        @Override
        public void with(int d) {
        }
    }

    private void use(String op, PollFd.Use u) throws IOException {
        boolean open;
        try {
            open = fd.use(u);
        } catch (NativeException e) {
            throw Errors.of(op, what(), e);
        }
        if (!open) {
            throw Errors.of(op, what(), IoResult.CLOSED, 0);
        }
    }

    /** Returns the size of a buffer. Throws an IllegalArgumentException when it is 0 or negative. */
    static int size(int bytes) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("the size of a buffer is " + bytes + ": use 1 or more");
        }
        return bytes;
    }

    @Override
    public String toString() {
        return what();
    }
}
