// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A message of protocol buffers that is encoded field by field. Source: protobuf.dev/programming-guides/encoding. */
public final class Proto {
    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int BYTES = 2;
    private static final int WIRE_BITS = 3;
    private static final int MOST_VARINT_BYTES = 10;

    private byte[] b = new byte[256];
    private int n;

    /** Removes all fields. */
    Proto clear() {
        n = 0;
        return this;
    }

    private void room(int bytes) {
        if (b.length - n < bytes) {
            b = Arrays.copyOf(b, Math.max(2 * b.length, n + bytes));
        }
    }

    /** Adds a number without a field, as one of the packed numbers of a field. */
    public Proto varint(long v) {
        room(MOST_VARINT_BYTES);
        while ((v & ~0x7FL) != 0) {
            b[n++] = (byte) (v | 0x80);
            v >>>= 7;
        }
        b[n++] = (byte) v;
        return this;
    }

    /** Adds a number. */
    public Proto number(int field, long v) {
        return varint((long) field << WIRE_BITS | VARINT).varint(v);
    }

    Proto fixed(int field, long v) {
        varint((long) field << WIRE_BITS | FIXED64);
        room(Long.BYTES);
        for (int i = 0; i < Long.BYTES; i++) {
            b[n++] = (byte) (v >>> i * Byte.SIZE);
        }
        return this;
    }

    /** Adds a text in UTF-8. */
    public Proto text(int field, String s) {
        byte[] utf8 = s.getBytes(StandardCharsets.UTF_8);
        return bytes(field, utf8, utf8.length);
    }

    /** Adds a message within this one, or the packed numbers of a field. */
    public Proto message(int field, Proto m) {
        return bytes(field, m.b, m.n);
    }

    private Proto bytes(int field, byte[] from, int length) {
        varint((long) field << WIRE_BITS | BYTES).varint(length);
        room(length);
        System.arraycopy(from, 0, b, n, length);
        n += length;
        return this;
    }

    /** Writes the fields that were added. */
    public void writeTo(OutputStream out) throws IOException {
        out.write(b, 0, n);
    }
}
