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
 * The stack of the calling OS thread; inside a virtual thread that is its carrier's, on which it runs. Thread-safe.
 */
public final class StackSpace {
    private static final Call.Function LEFT = Call.function("gmp_stack_left");
    private static final Call.Function TRIM = Call.function("gmp_stack_trim");

    private StackSpace() {
    }

    /**
     * How much of the stack Java frames may still take before HotSpot throws {@link StackOverflowError}. About 2 ns.
     *
     * @return bytes; less than 0 in the zone that HotSpot keeps for native code
     */
    public static long left() {
        return Call.critical(LEFT);
    }

    /**
     * Gives the memory back that a deep recursion has left, below what is in use.
     *
     * @param keep how many bytes below the caller's frame are left alone: more than HotSpot's shadow zone (80 KB)
     * @return how many bytes of address space were freed; 0 or less when there was nothing, or the memory is locked
     */
    public static long trim(long keep) {
        return Call.call(TRIM, keep);
    }

    /**
     * Runs {@code body} with less stack than the calling thread has. That costs address space, and no memory.
     *
     * @param bytes how much less, positive
     * @param body must throw nothing: that would end the process
     * @throws OutOfMemoryError when there is no memory for the call; {@code body} was not run
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
