// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.Structs;

/**
 * A struct of gmp.h: its fields, and the arena from which {@link Mem#alloc} takes instances. The offsets of fields come from a text that is
 * generated with the layouts, because a start would load some 40 classes of the JDK for the layouts themselves.
 */
public final class Struct {
    public static final Struct G = new Struct(Structs.G);
    public static final Struct M = new Struct(Structs.M);
    public static final Struct P = new Struct(Structs.P);
    public static final Struct SCHEDT = new Struct(Structs.SCHEDT);
    public static final Struct SUDOG = new Struct(Structs.SUDOG);
    public static final Struct GQUEUE = new Struct(Structs.GQUEUE);
    public static final Struct POLLDESC = new Struct(Structs.POLLDESC);
    public static final Struct GMP_EVENT = new Struct(Structs.GMP_EVENT);

    /** Allocates the instances, and checks addresses with {@code gmp.checkptr}. */
    final Mem.Arena arena;
    private final String text;

    private Struct(String text) {
        this.text = text;
        int size = text.indexOf(' ') + 1;
        arena = new Mem.Arena(text.substring(0, size - 1), Long.parseLong(text, size, text.indexOf(' ', size), 10));
    }

    static Struct[] all() {
        return new Struct[] {G, M, P, SCHEDT, SUDOG, GQUEUE, POLLDESC, GMP_EVENT};
    }

    /** Returns the accessor of a field that gmp.h declares as an int. A field of a struct within this one has the names of both. */
    public IntField intField(String field) {
        return Access.intField(offset(field, "int"), arena);
    }

    /** Returns the accessor of a field that gmp.h declares as a long or an address. */
    public LongField longField(String field) {
        return Access.longField(offset(field, "long"), arena);
    }

    /** Returns the accessor of a field that is a ring of {@code n} longs. {@code n} is a power of two. */
    public LongRing ring(String field, int n) {
        return new LongRing(offset(field), n - 1, arena);
    }

    /** Returns the accessor of a field that is a histogram. */
    public Buckets buckets(String field) {
        return new Buckets(offset(field), arena);
    }

    /** Returns the byte offset of a field, for address arithmetic over arrays and for futex words. */
    public long offset(String field) {
        return offset(field, "");
    }

    private long offset(String field, String type) {
        int at = text.indexOf(" " + field + "=");
        if (at < 0) {
            throw new IllegalArgumentException("no field " + field + " in struct " + text);
        }
        int from = at + field.length() + 2;
        int colon = text.indexOf(':', from);
        if (!text.startsWith(type, colon + 1)) {
            throw new IllegalArgumentException(field + " is no " + type + " in struct " + text);
        }
        return Long.parseLong(text, from, colon, 10);
    }

    /** Returns the name of the struct in gmp.h. */
    @Override
    public String toString() {
        return text.substring(0, text.indexOf(' '));
    }
}
