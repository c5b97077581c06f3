// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.invoke.MethodHandle;

/**
 * The handles by which {@link Call} calls C functions, if the runtime gives it any. Otherwise Call asks the JDK's linker for them,
 * and the JVM then loads and generates 200 classes more.
 *
 * <p>A handle takes the address of the function and six arguments, and returns a result: {@code long} each.
 */
public final class NativeHandles {
    /** The class that gives the handles when it is initialised. It is named here, because this module is below the runtime. */
    private static final String GIVER = "org.gmp4j.stack.LeafCalls";

    private static MethodHandle waiting;
    private static MethodHandle critical;

    private NativeHandles() {
    }

    /**
     * Gives handles to this package.
     *
     * @param waits calls functions that may sleep
     * @param returns calls functions that return at once, without a transition of the thread's state
     */
    public static void use(MethodHandle waits, MethodHandle returns) {
        waiting = waits;
        critical = returns;
    }

    /**
     * Returns whether the runtime gives handles. {@link Call} asks this before the first call of a C function. The runtime asks it before,
     * because an initialiser that lacks stack or memory then fails outside of Call's, and Call can still use the linker.
     */
    public static boolean given() {
        try {
            Class<?> _ = Class.forName(GIVER); // Its initialiser's writes are seen from here on.
        } catch (ClassNotFoundException | LinkageError e) {
            return false; // The bindings are used without the runtime, or its initialiser has failed.
        }
        return waiting != null;
    }

    /** Returns the handle for functions that may sleep. */
    static MethodHandle waiting() {
        return waiting;
    }

    /** Returns the handle for functions that return at once. */
    static MethodHandle critical() {
        return critical;
    }
}
