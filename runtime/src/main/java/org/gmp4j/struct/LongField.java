// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * Accesses a long or an address off-heap: a field of a struct of gmp.h by the struct's address, or a word by its own address. Each method
 * has the name of its access mode in {@link java.lang.invoke.VarHandle}. {@link Access} chooses the implementation of all fields. Each
 * field is a static final constant, so the compilers call the implementation directly.
 */
public sealed interface LongField permits RawLong, HandleLong {
    long get(long struct);

    void set(long struct, long v);

    long getOpaque(long struct);

    void setOpaque(long struct, long v);

    long getAcquire(long struct);

    void setRelease(long struct, long v);

    long getVolatile(long struct);

    void setVolatile(long struct, long v);

    boolean compareAndSet(long struct, long expected, long v);

    long getAndAdd(long struct, long v);

    long getAndSet(long struct, long v);

    /** Adds {@code n} without an atomic instruction, for a field that has one writer at a time. */
    default void addOpaque(long struct, long n) {
        setOpaque(struct, getOpaque(struct) + n);
    }
}
