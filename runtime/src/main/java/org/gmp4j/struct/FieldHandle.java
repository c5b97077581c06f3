// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Handles on fields on the heap, for a {@code static final} of the class that has the field; for fields off the heap see {@link Mem}. */
public final class FieldHandle {
    private FieldHandle() {
    }

    /**
     * The handle on an instance field. It takes arguments of the exact types alone: a conversion would cost time, and is a mistake.
     *
     * @param lookup the caller's, which may have access to private fields
     * @param owner the class that declares the field
     * @param name of the field, which is there
     * @param type of the field
     */
    public static VarHandle of(MethodHandles.Lookup lookup, Class<?> owner, String name, Class<?> type) {
        try {
            return lookup.findVarHandle(owner, name, type).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
