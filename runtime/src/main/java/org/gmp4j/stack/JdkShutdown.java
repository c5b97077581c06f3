// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Method;

/** The JDK's own shutdown hooks, which run in the order of their slots; those of programs are in the second. */
public final class JdkShutdown {
    private static final int LAST_SLOT = 9;

    private JdkShutdown() {
    }

    /** Adds one that runs after all others; does nothing where another class loader's copy of us has, or the JDK has no such slot. */
    public static void addLast(Runnable hook) {
        try {
            Method add = Class.forName("java.lang.Shutdown").getDeclaredMethod("add", int.class, boolean.class, Runnable.class);
            add.setAccessible(true);
            Object _ = add.invoke(null, LAST_SLOT, false, hook);
        } catch (ReflectiveOperationException | RuntimeException e) {
            return; // A process that ends later is as good as one that ends now.
        }
    }
}
