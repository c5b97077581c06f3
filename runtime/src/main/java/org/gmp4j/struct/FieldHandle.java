// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Makes handles on fields on the Java heap. The class that declares such a field keeps the handle in a {@code static final}. {@link Struct}
 * makes accessors off-heap.
 */
public final class FieldHandle {
    private FieldHandle() {
    }

    /**
     * Returns the handle on an instance field. It accepts only arguments of the exact types, because a conversion costs time and is a
     * mistake.
     *
     * @param lookup the caller's lookup, which may have access to private fields
     * @param owner the class that declares the field
     * @param name the name of the field
     * @param type the type of the field
     */
    public static VarHandle of(MethodHandles.Lookup lookup, Class<?> owner, String name, Class<?> type) {
        try {
            return lookup.findVarHandle(owner, name, type).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
