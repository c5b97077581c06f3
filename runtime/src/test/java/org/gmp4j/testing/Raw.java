// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.ValueLayout;

import org.gmp4j.ffi.Memory;

/** Fields of off-heap structs by name, for planting faults. */
public final class Raw {
    private Raw() {
    }

    private static long at(GroupLayout layout, String field, long struct) {
        return struct + layout.byteOffset(PathElement.groupElement(field));
    }

    /** Writes an int field. */
    public static void setInt(GroupLayout layout, String field, long struct, int v) {
        Memory.ALL.set(ValueLayout.JAVA_INT, at(layout, field, struct), v);
    }

    /** Writes a long field. */
    public static void setLong(GroupLayout layout, String field, long struct, long v) {
        Memory.ALL.set(ValueLayout.JAVA_LONG, at(layout, field, struct), v);
    }

    /** Reads an int field. */
    public static int getInt(GroupLayout layout, String field, long struct) {
        return Memory.ALL.get(ValueLayout.JAVA_INT, at(layout, field, struct));
    }

    /** Reads a long field. */
    public static long getLong(GroupLayout layout, String field, long struct) {
        return Memory.ALL.get(ValueLayout.JAVA_LONG, at(layout, field, struct));
    }

    /** Sets an int field and returns what puts the old value back. */
    public static Runnable plantInt(GroupLayout layout, String field, long struct, int v) {
        int old = getInt(layout, field, struct);
        setInt(layout, field, struct, v);
        return () -> setInt(layout, field, struct, old);
    }

    /** Sets a long field and returns what puts the old value back. */
    public static Runnable plantLong(GroupLayout layout, String field, long struct, long v) {
        long old = getLong(layout, field, struct);
        setLong(layout, field, struct, v);
        return () -> setLong(layout, field, struct, old);
    }
}
