// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.lang.foreign.ValueLayout;

import org.gmp4j.ffi.AddressSpace;
import org.gmp4j.struct.Struct;

/** Fields of off-heap structs by name, for planting faults. */
public final class Raw {
    private Raw() {
    }

    private static long at(Struct of, String field, long struct) {
        return struct + of.offset(field);
    }

    /** Writes an int field. */
    public static void setInt(Struct of, String field, long struct, int v) {
        AddressSpace.ALL.set(ValueLayout.JAVA_INT, at(of, field, struct), v);
    }

    /** Writes a long field. */
    public static void setLong(Struct of, String field, long struct, long v) {
        AddressSpace.ALL.set(ValueLayout.JAVA_LONG, at(of, field, struct), v);
    }

    /** Reads an int field. */
    public static int getInt(Struct of, String field, long struct) {
        return AddressSpace.ALL.get(ValueLayout.JAVA_INT, at(of, field, struct));
    }

    /** Reads a long field. */
    public static long getLong(Struct of, String field, long struct) {
        return AddressSpace.ALL.get(ValueLayout.JAVA_LONG, at(of, field, struct));
    }

    /** Sets an int field and returns what puts the old value back. */
    public static Runnable plantInt(Struct of, String field, long struct, int v) {
        int old = getInt(of, field, struct);
        setInt(of, field, struct, v);
        return () -> setInt(of, field, struct, old);
    }

    /** Sets a long field and returns what puts the old value back. */
    public static Runnable plantLong(Struct of, String field, long struct, long v) {
        long old = getLong(of, field, struct);
        setLong(of, field, struct, v);
        return () -> setLong(of, field, struct, old);
    }
}
