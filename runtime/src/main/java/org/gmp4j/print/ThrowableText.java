// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Makes the text of an exception of user code. The exception's methods may throw, return null, or return endless causes. Even then they
 * must not prevent the report or end the thread that makes it. The methods here throw nothing but an OutOfMemoryError.
 */
public final class ThrowableText {
    private static final int MOST_CAUSES = 100;
    private static final StackTraceElement[] NONE = {};

    private ThrowableText() {
    }

    /** Initialises this class: see {@code Uncaught.prepare}. */
    public static void prepare() {
    }

    /**
     * Returns the result of {@code toString}; if that fails, the classes of the throwable and of the exception that {@code toString} threw.
     */
    public static String line(Throwable t) {
        try {
            return String.valueOf(t.toString());
        } catch (Throwable e) {
            return t.getClass().getName() + " (its toString threw " + e.getClass().getName() + ")";
        }
    }

    /** Returns the throwable's stack; empty if {@code getStackTrace} fails or returns null. */
    public static StackTraceElement[] frames(Throwable t) {
        try {
            StackTraceElement[] frames = t.getStackTrace();
            return frames == null ? NONE : frames;
        } catch (Throwable e) {
            return NONE;
        }
    }

    /** Appends {@code "\tcaused by: "} and the line of each cause, once each, for at most {@value #MOST_CAUSES} causes. */
    public static void causes(StringBuilder b, Throwable t) {
        Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        boolean _ = seen.add(t);
        for (Throwable c = cause(t); c != null && seen.size() <= MOST_CAUSES && seen.add(c); c = cause(c)) {
            b.append("\tcaused by: ").append(line(c)).append('\n');
        }
    }

    private static @Nullable Throwable cause(Throwable t) {
        try {
            return t.getCause();
        } catch (Throwable e) {
            return null;
        }
    }

    /** Returns the lines of the exception and of its frames in the JDK's form, and the lines of {@link #causes}. */
    public static String full(Throwable t) {
        StringBuilder b = new StringBuilder(line(t)).append('\n');
        for (StackTraceElement e : frames(t)) {
            b.append("\tat ").append(e).append('\n');
        }
        causes(b, t);
        return b.toString();
    }

    /** Returns whether this is an OutOfMemoryError of the heap, and not of metaspace, of threads or of memory outside of the heap. */
    public static boolean isHeap(Throwable t) {
        if (!(t instanceof OutOfMemoryError)) {
            return false;
        }
        try {
            String message = t.getMessage();
            return message == null || message.contains("heap") || message.contains("GC overhead");
        } catch (Throwable e) {
            return false; // The JVM's own errors do not override getMessage, so this error is the program's.
        }
    }
}
