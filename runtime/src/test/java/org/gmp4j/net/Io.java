// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** What the tests of sockets share. */
final class Io {
    static final String LOOPBACK = "127.0.0.1:0";

    /** What may fail as sockets do. */
    @FunctionalInterface
    interface Body {
        void run() throws IOException;
    }

    private Io() {
    }

    static Runnable io(Body body) {
        return () -> {
            try {
                body.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    /** What {@code body} throws; null for nothing. */
    static IOException thrown(Body body) {
        try {
            body.run();
            return null;
        } catch (IOException e) {
            return e;
        }
    }

    static String text(TcpListener l) {
        return Addresses.text(l.addr());
    }

    static void readFully(Conn c, byte[] to) throws IOException {
        for (int n = 0; n < to.length;) {
            int got = c.read(to, n, to.length - n);
            if (got < 0) {
                throw new IOException("the end after " + n + " of " + to.length);
            }
            n += got;
        }
    }

    /** Sends back what it receives, to the end. */
    static void echo(Conn c) throws IOException {
        ByteBuffer b = ByteBuffer.allocateDirect(4096);
        while (c.read(b.clear()) >= 0) {
            int _ = c.write(b.flip());
        }
    }

    /** Two ends of a connection. */
    record Pair(TcpConn a, TcpConn b) implements AutoCloseable {
        static Pair open() throws IOException {
            try (TcpListener l = TcpListener.listen(LOOPBACK)) {
                TcpConn a = TcpConn.dial(text(l));
                return new Pair(a, l.accept());
            }
        }

        @Override
        public void close() {
            a.close();
            b.close();
        }
    }

    /** Bytes that are found out when one of them is missing or in a wrong place. */
    static byte[] pattern(int n) {
        byte[] b = new byte[n];
        for (int i = 0; i < n; i++) {
            b[i] = (byte) (i * 31 + (i >> 8) * 7 + (i >> 16));
        }
        return b;
    }

    static MemorySegment heap(byte[] b, int from, int n) {
        return MemorySegment.ofArray(b).asSlice(from, n);
    }
}
