package org.gmp4j.struct;

/**
 * An int field of a struct of gmp.h, at any address of such a struct. The access modes are {@link
 * java.lang.invoke.VarHandle}'s. All fields share one handle, so what the JVM links, and once more makes for a handle that
 * was called {@code CUSTOMIZED_AFTER} times, it does once and not for each field: {@code proc.Warm} has it done before
 * anything can fail for want of memory. To the compiler the components of a record in a constant are constants.
 *
 * @param offset where it stands in its struct
 * @param arena where its structs come from, to be asked with {@code gmp.checkptr}
 */
public record IntField(long offset, Mem.Arena arena) {
    private long at(long struct) {
        return Mem.at(struct, offset, arena);
    }

    public int get(long struct) {
        return (int) Mem.INT_AT.get(at(struct));
    }

    public void set(long struct, int v) {
        Mem.INT_AT.set(at(struct), v);
    }

    public int getOpaque(long struct) {
        return (int) Mem.INT_AT.getOpaque(at(struct));
    }

    public void setOpaque(long struct, int v) {
        Mem.INT_AT.setOpaque(at(struct), v);
    }

    public int getAcquire(long struct) {
        return (int) Mem.INT_AT.getAcquire(at(struct));
    }

    public void setRelease(long struct, int v) {
        Mem.INT_AT.setRelease(at(struct), v);
    }

    public int getVolatile(long struct) {
        return (int) Mem.INT_AT.getVolatile(at(struct));
    }

    public void setVolatile(long struct, int v) {
        Mem.INT_AT.setVolatile(at(struct), v);
    }

    public boolean compareAndSet(long struct, int expected, int v) {
        return Mem.INT_AT.compareAndSet(at(struct), expected, v);
    }

    public boolean weakCompareAndSetRelease(long struct, int expected, int v) {
        return Mem.INT_AT.weakCompareAndSetRelease(at(struct), expected, v);
    }

    public int getAndAdd(long struct, int v) {
        return (int) Mem.INT_AT.getAndAdd(at(struct), v);
    }

    public int getAndSet(long struct, int v) {
        return (int) Mem.INT_AT.getAndSet(at(struct), v);
    }
}
