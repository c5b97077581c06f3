// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Calls C functions that take up to six integers or addresses and return one or nothing, whatever their widths. All calls go through two
 * handles: one for functions that may sleep, and one for functions that return at once. The first call by a handle of another type has the
 * JVM generate some ten classes, and each further handle of that type some more when it is called often.
 *
 * <p>A function may be called as {@code long f(long, long, long, long, long, long)} by the two calling conventions (x86-64 System V,
 * AAPCS64). An integer argument has a register of its own, of which the function reads as much as the type has. Arguments that the function
 * does not take are in registers that it may overwrite. A narrower result leaves the rest of its register undefined, so callers cast it to
 * {@code int}.
 */
final class Call {
    private static final MethodHandle WAITING = handle(NativeHandles.waiting());
    private static final MethodHandle CRITICAL = handle(NativeHandles.critical(), Linker.Option.critical(false));

    private Call() {
    }

    /** Returns {@code given}, or the linker's handle if that is null. */
    @SuppressWarnings("restricted")
    private static MethodHandle handle(MethodHandle given, Linker.Option... options) {
        if (given != null) {
            return given;
        }
        MethodHandle linked = Linker.nativeLinker().downcallHandle(
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), options);
        try {
            return MethodHandles.filterArguments(linked, 0, MethodHandles.lookup().findStatic(MemorySegment.class, "ofAddress",
                    MethodType.methodType(MemorySegment.class, long.class)));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns the address of a function of libgmp4j, or of one that the C library alone defines. Loads libgmp4j if need be. The lookup
     * searches all libraries of this class loader and the libraries that these need.
     */
    static long function(String name) {
        Shims.load();
        return symbol(name);
    }

    /** Does the work of {@link #function} when libgmp4j is loaded. */
    static long symbol(String name) {
        return SymbolLookup.loaderLookup().findOrThrow(name).address();
    }

    /** Returns the address of a function of the C library, even if another library defines a function of that name, too. */
    static long libc(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name).address();
    }

    static long call(long function, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) WAITING.invokeExact(function, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    static long call(long function, long a, long b, long c) {
        return call(function, a, b, c, 0, 0, 0);
    }

    static long call(long function, long a) {
        return call(function, a, 0, 0, 0, 0, 0);
    }

    static long call(long function) {
        return call(function, 0, 0, 0, 0, 0, 0);
    }

    /** Calls a function without a transition of the thread's state. The function must return at once. */
    static long critical(long function) {
        try {
            return (long) CRITICAL.invokeExact(function, 0L, 0L, 0L, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }
}
