// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.invoke.MethodHandle;

/**
 * Native calls and access to memory by the JDK's internal classes. The runtime gives an implementation where it knows these classes.
 * Elsewhere this package uses the public classes, which end in the same code, but load and generate some 250 others before the first call.
 */
public abstract class Native {
    /** The class that gives the implementation when it is initialised. It is named here, because this module is below the runtime. */
    private static final String GIVER = "org.gmp4j.stack.LeafCalls";

    private static Native given;

    /** For the runtime. */
    protected Native() {
    }

    /**
     * Gives an implementation to this package.
     *
     * @param n the runtime's
     */
    protected static void use(Native n) {
        given = n;
    }

    /**
     * Returns the runtime's implementation. {@link Call} asks for it before the first call of a C function. A scheduler that starts asks
     * before that, because an initialiser that lacks stack or memory then fails outside of Call's, and Call can still use the linker.
     *
     * @return null when the runtime gives none
     */
    public static Native given() {
        try {
            Class<?> _ = Class.forName(GIVER); // Its initialiser's write is seen from here on.
        } catch (ClassNotFoundException | LinkageError e) {
            return null; // The bindings are used without the runtime, or its initialiser has failed.
        }
        return given;
    }

    /**
     * Returns the handle that calls functions that may sleep.
     *
     * @return a handle that takes the address of the function and six arguments, and returns a result: {@code long} each
     */
    protected abstract MethodHandle waiting();

    /**
     * Returns the handle that calls functions that return at once, without a transition of the thread's state.
     *
     * @return a handle of the type of {@link #waiting}
     */
    protected abstract MethodHandle critical();

    /**
     * Finds a function of the libraries that a class loader has loaded, and of the libraries that these need.
     *
     * @param loader the class loader; null for the boot loader
     * @param name the function's name in C
     * @return its address; 0 when there is none
     */
    protected abstract long find(ClassLoader loader, String name);

    /**
     * Reads an int.
     *
     * @param addr its address, of any alignment
     * @return the int
     */
    protected abstract int getInt(long addr);

    /**
     * Reads a long.
     *
     * @param addr its address, of any alignment
     * @return the long
     */
    protected abstract long getLong(long addr);

    /**
     * Writes a long.
     *
     * @param addr its address, of any alignment
     * @param v the long
     */
    protected abstract void setLong(long addr, long v);

    /**
     * Sets memory to zero.
     *
     * @param addr its address
     * @param bytes its size
     */
    protected abstract void clear(long addr, long bytes);
}
