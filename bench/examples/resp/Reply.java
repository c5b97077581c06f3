// SPDX-License-Identifier: Apache-2.0
package resp;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The answers to requests that came together, in one write. */
final class Reply {
    private static final int FIRST_BUFFER = 4 << 10;
    private static final int MOST_DIGITS = 20;
    private static final byte[] NONE = line("$-1");

    private byte[] out = new byte[FIRST_BUFFER];
    private int filled;
    private final Sink sink;

    /** Where answers go. */
    @FunctionalInterface
    interface Sink {
        /** Takes all; the array is the caller's again when this returns. */
        void write(byte[] from, int offset, int length) throws IOException;
    }

    Reply(Sink sink) {
        this.sink = sink;
    }

    /** A line of the protocol with its end. */
    static byte[] line(String text) {
        return (text + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    void error(String text) throws IOException {
        put(line("-ERR " + text.replaceAll("[\r\n]", " ")));
    }

    void number(long v) throws IOException {
        prefix(':', v);
    }

    /** So many answers follow that are one. */
    void array(int n) throws IOException {
        prefix('*', n);
    }

    /** Bytes; null for none. */
    void bulk(byte[] b) throws IOException {
        if (b == null) {
            put(NONE);
        } else {
            bulk(b, 0, b.length);
        }
    }

    void bulk(byte[] b, int from, int to) throws IOException {
        prefix('$', to - from);
        put(b, from, to);
        room(2);
        end();
    }

    void put(byte[] b) throws IOException {
        put(b, 0, b.length);
    }

    private void put(byte[] b, int from, int to) throws IOException {
        int length = to - from;
        room(length);
        if (length > out.length) {
            sink.write(b, from, length);
            return;
        }
        System.arraycopy(b, from, out, filled, length);
        filled += length;
    }

    private void prefix(char kind, long v) throws IOException {
        room(MOST_DIGITS + 3);
        out[filled++] = (byte) kind;
        if (v < 0) {
            byte[] text = Numbers.text(v);
            System.arraycopy(text, 0, out, filled, text.length);
            filled += text.length;
        } else {
            int digits = 1;
            for (long r = v / 10; r > 0; r /= 10) {
                digits++;
            }
            long r = v;
            for (int i = filled + digits - 1; i >= filled; i--) {
                out[i] = (byte) ('0' + r % 10);
                r /= 10;
            }
            filled += digits;
        }
        end();
    }

    private void end() {
        out[filled++] = '\r';
        out[filled++] = '\n';
    }

    /** Has room for so many bytes, or for as many as it ever has. */
    private void room(int bytes) throws IOException {
        if (filled + bytes > out.length && filled + bytes <= Request.MOST_BYTES) {
            out = Arrays.copyOf(out, Math.max(2 * out.length, filled + bytes));
        } else if (filled + bytes > out.length) {
            flush();
        }
    }

    void flush() throws IOException {
        if (filled > 0) {
            int bytes = filled;
            filled = 0;
            sink.write(out, 0, bytes);
        }
    }
}
