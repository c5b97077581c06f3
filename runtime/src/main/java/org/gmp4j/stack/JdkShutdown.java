// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Field;

import org.jspecify.annotations.Nullable;

/**
 * Tells whether the JVM's shutdown has begun, and adds a hook to the JDK's own ({@code java.lang.Shutdown}), which run in the order of
 * their slots. The hooks of programs run in the second slot. In a JDK without such slots {@link #addLast} and {@link #removeLast} do
 * nothing.
 */
public final class JdkShutdown {
    private static final int LAST = 9;
    private static final Runnable @Nullable [] HOOKS = hooks();
    /** A hook that is never registered. */
    private static final Thread NO_HOOK = new OwnThread("gmp-no-hook");

    static {
        boolean _ = hasBegun(); // Initialises the JDK's class of hooks while there is memory.
    }

    private JdkShutdown() {
    }

    private static Runnable @Nullable [] hooks() {
        try {
            Field f = Class.forName("java.lang.Shutdown").getDeclaredField("hooks");
            f.setAccessible(true);
            return f.get(null) instanceof Runnable[] all && all.length == LAST + 1 ? all : null;
        } catch (ReflectiveOperationException | RuntimeException e) {
            return null;
        }
    }

    /** Returns whether the JVM runs the hooks of the program, or has run them. Needs no memory. */
    public static boolean hasBegun() {
        try {
            boolean _ = Runtime.getRuntime().removeShutdownHook(NO_HOOK);
            return false;
        } catch (IllegalStateException | OutOfMemoryError shutdownInProgress) { // The call allocates nothing but that exception.
            return true;
        }
    }

    /** Puts a hook into the last slot, unless it has one, such as that of a copy of gmp4j in another class loader. Allocates no memory. */
    public static void addLast(Runnable hook) {
        if (HOOKS != null && HOOKS[LAST] == null) {
            HOOKS[LAST] = hook;
        }
    }

    /** Removes a hook from the last slot. Does nothing when the slot has another hook. Allocates no memory. */
    @SuppressWarnings("NullAway") // Slots without a hook are null.
    public static void removeLast(Runnable hook) {
        if (HOOKS != null && HOOKS[LAST] == hook) {
            HOOKS[LAST] = null;
        }
    }
}
