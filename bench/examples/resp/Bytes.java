// SPDX-License-Identifier: Apache-2.0
package resp;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Some bytes of an array, compared by content: the key of a map. One that is kept owns its array; one that is only used to
 * look something up points into a buffer and is set anew for each look-up, so that a look-up allocates nothing.
 */
final class Bytes implements Comparable<Bytes> {
    private byte[] array = {};
    private int from;
    private int to;
    private int hash;

    static Bytes of(String text) {
        byte[] b = text.getBytes(StandardCharsets.ISO_8859_1);
        return new Bytes().set(b, 0, b.length);
    }

    /** Points to other bytes. Only while this is not a key of a map. */
    Bytes set(byte[] bytes, int begin, int end) {
        array = bytes;
        from = begin;
        to = end;
        int h = 1;
        for (int i = begin; i < end; i++) {
            h = 31 * h + bytes[i];
        }
        hash = h;
        return this;
    }

    /** The same bytes in an array of their own. */
    Bytes copy() {
        Bytes b = new Bytes();
        b.array = Arrays.copyOfRange(array, from, to);
        b.to = to - from;
        b.hash = hash;
        return b;
    }

    /** The bytes of a copy. */
    byte[] array() {
        return array;
    }

    int length() {
        return to - from;
    }

    @Override
    public int hashCode() {
        return hash;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Bytes b && hash == b.hash && Arrays.equals(array, from, to, b.array, b.from, b.to);
    }

    /** So that a map stays fast when somebody sends many keys with the same hash. */
    @Override
    public int compareTo(Bytes b) {
        return Arrays.compare(array, from, to, b.array, b.from, b.to);
    }

    @Override
    public String toString() {
        return new String(array, from, to - from, StandardCharsets.ISO_8859_1);
    }
}
