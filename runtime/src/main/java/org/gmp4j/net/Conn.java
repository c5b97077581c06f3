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
 * A connection ({@code net.Conn}). It is a blocking channel too, for code that takes one, and has streams. It is no {@link
 * java.nio.channels.InterruptibleChannel}: an interrupt may end a call, but closes nothing.
 *
 * <p>Bytes are not copied on the way: the kernel reads and writes the buffer, direct or not, or the memory segment that a call is
 * given. No other thread may use that before the call returns. If its arena is closed while the call waits, the call throws
 * IllegalStateException.
 *
 * <p>A call with memory segments allocates nothing, once it is compiled. One with a buffer or an array makes a small object or two:
 * the segment of that buffer or array.
 *
 * <p>Thread-safe. The package's description says what may end a call early. How many bytes such a call has moved is told by the
 * position of its buffer, or by {@link java.io.InterruptedIOException#bytesTransferred}.
 */
public abstract sealed class Conn implements ByteChannel permits TcpConn, UnixConn, DatagramConn {
    final PollFd fd;

    Conn(PollFd fd) {
        this.fd = fd;
    }

    /** The network and both addresses, for messages. */
    abstract String what();

    /** Whether a read of no bytes is the end. */
    abstract boolean isStream();

    // Reading

    /**
     * Reads what is there, waiting until there is something.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param to where to, from its position to its limit; the position moves behind what was read
     * @return how many bytes; -1 at the end; 0 when {@code to} has no room
     * @throws IllegalArgumentException when {@code to} is read-only
     * @throws IOException when the read failed: see the package's description
     */
    @Override
    public int read(ByteBuffer to) throws IOException {
        return read(to, Limits.DEFAULT);
    }

    /**
     * As {@link #read(ByteBuffer)}, until an interrupt of the calling thread ends it; on threads of all kinds.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #read(ByteBuffer)}
     */
    public int readInterruptibly(ByteBuffer to) throws IOException, InterruptedException {
        return read(to, Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #read(ByteBuffer)}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     * @throws IOException as {@link #read(ByteBuffer)}
     */
    public int readUnless(Cancelable ctx, ByteBuffer to) throws IOException {
        return read(to, Limits.until(ctx));
    }

    /**
     * As {@link #read(ByteBuffer)}, for {@code d} at most; zero or less only looks. A deadline counts too.
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
     * Reads what is there, waiting until there is something.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param to where to
     * @return how many bytes; -1 at the end; 0 when {@code to} has no room
     * @throws IOException when the read failed: see the package's description
     */
    public long read(MemorySegment to) throws IOException {
        writable(to);
        if (to.byteSize() == 0) {
            return nothing();
        }
        return got(readSome(to, Limits.DEFAULT), Limits.DEFAULT);
    }

    /** A read of no bytes: it waits for nothing. */
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
     * Reads what is there, waiting until there is something.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param to where to
     * @param offset the first place
     * @param length how many bytes at most
     * @return how many bytes; -1 at the end; 0 when {@code length} is 0
     * @throws IOException when the read failed: see the package's description
     */
    public int read(byte[] to, int offset, int length) throws IOException {
        int _ = Objects.checkFromIndexSize(offset, length, to.length);
        return (int) read(MemorySegment.ofArray(to).asSlice(offset, length));
    }

    /**
     * Reads what is there into several buffers, the first ones first, in one system call, waiting until there is something.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param to the buffers; their positions move behind what was read. At most 8 that have room are read into
     * @return how many bytes; -1 at the end; 0 when none has room
     * @throws IllegalArgumentException when one is read-only
     * @throws IOException when the read failed: see the package's description
     */
    public long read(ByteBuffer[] to) throws IOException {
        return read(to, 0, to.length);
    }

    /**
     * Reads what is there into several buffers, the first ones first, in one system call, waiting until there is something.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param to the buffers; their positions move behind what was read
     * @param offset the first of them
     * @param length how many; at most 8 that have room are read into
     * @return how many bytes; -1 at the end; 0 when none has room
     * @throws IllegalArgumentException when one is read-only
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
     * Reads what is there into several segments, the first ones first, in one system call, waiting until there is something.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param to the segments; at most 8 that have room are read into
     * @return how many bytes; -1 at the end; 0 when none has room
     * @throws IllegalArgumentException when one is read-only
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

    /** The first {@code n} that have room. */
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
        return fd.read(to, 0, n);
    }

    /** Writes all of the pieces. */
    long writeAll(MemorySegment[] from) {
        return fd.write(from, 0, from.length);
    }

    /** Moves positions behind so many bytes; a buffer that is there twice is moved as often. */
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
     * Writes all, waiting for room.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param from the bytes from its position to its limit; the position moves behind what was written
     * @return how many bytes
     * @throws IOException when not all was written: see the package's description
     */
    @Override
    public int write(ByteBuffer from) throws IOException {
        return write(from, Limits.DEFAULT);
    }

    /**
     * As {@link #write(ByteBuffer)}, until an interrupt of the calling thread ends it; on threads of all kinds.
     *
     * @throws InterruptedException when it was interrupted before or while it waits; the interrupt status is cleared
     * @throws IOException as {@link #write(ByteBuffer)}
     */
    public int writeInterruptibly(ByteBuffer from) throws IOException, InterruptedException {
        return write(from, Limits.INTERRUPTIBLY);
    }

    /**
     * As {@link #write(ByteBuffer)}, until {@code ctx} is cancelled.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     * @throws IOException as {@link #write(ByteBuffer)}
     */
    public int writeUnless(Cancelable ctx, ByteBuffer from) throws IOException {
        return write(from, Limits.until(ctx));
    }

    /**
     * As {@link #write(ByteBuffer)}, for {@code d} at most; zero or less only looks. A deadline counts too.
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
        int n = (int) IoResult.count(r);
        if (n > 0) {
            int _ = from.position(from.position() + n).position();
        }
        return (int) written(r, limits);
    }

    /**
     * Writes all, waiting for room.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param from the bytes
     * @return how many bytes
     * @throws IOException when not all was written: see the package's description
     */
    public long write(MemorySegment from) throws IOException {
        return written(fd.write(from, Limits.DEFAULT), Limits.DEFAULT);
    }

    /**
     * Writes all, waiting for room.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param from the bytes
     * @param offset the first of them
     * @param length how many
     * @throws IOException when not all was written: see the package's description
     */
    public void write(byte[] from, int offset, int length) throws IOException {
        int _ = Objects.checkFromIndexSize(offset, length, from.length);
        long n = written(fd.write(MemorySegment.ofArray(from).asSlice(offset, length), Limits.DEFAULT), Limits.DEFAULT);
    }

    /**
     * Writes all of several buffers, as few system calls as may be; nobody else's bytes come in between.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param from the buffers; their positions move behind what was written
     * @return how many bytes
     * @throws IOException when not all was written: see the package's description
     */
    public long write(ByteBuffer[] from) throws IOException {
        return write(from, 0, from.length);
    }

    /**
     * Writes all of several buffers, as few system calls as may be; nobody else's bytes come in between.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param from the buffers; their positions move behind what was written
     * @param offset the first of them
     * @param length how many
     * @return how many bytes
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
     * Writes all of several segments, as few system calls as may be; nobody else's bytes come in between.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j.net##waits the package}.
     *
     * @param from the segments
     * @return how many bytes
     * @throws IOException when not all was written: see the package's description
     */
    public long write(MemorySegment[] from) throws IOException {
        return written(writeAll(from), Limits.DEFAULT);
    }

    private long written(long r, Limits limits) throws IOException {
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
     * Until when reads and writes have time. It holds for all calls from now on, and for those that wait already, until it is set
     * anew. A call that has no time left throws {@link java.net.SocketTimeoutException}, even if there is something to read.
     *
     * @param at when, by the clock; in the past for none at all; null for no deadline, as in the beginning
     * @throws ClosedException when it is closed
     */
    public void setDeadline(@Nullable Instant at) throws IOException {
        setDeadline(Deadlines.left(at), true, true);
    }

    /**
     * The same for reads alone.
     *
     * @param at as for {@link #setDeadline}
     * @throws ClosedException when it is closed
     */
    public void setReadDeadline(@Nullable Instant at) throws IOException {
        setDeadline(Deadlines.left(at), true, false);
    }

    /**
     * The same for writes alone.
     *
     * @param at as for {@link #setDeadline}
     * @throws ClosedException when it is closed
     */
    public void setWriteDeadline(@Nullable Instant at) throws IOException {
        setDeadline(Deadlines.left(at), false, true);
    }

    /**
     * As {@link #setDeadline}, by how far off it is, which no change of the clock moves.
     *
     * @param d from now; zero or negative for no time at all; null for no deadline
     * @throws ClosedException when it is closed
     */
    public void setDeadlineAfter(@Nullable Duration d) throws IOException {
        setDeadline(Deadlines.left(d), true, true);
    }

    /**
     * The same for reads alone.
     *
     * @param d as for {@link #setDeadlineAfter}
     * @throws ClosedException when it is closed
     */
    public void setReadDeadlineAfter(@Nullable Duration d) throws IOException {
        setDeadline(Deadlines.left(d), true, false);
    }

    /**
     * The same for writes alone.
     *
     * @param d as for {@link #setDeadlineAfter}
     * @throws ClosedException when it is closed
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
     * What is read, as a stream; its {@code close} closes the connection.
     *
     * @return a stream without a buffer
     */
    public InputStream inputStream() {
        return new ConnInput(this);
    }

    /**
     * What is written, as a stream; its {@code close} closes the connection.
     *
     * @return a stream without a buffer
     */
    public OutputStream outputStream() {
        return new ConnOutput(this);
    }

    /** Whether nobody has begun to close it. */
    @Override
    public boolean isOpen() {
        return fd.isOpen();
    }

    /**
     * Closes the connection. Calls that read or write just now get a {@link ClosedException}. The descriptor is closed when this returns,
     * by whichever of several closes; on a closed connection it does nothing. Bytes that were written are still sent.
     *
     * <p>Any thread may close. It waits for the calls that it ends, and for a close that has begun before, whatever interrupts come, and
     * in a bubble holds the clock.
     */
    @Override
    public void close() {
        boolean _ = fd.close();
    }

    /** Sets what may fail and does not wait. */
    final void use(PollFd.Use u) throws IOException {
        use("set", u);
    }

    /** Ends a direction: {@code how} is one of the {@code SHUT} constants. */
    final void shutdown(int how) throws IOException {
        use("close", new Shutdown(how));
    }

    /** No lambda, nor for nothing: with no memory to link it at the first call none could ever succeed. */
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

    /** The size of a buffer, as given; an IllegalArgumentException when it is none. */
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
