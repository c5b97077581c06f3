// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.jspecify.annotations.Nullable;

/**
 * Accesses a field of objects on the Java heap that holds a reference: see {@link HeapInt}.
 *
 * @param offset the offset of the field, for raw access
 * @param handle the handle; null for raw access
 * @param <T> the class that declares the field
 * @param <V> the type of the field
 */
public record HeapRef<T, V>(long offset, @Nullable VarHandle handle) {
    /**
     * Returns the accessor of a field that {@code owner} declares.
     *
     * @param lookup the owner's lookup
     */
    public static <T, V> HeapRef<T, V> of(MethodHandles.Lookup lookup, Class<T> owner, String name, Class<V> type) {
        return Access.IS_RAW ? raw(owner, name) : byHandle(lookup, owner, name, type);
    }

    static <T, V> HeapRef<T, V> raw(Class<T> owner, String name) {
        return new HeapRef<>(Heap.UNSAFE.objectFieldOffset(owner, name), null);
    }

    static <T, V> HeapRef<T, V> byHandle(MethodHandles.Lookup lookup, Class<T> owner, String name, Class<V> type) {
        return new HeapRef<>(0, Heap.handle(lookup, owner, name, type));
    }

    public boolean compareAndSet(T o, @Nullable V expected, @Nullable V v) {
        return handle == null ? Heap.UNSAFE.compareAndSetReference(o, offset, expected, v)
                : (boolean) handle.compareAndSet(o, expected, v);
    }

    @SuppressWarnings("unchecked")
    public @Nullable V getAndSet(T o, @Nullable V v) {
        return handle == null ? (V) Heap.UNSAFE.getAndSetReference(o, offset, v) : (V) handle.getAndSet(o, v);
    }
}
