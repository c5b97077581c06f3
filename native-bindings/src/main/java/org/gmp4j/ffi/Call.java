// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;

/**
 * Calls of C functions that take up to six integers or addresses and return one or nothing, whatever their widths: by one
 * native method for those that may sleep, and by {@link Leaf} for those that return at once. Neither needs the JVM's foreign
 * linker, the start of which takes as much CPU time as all else that starting does. A function of another type, or one that says by
 * {@code errno} what went wrong, is linked by {@link Link} where it is first used.
 *
 * <p>That a function may be called as {@code long f(long, long, long, long, long, long)} is what the two calling
 * conventions (x86-64 System V, AAPCS64) say: an integer argument has a register of its own, of which the function reads as much
 * as the type has, and arguments that it does not take are in registers that it may overwrite. What a narrower result
 * leaves in the rest of its register is undefined: callers cast it to {@code int}.
 */
final class Call {
    /** The function of libgmp4j that the JVM binds to {@link #invoke}. */
    static final String INVOKE = "Java_org_gmp4j_ffi_Call_invoke";

    private Call() {
    }

    /** A function of libgmp4j, which is loaded if need be. */
    static long function(String name) {
        Shims.load();
        return symbol(name);
    }

    /** A function of libgmp4j, which is loaded and stays so. */
    static long symbol(String name) {
        return SymbolLookup.loaderLookup().findOrThrow(name).address();
    }

    /** A function of the C library. The JVM starts its linker to find it. */
    static long libc(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name).address();
    }

    /** Calls a function once libgmp4j is loaded, which has this method. */
    private static native long invoke(long function, long a, long b, long c, long d, long e, long f);

    static long call(long function, long a, long b, long c, long d, long e, long f) {
        return invoke(function, a, b, c, d, e, f);
    }

    static long call(long function, long a, long b, long c) {
        return invoke(function, a, b, c, 0, 0, 0);
    }

    static long call(long function, long a) {
        return invoke(function, a, 0, 0, 0, 0, 0);
    }

    static long call(long function) {
        return invoke(function, 0, 0, 0, 0, 0, 0);
    }
}
