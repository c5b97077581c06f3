// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Links libc functions anew with the linker options that generated code lacks. Reading {@code errno} by a second
 * downcall would not be safe (the JVM may have made system calls in between), so it is captured by the call itself.
 */
final class Link {
    private static final Linker LINKER = Linker.nativeLinker();

    private Link() {
    }

    /** A handle that takes the segment of {@link #state} before the function's own arguments. */
    @SuppressWarnings("restricted")
    static MethodHandle capturing(MemorySegment function, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(function, descriptor, Linker.Option.captureCallState("errno"));
    }

    /** The same for a function whose arguments from {@code firstVariadic} on are variadic. */
    @SuppressWarnings("restricted")
    static MethodHandle capturingVariadic(MemorySegment function, FunctionDescriptor descriptor, int firstVariadic) {
        return LINKER.downcallHandle(
                function,
                descriptor,
                Linker.Option.captureCallState("errno"),
                Linker.Option.firstVariadicArg(firstVariadic));
    }

    /** With thread state transition: for functions that may sleep. */
    @SuppressWarnings("restricted")
    static MethodHandle waiting(MemorySegment function, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(function, descriptor);
    }

    /** As {@link #critical}, and addresses may be those of arrays, which do not move during the call. */
    @SuppressWarnings("restricted")
    static MethodHandle criticalHeap(MemorySegment function, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(function, descriptor, Linker.Option.critical(true));
    }

    /** A place for one call's errno. Confined to the caller: two threads never share one. */
    static MemorySegment state(Arena arena) {
        return arena.allocate(State.LAYOUT);
    }

    static int errno(MemorySegment state) {
        return (int) State.ERRNO.get(state, 0L);
    }

    /** Apart, so that code that captures nothing does not make its handle. */
    private static final class State {
        static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
        static final VarHandle ERRNO = LAYOUT.varHandle(PathElement.groupElement("errno"));
    }

    /** What a downcall's {@code invokeExact} may throw beside errors: nothing, so this is a bug of ours. */
    static RuntimeException unexpected(Throwable t) {
        if (t instanceof Error e) {
            throw e;
        }
        return t instanceof RuntimeException e ? e : new IllegalStateException(t);
    }
}
