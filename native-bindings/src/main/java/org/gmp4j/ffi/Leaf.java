// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Calls of C functions without arguments that return at once, without a transition of the thread's state: some nanoseconds less than by
 * {@link Call}. A garbage collection waits for the function.
 *
 * <p>They go through a handle of the JVM's foreign linker, unless a runtime that has another way says so by {@link #use}. Thread-safe.
 */
public abstract class Leaf {
    private static volatile Leaf chosen = new Linked();

    /** For the other way. */
    protected Leaf() {
    }

    /**
     * Calls a function, as {@link Linker.Option#critical} does.
     *
     * @param function its address
     * @return its result
     */
    protected abstract long leaf(long function);

    /**
     * Has calls go another way, unless there were calls already.
     *
     * @param way the way
     */
    public static void use(Leaf way) {
        chosen = way;
    }

    static long call(long function) {
        return Way.WAY.leaf(function);
    }

    /** Apart, since {@link #use} comes first. */
    private static final class Way {
        static final Leaf WAY = chosen;
    }

    private static final class Linked extends Leaf {
        @Override
        protected long leaf(long function) {
            try {
                return (long) Handle.HANDLE.invokeExact(MemorySegment.ofAddress(function));
            } catch (Throwable t) {
                throw Link.unexpected(t);
            }
        }
    }

    /** Apart, since it starts the linker. */
    private static final class Handle {
        static final MethodHandle HANDLE = link();

        @SuppressWarnings("restricted")
        private static MethodHandle link() {
            return Linker.nativeLinker().downcallHandle(FunctionDescriptor.of(JAVA_LONG), Linker.Option.critical(false));
        }
    }
}
