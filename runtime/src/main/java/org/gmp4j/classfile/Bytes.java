// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.classfile;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;

/** A growing array of bytes for writing a class file. Numbers are big-endian. They are appended, or replace earlier bytes. */
public final class Bytes {
    private byte[] b;
    private int size;

    public Bytes(int expected) {
        b = new byte[expected];
    }

    public static int u2(byte[] b, int at) {
        return (b[at] & 0xFF) << 8 | b[at + 1] & 0xFF;
    }

    public static int i4(byte[] b, int at) {
        return u2(b, at) << 16 | u2(b, at + 2);
    }

    public int size() {
        return size;
    }

    public void u1(int v) {
        ensure(1);
        b[size++] = (byte) v;
    }

    public void u2(int v) {
        ensure(2);
        b[size++] = (byte) (v >> 8);
        b[size++] = (byte) v;
    }

    public void i4(int v) {
        u2(v >> 16);
        u2(v);
    }

    public void u2At(int at, int v) {
        b[at] = (byte) (v >> 8);
        b[at + 1] = (byte) v;
    }

    public void i4At(int at, int v) {
        u2At(at, v >> 16);
        u2At(at + 2, v);
    }

    /** Appends {@code from[start]} to {@code from[end - 1]}. */
    public void copy(byte[] from, int start, int end) {
        Objects.checkFromToIndex(start, end, from.length);
        ensure(end - start);
        System.arraycopy(from, start, b, size, end - start);
        size += end - start;
    }

    public void append(Bytes other) {
        copy(other.b, 0, other.size);
    }

    /** Appends the length and the bytes of a {@code Utf8} constant. {@code s} has only ASCII characters. */
    public void utf8(String s) {
        byte[] ascii = s.getBytes(StandardCharsets.US_ASCII);
        u2(ascii.length);
        copy(ascii, 0, ascii.length);
    }

    public byte[] toArray() {
        return Arrays.copyOf(b, size);
    }

    private void ensure(int more) {
        if (size + more > b.length) {
            b = Arrays.copyOf(b, Math.max(size + more, b.length * 2));
        }
    }
}
