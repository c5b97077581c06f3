// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import jdk.internal.misc.Unsafe;
import org.gmp4j.stack.JdkThreads;

/** The shared code of the accessors of fields on the Java heap: {@link HeapInt}, {@link HeapLong}, {@link HeapRef}. */
final class Heap {
    /** Null where the JDK is not open to the runtime. This is a constant, so that compilers use the intrinsics of its methods. */
    @SuppressWarnings("NullAway") // Where it is null, the accessors use handles.
    static final Unsafe UNSAFE = JdkThreads.openToRuntime("jdk.internal.misc") ? Unsafe.getUnsafe() : null;

    private Heap() {
    }

    static VarHandle handle(MethodHandles.Lookup lookup, Class<?> owner, String name, Class<?> type) {
        try {
            return lookup.findVarHandle(owner, name, type);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
