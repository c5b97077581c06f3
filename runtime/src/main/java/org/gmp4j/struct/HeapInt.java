// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

/**
 * Accesses an int field of objects on the Java heap. Each method has the name of its access mode in {@link VarHandle}. For plain accesses
 * the language suffices. The class that declares the field keeps the accessor in a {@code static final}, so the compilers know the offset.
 *
 * <p>{@link Access} chooses one of two implementations, as for fields off-heap. Raw access calls the intrinsic in which a {@code VarHandle}
 * ends, and needs no linking. With a {@code VarHandle} the JVM links each call site and mode at its first use. That allocates, and with a
 * full heap it fails in the middle of a protocol. Raw access does not check {@code o}, which must not be null.
 *
 * @param offset the offset of the field, for raw access
 * @param handle the handle; null for raw access
 * @param <T> the class that declares the field
 */
public record HeapInt<T>(long offset, @Nullable VarHandle handle) {
    /**
     * Returns the accessor of a field that {@code owner} declares.
     *
     * @param lookup the owner's lookup
     */
    public static <T> HeapInt<T> of(MethodHandles.Lookup lookup, Class<T> owner, String name) {
        return Access.IS_RAW ? raw(owner, name) : byHandle(lookup, owner, name);
    }

    static <T> HeapInt<T> raw(Class<T> owner, String name) {
        return new HeapInt<>(Heap.UNSAFE.objectFieldOffset(owner, name), null);
    }

    static <T> HeapInt<T> byHandle(MethodHandles.Lookup lookup, Class<T> owner, String name) {
        return new HeapInt<>(0, Heap.handle(lookup, owner, name, int.class));
    }

    public boolean compareAndSet(T o, int expected, int v) {
        return handle == null ? Heap.UNSAFE.compareAndSetInt(o, offset, expected, v) : (boolean) handle.compareAndSet(o, expected, v);
    }

    public int getAndAdd(T o, int v) {
        return handle == null ? Heap.UNSAFE.getAndAddInt(o, offset, v) : (int) handle.getAndAdd(o, v);
    }

    public int getAndSet(T o, int v) {
        return handle == null ? Heap.UNSAFE.getAndSetInt(o, offset, v) : (int) handle.getAndSet(o, v);
    }

    public int getVolatile(T o) {
        return handle == null ? Heap.UNSAFE.getIntVolatile(o, offset) : (int) handle.getVolatile(o);
    }

    public void setRelease(T o, int v) {
        if (handle == null) {
            Heap.UNSAFE.putIntRelease(o, offset, v);
        } else {
            handle.setRelease(o, v);
        }
    }

    public void setOpaque(T o, int v) {
        if (handle == null) {
            Heap.UNSAFE.putIntOpaque(o, offset, v);
        } else {
            handle.setOpaque(o, v);
        }
    }
}
