// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.Memory;

/**
 * An int field of a struct of gmp.h, at any address of such a struct. The access modes are {@link
 * java.lang.invoke.VarHandle}'s. All fields share the handle of {@link IntWord}, so what
 * the JVM links it links once and not for each field: {@code proc.Warm} has it done before anything can fail for want of memory.
 * To the compiler the components of a record in a constant are constants.
 *
 * @param offset where it stands in its struct
 * @param arena where its structs come from, to be asked with {@code gmp.checkptr}
 */
public record IntField(long offset, Mem.Arena arena) {
    private long at(long struct) {
        return Mem.at(struct, offset, arena);
    }

    public int get(long struct) {
        return (int) IntWord.AT.get(Memory.ALL, at(struct));
    }

    public void set(long struct, int v) {
        IntWord.AT.set(Memory.ALL, at(struct), v);
    }

    public int getOpaque(long struct) {
        return (int) IntWord.AT.getOpaque(Memory.ALL, at(struct));
    }

    public void setOpaque(long struct, int v) {
        IntWord.AT.setOpaque(Memory.ALL, at(struct), v);
    }

    public int getAcquire(long struct) {
        return (int) IntWord.AT.getAcquire(Memory.ALL, at(struct));
    }

    public void setRelease(long struct, int v) {
        IntWord.AT.setRelease(Memory.ALL, at(struct), v);
    }

    public int getVolatile(long struct) {
        return (int) IntWord.AT.getVolatile(Memory.ALL, at(struct));
    }

    public void setVolatile(long struct, int v) {
        IntWord.AT.setVolatile(Memory.ALL, at(struct), v);
    }

    public boolean compareAndSet(long struct, int expected, int v) {
        return IntWord.AT.compareAndSet(Memory.ALL, at(struct), expected, v);
    }

    public boolean weakCompareAndSetRelease(long struct, int expected, int v) {
        return IntWord.AT.weakCompareAndSetRelease(Memory.ALL, at(struct), expected, v);
    }

    public int getAndAdd(long struct, int v) {
        return (int) IntWord.AT.getAndAdd(Memory.ALL, at(struct), v);
    }

    public int getAndSet(long struct, int v) {
        return (int) IntWord.AT.getAndSet(Memory.ALL, at(struct), v);
    }
}
