// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import java.lang.reflect.Method;

/**
 * Reads the frames of another running thread, with the class of each frame. {@link Thread#getStackTrace} clears the class in each {@link
 * StackTraceElement} that it returns. The class name that remains does not determine the class loader, and a search of all loaded classes
 * would take too long. Thread-safe.
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
     * Returns the frames of a thread, the innermost first. The array is empty when a virtual thread is not mounted, or has ended. The
     * elements are complete only for {@link #type}, {@link StackTraceElement#getMethodName}, {@link StackTraceElement#getLineNumber} and
     * {@link StackTraceElement#isNativeMethod}.
     */
    public static StackTraceElement[] of(Thread t) {
        try {
            return STACK_TRACE.invoke(t) instanceof StackTraceElement[] frames ? frames : NONE;
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the class whose method runs in a frame that {@link #of} has returned. */
    public static Class<?> type(StackTraceElement frame) {
        return (Class<?>) JdkThreads.get(frame, DECLARING_CLASS);
    }
}
