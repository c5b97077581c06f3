// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

/** Holds the {@link Native} of the runtime, if the runtime gives one. Otherwise this package uses the JDK's public classes. */
public final class NativeHandles {
    /** The class that gives the object when it is initialised. It is named here, because this module is below the runtime. */
    private static final String GIVER = "org.gmp4j.stack.LeafCalls";

    private static Native given;

    private NativeHandles() {
    }

    /**
     * Gives native calls and access to memory to this package.
     *
     * @param n the runtime's
     */
    public static void use(Native n) {
        given = n;
    }

    /**
     * Returns what the runtime gives. {@link Call} asks this before the first call of a C function. The runtime asks it before, because an
     * initialiser that lacks stack or memory then fails outside of Call's, and Call can still use the linker.
     *
     * @return null when the runtime gives nothing
     */
    public static Native given() {
        try {
            Class<?> _ = Class.forName(GIVER); // Its initialiser's write is seen from here on.
        } catch (ClassNotFoundException | LinkageError e) {
            return null; // The bindings are used without the runtime, or its initialiser has failed.
        }
        return given;
    }
}
