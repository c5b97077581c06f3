// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.AddressSpace;
import org.jspecify.annotations.Nullable;

/**
 * Accesses an int off-heap by a {@code VarHandle} over one unbounded segment. It is the reference for {@link RawInt}, and it checks
 * addresses with {@code gmp.checkptr}. All fields share the layout's own handle, and this class adds the offset. Rejected: a handle for
 * each field. It would be combined from other handles, and the JVM would generate classes for each field and access mode.
 *
 * @param offset bytes from the struct's address to the field; 0 if callers pass the address of the int itself instead of a struct's
 * @param arena the arena of the field's structs; null if callers pass the address of the int itself
 */
record HandleInt(long offset, Mem.@Nullable Arena arena) implements IntField {
    /** The arguments of this handle are {@link AddressSpace#ALL} and an address that is a multiple of the int's size. */
    private static final VarHandle AT = ValueLayout.JAVA_INT.varHandle().withInvokeExactBehavior();

    private long at(long struct) {
        return Mem.checked(struct, arena, Integer.BYTES) + offset;
    }

    @Override
    public int get(long struct) {
        return (int) AT.get(AddressSpace.ALL, at(struct));
    }

    @Override
    public void set(long struct, int v) {
        AT.set(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public int getOpaque(long struct) {
        return (int) AT.getOpaque(AddressSpace.ALL, at(struct));
    }

    @Override
    public void setOpaque(long struct, int v) {
        AT.setOpaque(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public int getAcquire(long struct) {
        return (int) AT.getAcquire(AddressSpace.ALL, at(struct));
    }

    @Override
    public void setRelease(long struct, int v) {
        AT.setRelease(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public int getVolatile(long struct) {
        return (int) AT.getVolatile(AddressSpace.ALL, at(struct));
    }

    @Override
    public void setVolatile(long struct, int v) {
        AT.setVolatile(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public boolean compareAndSet(long struct, int expected, int v) {
        return AT.compareAndSet(AddressSpace.ALL, at(struct), expected, v);
    }

    @Override
    public boolean weakCompareAndSetRelease(long struct, int expected, int v) {
        return AT.weakCompareAndSetRelease(AddressSpace.ALL, at(struct), expected, v);
    }

    @Override
    public int getAndAdd(long struct, int v) {
        return (int) AT.getAndAdd(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public int getAndSet(long struct, int v) {
        return (int) AT.getAndSet(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public int getAndBitwiseOr(long struct, int v) {
        return (int) AT.getAndBitwiseOr(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public int getAndBitwiseAnd(long struct, int v) {
        return (int) AT.getAndBitwiseAnd(AddressSpace.ALL, at(struct), v);
    }
}
