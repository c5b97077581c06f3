// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.invoke.MethodHandle;

/**
 * Native calls and access to memory by the JDK's internal classes. The runtime implements this interface where it knows these classes
 * ({@link NativeHandles}). The public classes, which end in the same code, load and generate some 250 others before the first call.
 */
public interface Native {
    /**
     * Returns the handle that calls functions that may sleep.
     *
     * @return a handle that takes the address of the function and six arguments, and returns a result: {@code long} each
     */
    MethodHandle waiting();

    /**
     * Returns the handle that calls functions that return at once, without a transition of the thread's state.
     *
     * @return a handle of the type of {@link #waiting}
     */
    MethodHandle critical();

    /**
     * Finds a function of the libraries that a class loader has loaded, and of the libraries that these need.
     *
     * @param loader the class loader; null for the boot loader
     * @param name the function's name in C
     * @return its address; 0 when there is none
     */
    long find(ClassLoader loader, String name);

    /**
     * Reads an int.
     *
     * @param addr its address, of any alignment
     * @return the int
     */
    int getInt(long addr);

    /**
     * Reads a long.
     *
     * @param addr its address, of any alignment
     * @return the long
     */
    long getLong(long addr);

    /**
     * Writes a long.
     *
     * @param addr its address, of any alignment
     * @param v the long
     */
    void setLong(long addr, long v);

    /**
     * Sets memory to zero.
     *
     * @param addr its address
     * @param bytes its size
     */
    void clear(long addr, long bytes);
}
