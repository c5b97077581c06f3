// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/** Calls back through C: a virtual thread that waits inside cannot be taken off its carrier. */
public final class PinningCall {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final ThreadLocal<Runnable> INSIDE = new ThreadLocal<>();

    @SuppressWarnings("restricted")
    private static final MethodHandle QSORT = LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow("qsort"),
            FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
                    ValueLayout.ADDRESS));

    private PinningCall() {
    }

    private static int compare(MemorySegment a, MemorySegment b) {
        INSIDE.get().run();
        return 0;
    }

    /** Runs {@code inside} with a native frame below it; it must not throw. */
    @SuppressWarnings("restricted")
    public static void run(Runnable inside) {
        INSIDE.set(inside);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment compare = LINKER.upcallStub(
                    MethodHandles.lookup().findStatic(PinningCall.class, "compare",
                            MethodType.methodType(int.class, MemorySegment.class, MemorySegment.class)),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS), arena);
            QSORT.invokeExact(arena.allocate(8), 2L, 4L, compare); // Two elements: one comparison.
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }
}
