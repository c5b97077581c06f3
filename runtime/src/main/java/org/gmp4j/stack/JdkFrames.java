// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Method;

/**
 * The frames of another thread that runs, with the class of each. A {@link StackTraceElement} has the class only until it is given to a
 * caller of {@link Thread#getStackTrace}; a name does not say which class loader's class it was, and to search all loaded classes for it
 * takes milliseconds. Thread-safe.
 */
public final class JdkFrames {
    private static final StackTraceElement[] NONE = {};
    private static final Method STACK_TRACE;
    private static final long DECLARING_CLASS;

    static {
        try {
            STACK_TRACE = Thread.class.getDeclaredMethod("getStackTrace0");
            STACK_TRACE.setAccessible(true);
            DECLARING_CLASS = JdkThreads.offset(StackTraceElement.class.getDeclaredField("declaringClassObject"));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("gmp4j does not know this build of the JDK: " + e.getMessage() + " is missing", e);
        }
    }

    private JdkFrames() {
    }

    /**
     * The frames of a thread, the innermost first; none when it is not mounted, or has ended. They are for {@link #type} and {@link
     * StackTraceElement#getMethodName} alone.
     */
    public static StackTraceElement[] of(Thread t) {
        try {
            return STACK_TRACE.invoke(t) instanceof StackTraceElement[] frames ? frames : NONE;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The class whose method runs in a frame of {@link #of}. */
    public static Class<?> type(StackTraceElement frame) {
        return (Class<?>) JdkThreads.get(frame, DECLARING_CLASS);
    }
}
