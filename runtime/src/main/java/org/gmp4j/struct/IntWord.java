// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.Memory;

/**
 * An int anywhere off-heap, by its address, in the access modes of {@link VarHandle}.
 *
 * <p>All words share the layout's own handle, over one unbounded segment. With combinators around it the JVM would generate classes
 * for each access mode, and the compilers would have to work through them at each call.
 */
public final class IntWord {
    /** Coordinates: {@link Memory#ALL} and an address that is a multiple of the word's size. */
    static final VarHandle AT = ValueLayout.JAVA_INT.varHandle().withInvokeExactBehavior();

    IntWord() {
    }

    private static long at(long address) {
        return Mem.word(address, Mem.INTS);
    }

    public int get(long address) {
        return (int) AT.get(Memory.ALL, at(address));
    }

    public void set(long address, int v) {
        AT.set(Memory.ALL, at(address), v);
    }

    public int getOpaque(long address) {
        return (int) AT.getOpaque(Memory.ALL, at(address));
    }

    public void setOpaque(long address, int v) {
        AT.setOpaque(Memory.ALL, at(address), v);
    }

    public int getAcquire(long address) {
        return (int) AT.getAcquire(Memory.ALL, at(address));
    }

    public int getVolatile(long address) {
        return (int) AT.getVolatile(Memory.ALL, at(address));
    }

    public void setVolatile(long address, int v) {
        AT.setVolatile(Memory.ALL, at(address), v);
    }

    public boolean compareAndSet(long address, int expected, int v) {
        return AT.compareAndSet(Memory.ALL, at(address), expected, v);
    }

    public int getAndAdd(long address, int v) {
        return (int) AT.getAndAdd(Memory.ALL, at(address), v);
    }

    public int getAndSet(long address, int v) {
        return (int) AT.getAndSet(Memory.ALL, at(address), v);
    }

    public int getAndBitwiseOr(long address, int v) {
        return (int) AT.getAndBitwiseOr(Memory.ALL, at(address), v);
    }

    public int getAndBitwiseAnd(long address, int v) {
        return (int) AT.getAndBitwiseAnd(Memory.ALL, at(address), v);
    }
}
