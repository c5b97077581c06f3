// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.NoSuchElementException;

/**
 * Calls C functions that take up to six integers or addresses of any width and return one such value or nothing. All calls go through two
 * handles: one for functions that may sleep, and one for functions that return at once. For a handle of another type the JVM generates some
 * ten classes at its first call, and for each further handle of that type some more when it is called often.
 *
 * <p>Under both calling conventions (x86-64 System V, AAPCS64) such a function may be called as {@code long f(long, long, long, long, long,
 * long)}. Each argument has a register of its own, of which the function reads only the bits of the parameter's type. Surplus arguments are
 * in registers that the function may overwrite. A narrower result leaves the rest of its register undefined, so callers cast it to
 * {@code int}.
 */
final class Call {
    /** The runtime's native calls and accesses to memory; null where the JDK's linker makes the handles, and segments access memory. */
    static final Native NATIVE = Native.given();
    /** Whether the handles take addresses. The linker's handles take segments. */
    private static final boolean BY_ADDRESS = NATIVE != null;
    private static final MethodHandle WAITING = BY_ADDRESS ? NATIVE.waiting() : Linked.handle();
    private static final MethodHandle CRITICAL = BY_ADDRESS ? NATIVE.critical() : Linked.critical();

    /** A C function. It has its segment where the handles take segments, so that a call allocates nothing; else null. */
    record Function(long address, MemorySegment segment) {
    }

    private Call() {
    }

    /** Returns a function of libgmp4j. Loads the library if need be. */
    static Function function(String name) {
        Shims.load();
        return symbol(name);
    }

    /** Returns a function of libgmp4j. The library must be loaded. */
    static Function symbol(String name) {
        long address = find(name);
        if (address == 0) {
            throw new NoSuchElementException("libgmp4j has no function " + name);
        }
        return at(address);
    }

    /** Returns the address of a function of libgmp4j, or of a library that it needs; 0 when there is none, or libgmp4j is not loaded. */
    static long find(String name) {
        return BY_ADDRESS ? NATIVE.find(Call.class.getClassLoader(), name)
                : SymbolLookup.loaderLookup().find(name).map(MemorySegment::address).orElse(0L);
    }

    /** Returns a function of the C library. */
    static Function libc(String name) {
        return at(Linker.nativeLinker().defaultLookup().findOrThrow(name).address());
    }

    /** Returns the function at an address. Functions stay loaded, so its segment has no lifetime that each call would have to check. */
    static Function at(long address) {
        return new Function(address, BY_ADDRESS ? null : MemorySegment.ofAddress(address));
    }

    static long call(Function function, long a, long b, long c, long d, long e, long f) {
        try {
            return BY_ADDRESS ? (long) WAITING.invokeExact(function.address, a, b, c, d, e, f)
                    : (long) WAITING.invokeExact(function.segment, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    static long call(Function function, long a, long b, long c) {
        return call(function, a, b, c, 0, 0, 0);
    }

    static long call(Function function, long a) {
        return call(function, a, 0, 0, 0, 0, 0);
    }

    static long call(Function function) {
        return call(function, 0, 0, 0, 0, 0, 0);
    }

    /** Calls a function without a transition of the thread's state. The function must return at once. */
    static long critical(Function function) {
        try {
            return BY_ADDRESS ? (long) CRITICAL.invokeExact(function.address, 0L, 0L, 0L, 0L, 0L, 0L)
                    : (long) CRITICAL.invokeExact(function.segment, 0L, 0L, 0L, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    /** The linker's handles. A class of its own, because {@link Call} would load the classes of layouts with them. */
    private static final class Linked {
        private static final FunctionDescriptor TYPE =
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

        @SuppressWarnings("restricted")
        static MethodHandle handle() {
            return Linker.nativeLinker().downcallHandle(TYPE);
        }

        @SuppressWarnings("restricted")
        static MethodHandle critical() {
            return Linker.nativeLinker().downcallHandle(TYPE, Linker.Option.critical(false));
        }
    }
}
