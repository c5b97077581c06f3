// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import jdk.internal.misc.Unsafe;

/**
 * Accesses an off-heap int by the intrinsics in which a {@code VarHandle} of a segment ends. The interpreter and both compilers implement
 * them, whereas an access by the handle needs some 25 inlined methods. No address is checked: see {@link Access}.
 *
 * @param offset bytes from the struct's address to the field; 0 if callers pass the address of the int itself instead of a struct's
 */
record RawInt(long offset) implements IntField {
    private static final Unsafe U = Unsafe.getUnsafe();

    @Override
    public int get(long struct) {
        return U.getInt(null, struct + offset);
    }

    @Override
    public void set(long struct, int v) {
        U.putInt(null, struct + offset, v);
    }

    @Override
    public int getOpaque(long struct) {
        return U.getIntOpaque(null, struct + offset);
    }

    @Override
    public void setOpaque(long struct, int v) {
        U.putIntOpaque(null, struct + offset, v);
    }

    @Override
    public int getAcquire(long struct) {
        return U.getIntAcquire(null, struct + offset);
    }

    @Override
    public void setRelease(long struct, int v) {
        U.putIntRelease(null, struct + offset, v);
    }

    @Override
    public int getVolatile(long struct) {
        return U.getIntVolatile(null, struct + offset);
    }

    @Override
    public void setVolatile(long struct, int v) {
        U.putIntVolatile(null, struct + offset, v);
    }

    @Override
    public boolean compareAndSet(long struct, int expected, int v) {
        return U.compareAndSetInt(null, struct + offset, expected, v);
    }

    @Override
    public boolean weakCompareAndSetRelease(long struct, int expected, int v) {
        return U.weakCompareAndSetIntRelease(null, struct + offset, expected, v);
    }

    @Override
    public int getAndAdd(long struct, int v) {
        return U.getAndAddInt(null, struct + offset, v);
    }

    @Override
    public int getAndSet(long struct, int v) {
        return U.getAndSetInt(null, struct + offset, v);
    }

    @Override
    public int getAndBitwiseOr(long struct, int v) {
        return U.getAndBitwiseOrInt(null, struct + offset, v);
    }

    @Override
    public int getAndBitwiseAnd(long struct, int v) {
        return U.getAndBitwiseAndInt(null, struct + offset, v);
    }
}
