// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.invoke.MethodHandle;

/**
 * The handles by which this package calls C functions, if the runtime gives it any. Otherwise the package asks the JDK's linker for them,
 * and the JVM then loads and generates more than a hundred classes.
 *
 * <p>A handle takes the address of the function and six arguments, and returns a result: {@code long} each.
 */
public final class NativeHandles {
    private static MethodHandle waiting;
    private static MethodHandle critical;

    private NativeHandles() {
    }

    /**
     * Gives handles to this package. Called before the first call of a C function; later calls have no effect.
     *
     * @param waits calls functions that may sleep
     * @param returns calls functions that return at once, without a transition of the thread's state
     */
    public static synchronized void use(MethodHandle waits, MethodHandle returns) {
        waiting = waits;
        critical = returns;
    }

    /** Returns the handle for functions that may sleep; null for the linker's. */
    static synchronized MethodHandle waiting() {
        return waiting;
    }

    /** Returns the handle for functions that return at once; null for the linker's. */
    static synchronized MethodHandle critical() {
        return critical;
    }
}
