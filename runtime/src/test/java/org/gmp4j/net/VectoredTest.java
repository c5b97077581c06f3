// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.io;
import static org.gmp4j.net.Io.pattern;
import static org.gmp4j.net.Io.readFully;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Random;

import org.gmp4j.net.Io.Pair;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reads and writes of several buffers or segments at once, and of none. */
class VectoredTest {
    /** Pieces on and off the heap, empty ones, more than a system call takes; through buffers too small for them. */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 9, 40})
    void vectoredPartialWrites(int pieces) throws Exception {
        Random random = new Random(pieces);
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open(); Arena arena = Arena.ofShared()) {
            p.a().setWriteBuffer(64 << 10); // Less than a segment of the loopback interface would have the kernel wait.
            p.b().setReadBuffer(256 << 10);
            MemorySegment[] segments = new MemorySegment[pieces];
            ByteBuffer[] buffers = new ByteBuffer[pieces];
            int total = 0;
            for (int i = 0; i < pieces; i++) {
                total += random.nextInt(5) == 0 ? 0 : random.nextInt(200_000);
                segments[i] = null;
                buffers[i] = ByteBuffer.allocate(total); // Its size is the end of the piece, for now.
            }
            byte[] data = pattern(total);
            int from = 0;
            for (int i = 0; i < pieces; i++) {
                int n = buffers[i].capacity() - from;
                MemorySegment heap = Io.heap(data, from, n);
                MemorySegment off = arena.allocate(Math.max(1, n)).asSlice(0, n);
                off.copyFrom(heap);
                segments[i] = i % 2 == 0 ? heap : off;
                buffers[i] = i % 3 == 0 ? ByteBuffer.wrap(data, from, n)
                        : i % 3 == 1 ? off.asByteBuffer() : ByteBuffer.wrap(data, from, n).asReadOnlyBuffer();
                from += n;
            }
            byte[] got = new byte[total];
            int end = total;
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                all.go(io(() -> {
                    assertEquals(end, p.a().write(segments));
                    assertEquals(end, p.a().write(buffers));
                    p.a().closeWrite();
                }));
                all.go(io(() -> {
                    for (int i = 0; i < 2; i++) {
                        java.util.Arrays.fill(got, (byte) 0);
                        readFully(p.b(), got);
                        assertArrayEquals(data, got);
                    }
                    assertEquals(-1, p.b().read(new byte[1], 0, 1));
                }));
                all.await();
            });
            for (ByteBuffer b : buffers) {
                assertFalse(b.hasRemaining());
            }
        }
    }

    /** Pieces on and off the heap, empty ones, more than a system call takes; what has come goes into the first ones. */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 9, 40})
    void vectoredReads(int pieces) throws Exception {
        Random random = new Random(pieces);
        byte[] data = pattern(500_000);
        try (TestGmp gmp = TestGmp.procs(2); Pair p = Pair.open(); Arena arena = Arena.ofShared()) {
            ByteBuffer[] buffers = new ByteBuffer[pieces];
            MemorySegment[] segments = new MemorySegment[pieces];
            for (int i = 0; i < pieces; i++) {
                int n = i == 3 ? 0 : 1 + random.nextInt(2_000);
                segments[i] = i % 2 == 0 ? MemorySegment.ofArray(new byte[n]) : arena.allocate(n);
                buffers[i] = i % 3 == 0 ? ByteBuffer.allocateDirect(n + 2).position(1).limit(n + 1) : ByteBuffer.allocate(n);
                buffers[i].mark();
            }
            byte[] got = new byte[data.length];
            gmp.run(() -> {
                WaitGroup all = new WaitGroup();
                all.go(io(() -> {
                    p.a().write(data, 0, data.length);
                    p.a().closeWrite();
                }));
                all.go(io(() -> {
                    for (int at = 0, i = 0; at < got.length; i++) {
                        at = i % 2 == 0 ? intoSegments(p.b(), segments, got, at) : intoBuffers(p.b(), buffers, got, at);
                    }
                    assertEquals(-1, p.b().read(segments));
                    assertEquals(-1, p.b().read(buffers));
                }));
                all.await();
            });
            assertArrayEquals(data, got);
        }
    }

    private static int intoSegments(TcpConn c, MemorySegment[] to, byte[] got, int from) throws IOException {
        long left = c.read(to);
        assertTrue(left > 0);
        int at = from;
        for (int i = 0; left > 0; i++) {
            int n = (int) Math.min(left, to[i].byteSize());
            MemorySegment.copy(to[i], ValueLayout.JAVA_BYTE, 0, got, at, n);
            at += n;
            left -= n;
        }
        return at;
    }

    private static int intoBuffers(TcpConn c, ByteBuffer[] to, byte[] got, int from) throws IOException {
        long n = c.read(to);
        int at = from;
        for (ByteBuffer b : to) {
            int read = b.position() - b.reset().position();
            b.get(got, at, read).reset();
            at += read;
        }
        assertEquals(n, at - from);
        return at;
    }

    @Test
    void vectoredReadsOfNothing() throws Exception {
        try (Pair p = Pair.open()) {
            assertEquals(0, p.a().read(new ByteBuffer[0]));
            assertEquals(0, p.a().read(new MemorySegment[] {MemorySegment.ofArray(new byte[0])}));
            assertThrows(IllegalArgumentException.class, () -> p.a().read(new ByteBuffer[] {ByteBuffer.allocate(1).asReadOnlyBuffer()}));
            assertThrows(IllegalArgumentException.class,
                    () -> p.a().read(new MemorySegment[] {MemorySegment.ofArray(new byte[1]).asReadOnly()}));
            assertThrows(IndexOutOfBoundsException.class, () -> p.a().read(new ByteBuffer[1], 1, 1));
            p.a().close();
            assertThrows(ClosedException.class, () -> p.a().read(new ByteBuffer[] {ByteBuffer.allocate(1)}));
            assertThrows(ClosedException.class, () -> p.a().read(new ByteBuffer[0]));
        }
    }

    @Test
    void buffersOfNoSize() throws Exception {
        try (Pair p = Pair.open()) {
            for (int n : new int[] {0, -1, Integer.MIN_VALUE}) {
                assertEquals("the size of a buffer is " + n + ": use 1 or more",
                        assertThrows(IllegalArgumentException.class, () -> p.a().setReadBuffer(n)).getMessage());
                assertThrows(IllegalArgumentException.class, () -> p.a().setWriteBuffer(n));
            }
            p.a().setReadBuffer(1);
            p.a().setWriteBuffer(Integer.MAX_VALUE);
        }
    }

    /** Nothing to move: closed is closed all the same. */
    @Test
    void noBytes() throws Exception {
        Pair p = Pair.open();
        MemorySegment none = MemorySegment.ofArray(new byte[0]);
        assertEquals(0, p.a().read(ByteBuffer.allocate(0)));
        assertEquals(0, p.a().read(none));
        assertEquals(0, p.a().read(new byte[0], 0, 0));
        assertEquals(0, p.a().write(none));
        p.close();
        assertThrows(ClosedException.class, () -> p.a().read(ByteBuffer.allocate(0)));
        assertThrows(ClosedException.class, () -> p.a().read(none));
        assertThrows(ClosedException.class, () -> p.a().read(new byte[0], 0, 0));
        assertThrows(ClosedException.class, () -> p.a().write(none));
    }

    /** One buffer twice in an array, and one that is read-only. */
    @Test
    void aBufferTwice() throws Exception {
        try (Pair p = Pair.open()) {
            ByteBuffer b = ByteBuffer.wrap(pattern(10)).asReadOnlyBuffer();
            assertEquals(20, p.a().write(new ByteBuffer[] {b, b}));
            assertEquals(0, b.remaining());
            byte[] got = new byte[20];
            readFully(p.b(), got);
            assertEquals(got[3], got[13]);
        }
    }
}
