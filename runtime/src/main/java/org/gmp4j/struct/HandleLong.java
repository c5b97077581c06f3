// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.AddressSpace;
import org.jspecify.annotations.Nullable;

/**
 * Accesses a long off-heap by a {@code VarHandle} over one unbounded segment. It is the reference for {@link RawLong}, and it checks
 * addresses with {@code gmp.checkptr}. All fields share the layout's own handle, and this class adds the offset. Rejected: a handle for
 * each field. It would be combined from other handles, and the JVM would generate classes for each field and access mode.
 *
 * @param offset bytes from the struct's address to the field; 0 if callers pass the address of the long itself instead of a struct's
 * @param arena the arena of the field's structs; null if callers pass the address of the long itself
 */
record HandleLong(long offset, Mem.@Nullable Arena arena) implements LongField {
    /** The arguments of this handle are {@link AddressSpace#ALL} and an address that is a multiple of the long's size. */
    private static final VarHandle AT = ValueLayout.JAVA_LONG.varHandle().withInvokeExactBehavior();

    private long at(long struct) {
        return Mem.checked(struct, arena, Long.BYTES) + offset;
    }

    @Override
    public long get(long struct) {
        return (long) AT.get(AddressSpace.ALL, at(struct));
    }

    @Override
    public void set(long struct, long v) {
        AT.set(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public long getOpaque(long struct) {
        return (long) AT.getOpaque(AddressSpace.ALL, at(struct));
    }

    @Override
    public void setOpaque(long struct, long v) {
        AT.setOpaque(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public long getAcquire(long struct) {
        return (long) AT.getAcquire(AddressSpace.ALL, at(struct));
    }

    @Override
    public void setRelease(long struct, long v) {
        AT.setRelease(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public long getVolatile(long struct) {
        return (long) AT.getVolatile(AddressSpace.ALL, at(struct));
    }

    @Override
    public void setVolatile(long struct, long v) {
        AT.setVolatile(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public boolean compareAndSet(long struct, long expected, long v) {
        return AT.compareAndSet(AddressSpace.ALL, at(struct), expected, v);
    }

    @Override
    public long getAndAdd(long struct, long v) {
        return (long) AT.getAndAdd(AddressSpace.ALL, at(struct), v);
    }

    @Override
    public long getAndSet(long struct, long v) {
        return (long) AT.getAndSet(AddressSpace.ALL, at(struct), v);
    }
}
