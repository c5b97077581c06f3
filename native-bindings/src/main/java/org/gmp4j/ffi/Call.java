// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * Calls of C functions that take up to six integers or addresses and return one or nothing, whatever their widths: all through
 * one handle for functions that may sleep and one for those that return at once. The first call by a handle of another type
 * has the JVM generate some ten classes, and each further handle of that type some more when it is called often; these two make
 * all of them that starting takes.
 *
 * <p>That a function may be called as {@code long f(long, long, long, long, long, long)} is what the two calling
 * conventions (x86-64 System V, AAPCS64) say: an integer argument has a register of its own, of which the function reads as much
 * as the type has, and arguments that it does not take are in registers that it may overwrite. What a narrower result
 * leaves in the rest of its register is undefined: callers cast it to {@code int}.
 */
final class Call {
    private static final FunctionDescriptor LONGS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private static final MethodHandle WAITING = waiting();
    private static final MethodHandle CRITICAL = critical();

    private Call() {
    }

    @SuppressWarnings("restricted")
    private static MethodHandle waiting() {
        return Linker.nativeLinker().downcallHandle(LONGS);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle critical() {
        return Linker.nativeLinker().downcallHandle(LONGS, Linker.Option.critical(false));
    }

    /** A function of libgmp4j, which is loaded if need be. */
    static MemorySegment function(String name) {
        Shims.load();
        return symbol(name);
    }

    /** A function of libgmp4j, which is loaded. It stays so, and without a lifetime to watch a call of it costs less. */
    static MemorySegment symbol(String name) {
        return MemorySegment.ofAddress(SymbolLookup.loaderLookup().findOrThrow(name).address());
    }

    /** A function of the C library. */
    static MemorySegment libc(String name) {
        return MemorySegment.ofAddress(Linker.nativeLinker().defaultLookup().findOrThrow(name).address());
    }

    static long call(MemorySegment function, long a, long b, long c, long d, long e, long f) {
        try {
            return (long) WAITING.invokeExact(function, a, b, c, d, e, f);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }

    static long call(MemorySegment function, long a, long b, long c) {
        return call(function, a, b, c, 0, 0, 0);
    }

    static long call(MemorySegment function, long a) {
        return call(function, a, 0, 0, 0, 0, 0);
    }

    static long call(MemorySegment function) {
        return call(function, 0, 0, 0, 0, 0, 0);
    }

    /** Without thread state transition: only for functions that return at once. */
    static long critical(MemorySegment function) {
        try {
            return (long) CRITICAL.invokeExact(function, 0L, 0L, 0L, 0L, 0L, 0L);
        } catch (Throwable t) {
            throw Link.unexpected(t);
        }
    }
}
