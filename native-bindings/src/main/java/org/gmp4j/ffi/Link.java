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
 * Links C functions with linker options that the generated code lacks. The call itself captures {@code errno}, because the JVM may make
 * system calls before a second downcall could read it.
 */
final class Link {
    private static final Linker LINKER = Linker.nativeLinker();

    private Link() {
    }

    /** Returns a handle that takes the segment of {@link #state} before the function's own arguments. */
    @SuppressWarnings("restricted")
    static MethodHandle capturing(MemorySegment function, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(function, descriptor, Linker.Option.captureCallState("errno"));
    }

    /** Returns a handle as {@link #capturing} does, for a function whose arguments from {@code firstVariadic} on are variadic. */
    @SuppressWarnings("restricted")
    static MethodHandle capturingVariadic(MemorySegment function, FunctionDescriptor descriptor, int firstVariadic) {
        return LINKER.downcallHandle(
                function,
                descriptor,
                Linker.Option.captureCallState("errno"),
                Linker.Option.firstVariadicArg(firstVariadic));
    }

    /** Returns a handle that makes a thread state transition, for functions that may sleep. */
    @SuppressWarnings("restricted")
    static MethodHandle waiting(MemorySegment function, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(function, descriptor);
    }

    /** Returns a handle without thread state transition. It also takes segments of arrays, which do not move during the call. */
    @SuppressWarnings("restricted")
    static MethodHandle criticalHeap(MemorySegment function, FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(function, descriptor, Linker.Option.critical(true));
    }

    /** Returns a segment for the errno of one call. Only the calling thread may use it. */
    static MemorySegment state(Arena arena) {
        return arena.allocate(State.LAYOUT);
    }

    static int errno(MemorySegment state) {
        return (int) State.ERRNO.get(state, 0L);
    }

    /** A class of its own, so that code that captures nothing does not make its handle. */
    private static final class State {
        static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
        static final VarHandle ERRNO = LAYOUT.varHandle(PathElement.groupElement("errno"));
    }

    /** Throws an Error and returns a RuntimeException as it is. Downcalls throw no checked exception, so one would be a bug of ours. */
    static RuntimeException unexpected(Throwable t) {
        if (t instanceof Error e) {
            throw e;
        }
        return t instanceof RuntimeException e ? e : new IllegalStateException(t);
    }
}
