package org.gmp4j.struct;

/**
 * A field of a struct of gmp.h that is a long or an address, at any address of such a struct. The access modes are {@link
 * java.lang.invoke.VarHandle}'s. All fields share one handle, so what the JVM links, and once more makes for a handle that
 * was called {@code CUSTOMIZED_AFTER} times, it does once and not for each field: {@code proc.Warm} has it done before
 * anything can fail for want of memory. To the compiler the components of a record in a constant are constants.
 *
 * @param offset where it stands in its struct
 * @param arena where its structs come from, to be asked with {@code gmp.checkptr}
 */
public record LongField(long offset, Mem.Arena arena) {
    private long at(long struct) {
        return Mem.at(struct, offset, arena);
    }

    public long get(long struct) {
        return (long) Mem.LONG_AT.get(at(struct));
    }

    public void set(long struct, long v) {
        Mem.LONG_AT.set(at(struct), v);
    }

    public long getOpaque(long struct) {
        return (long) Mem.LONG_AT.getOpaque(at(struct));
    }

    public void setOpaque(long struct, long v) {
        Mem.LONG_AT.setOpaque(at(struct), v);
    }

    public long getAcquire(long struct) {
        return (long) Mem.LONG_AT.getAcquire(at(struct));
    }

    public void setRelease(long struct, long v) {
        Mem.LONG_AT.setRelease(at(struct), v);
    }

    public long getVolatile(long struct) {
        return (long) Mem.LONG_AT.getVolatile(at(struct));
    }

    public void setVolatile(long struct, long v) {
        Mem.LONG_AT.setVolatile(at(struct), v);
    }

    public boolean compareAndSet(long struct, long expected, long v) {
        return Mem.LONG_AT.compareAndSet(at(struct), expected, v);
    }

    public long getAndAdd(long struct, long v) {
        return (long) Mem.LONG_AT.getAndAdd(at(struct), v);
    }

    public long getAndSet(long struct, long v) {
        return (long) Mem.LONG_AT.getAndSet(at(struct), v);
    }
}
