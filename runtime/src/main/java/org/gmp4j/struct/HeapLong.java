// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

/**
 * Accesses a long field of objects on the Java heap: see {@link HeapInt}.
 *
 * @param offset the offset of the field, for raw access
 * @param handle the handle; null for raw access
 * @param <T> the class that declares the field
 */
public record HeapLong<T>(long offset, @Nullable VarHandle handle) {
    /**
     * Returns the accessor of a field that {@code owner} declares.
     *
     * @param lookup the owner's lookup
     */
    public static <T> HeapLong<T> of(MethodHandles.Lookup lookup, Class<T> owner, String name) {
        return Access.IS_RAW ? raw(owner, name) : byHandle(lookup, owner, name);
    }

    static <T> HeapLong<T> raw(Class<T> owner, String name) {
        return new HeapLong<>(Heap.UNSAFE.objectFieldOffset(owner, name), null);
    }

    static <T> HeapLong<T> byHandle(MethodHandles.Lookup lookup, Class<T> owner, String name) {
        return new HeapLong<>(0, Heap.handle(lookup, owner, name, long.class));
    }

    public boolean compareAndSet(T o, long expected, long v) {
        return handle == null ? Heap.UNSAFE.compareAndSetLong(o, offset, expected, v) : (boolean) handle.compareAndSet(o, expected, v);
    }

    public long getAndAdd(T o, long v) {
        return handle == null ? Heap.UNSAFE.getAndAddLong(o, offset, v) : (long) handle.getAndAdd(o, v);
    }

    public long getAndSet(T o, long v) {
        return handle == null ? Heap.UNSAFE.getAndSetLong(o, offset, v) : (long) handle.getAndSet(o, v);
    }

    public long getVolatile(T o) {
        return handle == null ? Heap.UNSAFE.getLongVolatile(o, offset) : (long) handle.getVolatile(o);
    }

    public void setRelease(T o, long v) {
        if (handle == null) {
            Heap.UNSAFE.putLongRelease(o, offset, v);
        } else {
            handle.setRelease(o, v);
        }
    }
}
