// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.print;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * The text of an exception of the user's, whose own methods may throw, return null, or give causes without end. A failing
 * exception must not keep a report from being made, and must not end the thread that makes it. Only an OutOfMemoryError may come out
 * of here, as of all code.
 */
public final class ThrowableText {
    private static final int MOST_CAUSES = 100;
    private static final StackTraceElement[] NONE = {};

    private ThrowableText() {
    }

    /** Initialises this class, no more: see {@code Uncaught.prepare}. */
    public static void prepare() {
    }

    /** Returns what {@code toString} returns; where that fails, the class of the throwable and what {@code toString} threw. */
    public static String line(Throwable t) {
        try {
            return String.valueOf(t.toString());
        } catch (Throwable e) {
            return t.getClass().getName() + " (its toString threw " + e.getClass().getName() + ")";
        }
    }

    /** Its stack; empty where it does not give one. */
    public static StackTraceElement[] frames(Throwable t) {
        try {
            StackTraceElement[] frames = t.getStackTrace();
            return frames == null ? NONE : frames;
        } catch (Throwable e) {
            return NONE;
        }
    }

    /** Appends {@code "\tcaused by: "} and a line for each cause, each cause once. */
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

    /** Returns the exception with its frames and causes, in the JDK's form if the exception's own methods do not fail. */
    public static String full(Throwable t) {
        StringBuilder b = new StringBuilder(line(t)).append('\n');
        for (StackTraceElement e : frames(t)) {
            b.append("\tat ").append(e).append('\n');
        }
        causes(b, t);
        return b.toString();
    }

    /** Returns whether the heap was full, rather than the metaspace, the number of threads or memory outside of the heap. */
    public static boolean isHeap(Throwable t) {
        String message = t.getMessage();
        return t instanceof OutOfMemoryError
                && (message == null || message.contains("heap") || message.contains("GC overhead"));
    }
}
