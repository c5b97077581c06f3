// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.Memory;

/**
 * A field of a struct of gmp.h that is a long or an address, at any address of such a struct. The access modes are {@link
 * java.lang.invoke.VarHandle}'s. All fields share the handle of {@link LongWord}, so what
 * the JVM links it links once and not for each field: {@code proc.Warm} has it done before anything can fail for want of memory.
 * To the compiler the components of a record in a constant are constants.
 *
 * @param offset where it stands in its struct
 * @param arena where its structs come from, to be asked with {@code gmp.checkptr}
 */
public record LongField(long offset, Mem.Arena arena) {
    private long at(long struct) {
        return Mem.at(struct, offset, arena);
    }

    public long get(long struct) {
        return (long) LongWord.AT.get(Memory.ALL, at(struct));
    }

    public void set(long struct, long v) {
        LongWord.AT.set(Memory.ALL, at(struct), v);
    }

    public long getOpaque(long struct) {
        return (long) LongWord.AT.getOpaque(Memory.ALL, at(struct));
    }

    public void setOpaque(long struct, long v) {
        LongWord.AT.setOpaque(Memory.ALL, at(struct), v);
    }

    /** Of one writer: no atomic instruction. */
    public void addOpaque(long struct, long n) {
        setOpaque(struct, getOpaque(struct) + n);
    }

    public long getAcquire(long struct) {
        return (long) LongWord.AT.getAcquire(Memory.ALL, at(struct));
    }

    public void setRelease(long struct, long v) {
        LongWord.AT.setRelease(Memory.ALL, at(struct), v);
    }

    public long getVolatile(long struct) {
        return (long) LongWord.AT.getVolatile(Memory.ALL, at(struct));
    }

    public void setVolatile(long struct, long v) {
        LongWord.AT.setVolatile(Memory.ALL, at(struct), v);
    }

    public boolean compareAndSet(long struct, long expected, long v) {
        return LongWord.AT.compareAndSet(Memory.ALL, at(struct), expected, v);
    }

    public long getAndAdd(long struct, long v) {
        return (long) LongWord.AT.getAndAdd(Memory.ALL, at(struct), v);
    }

    public long getAndSet(long struct, long v) {
        return (long) LongWord.AT.getAndSet(Memory.ALL, at(struct), v);
    }
}
