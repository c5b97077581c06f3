// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import jdk.internal.misc.Unsafe;

/**
 * Accesses an off-heap long by the intrinsics in which a {@code VarHandle} of a segment ends. The interpreter and both compilers implement
 * them, whereas an access by the handle needs some 25 inlined methods. No address is checked: see {@link Access}.
 *
 * @param offset bytes from the struct's address to the field; 0 if callers pass the address of the long itself instead of a struct's
 */
record RawLong(long offset) implements LongField {
    private static final Unsafe U = Unsafe.getUnsafe();

    @Override
    public long get(long struct) {
        return U.getLong(null, struct + offset);
    }

    @Override
    public void set(long struct, long v) {
        U.putLong(null, struct + offset, v);
    }

    @Override
    public long getOpaque(long struct) {
        return U.getLongOpaque(null, struct + offset);
    }

    @Override
    public void setOpaque(long struct, long v) {
        U.putLongOpaque(null, struct + offset, v);
    }

    @Override
    public long getAcquire(long struct) {
        return U.getLongAcquire(null, struct + offset);
    }

    @Override
    public void setRelease(long struct, long v) {
        U.putLongRelease(null, struct + offset, v);
    }

    @Override
    public long getVolatile(long struct) {
        return U.getLongVolatile(null, struct + offset);
    }

    @Override
    public void setVolatile(long struct, long v) {
        U.putLongVolatile(null, struct + offset, v);
    }

    @Override
    public boolean compareAndSet(long struct, long expected, long v) {
        return U.compareAndSetLong(null, struct + offset, expected, v);
    }

    @Override
    public long getAndAdd(long struct, long v) {
        return U.getAndAddLong(null, struct + offset, v);
    }

    @Override
    public long getAndSet(long struct, long v) {
        return U.getAndSetLong(null, struct + offset, v);
    }
}
