// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * Accesses an int off-heap: a field of a struct of gmp.h by the struct's address, or a word by its own address. Each method has the name of
 * its access mode in {@link java.lang.invoke.VarHandle}. {@link Access} chooses the implementation of all fields. Each field is a static
 * final constant, so the compilers call the implementation directly.
 */
public sealed interface IntField permits RawInt, HandleInt {
    int get(long struct);

    void set(long struct, int v);

    int getOpaque(long struct);

    void setOpaque(long struct, int v);

    int getAcquire(long struct);

    void setRelease(long struct, int v);

    int getVolatile(long struct);

    void setVolatile(long struct, int v);

    boolean compareAndSet(long struct, int expected, int v);

    boolean weakCompareAndSetRelease(long struct, int expected, int v);

    int getAndAdd(long struct, int v);

    int getAndSet(long struct, int v);

    int getAndBitwiseOr(long struct, int v);

    int getAndBitwiseAnd(long struct, int v);
}
