// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.Memory;

/**
 * A long anywhere off-heap, by its address, in the access modes of {@link VarHandle}.
 *
 * <p>All words share the layout's own handle, over one unbounded segment. With combinators around it the JVM would generate classes
 * for each access mode, and the compilers would have to work through them at each call.
 */
public final class LongWord {
    /** Coordinates: {@link Memory#ALL} and an address that is a multiple of the word's size. */
    static final VarHandle AT = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

    LongWord() {
    }

    private static long at(long address) {
        return Mem.word(address, Mem.LONGS);
    }

    public long get(long address) {
        return (long) AT.get(Memory.ALL, at(address));
    }

    public void set(long address, long v) {
        AT.set(Memory.ALL, at(address), v);
    }
}
