// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Measures, trims and shortens the stack of the calling OS thread. A virtual thread runs on its carrier's stack. Thread-safe.
 */
public final class StackSpace {
    private static final Call.Function LEFT = Call.function("gmp_stack_left");
    private static final Call.Function TRIM = Call.function("gmp_stack_trim");

    private StackSpace() {
    }

    /**
     * Returns how much of the stack Java frames may still use before HotSpot throws {@link StackOverflowError}. Takes a few nanoseconds.
     *
     * @return bytes; negative in the shadow zone, which HotSpot reserves for native code
     */
    public static long left() {
        return Call.critical(LEFT);
    }

    /**
     * Releases the memory below the frames in use that a deep recursion has left resident.
     *
     * @param keep the number of bytes below the caller's frame to keep, more than HotSpot's shadow zone (80 KB)
     * @return the number of bytes of address space that were released; 0 when there were none, negative when the memory is locked
     */
    public static long trim(long keep) {
        return Call.call(TRIM, keep);
    }

    /**
     * Runs {@code body} with less stack than the calling thread has. The bytes in between are not touched, so they use no memory.
     *
     * @param bytes the number of bytes less, positive
     * @param body the code to run; an exception that it throws would end the process
     * @throws OutOfMemoryError when there is no memory for the call; {@code body} has not run then
     */
    @SuppressWarnings("restricted")
    public static void shorten(long bytes, Runnable body) {
        try (Arena arena = Arena.ofConfined()) {
            MethodHandle run = MethodHandles.lookup()
                    .findVirtual(Runnable.class, "run", MethodType.methodType(void.class))
                    .bindTo(body);
            MemorySegment stub = Linker.nativeLinker().upcallStub(run, FunctionDescriptor.ofVoid(), arena);
            long _ = Call.call(Call.function("gmp_stack_shorten"), bytes, stub.address(), 0);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
