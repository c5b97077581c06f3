// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The text of an exception of the user's code, whose methods may throw, return null, or give endless causes. Such an exception must not
 * prevent a report, and must not end the thread that makes the report. Like all code, the methods here may throw an OutOfMemoryError, but
 * nothing else.
 */
public final class ThrowableText {
    private static final int MOST_CAUSES = 100;
    private static final StackTraceElement[] NONE = {};

    private ThrowableText() {
    }

    /** Does nothing except initialise this class: see {@code Uncaught.prepare}. */
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

    /** Returns the throwable's stack; empty if it does not give one. */
    public static StackTraceElement[] frames(Throwable t) {
        try {
            StackTraceElement[] frames = t.getStackTrace();
            return frames == null ? NONE : frames;
        } catch (Throwable e) {
            return NONE;
        }
    }

    /** Appends {@code "\tcaused by: "} and the line of each cause. Each cause is appended only once. */
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

    /** Returns the exception with its frames and causes, in the form of the JDK if the exception's own methods do not fail. */
    public static String full(Throwable t) {
        StringBuilder b = new StringBuilder(line(t)).append('\n');
        for (StackTraceElement e : frames(t)) {
            b.append("\tat ").append(e).append('\n');
        }
        causes(b, t);
        return b.toString();
    }

    /** Returns whether the heap was full, and not the metaspace, the number of threads or memory outside of the heap. */
    public static boolean isHeap(Throwable t) {
        String message = t.getMessage();
        return t instanceof OutOfMemoryError
                && (message == null || message.contains("heap") || message.contains("GC overhead"));
    }
}
