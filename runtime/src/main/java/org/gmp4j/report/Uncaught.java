// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import java.util.function.BiConsumer;

import org.gmp4j.print.Stderr;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Goexit;
import org.gmp4j.struct.G;
import org.jspecify.annotations.Nullable;

/**
 * Reports an exception that ended a goroutine. The report goes to the first of these that exists:
 * <ol>
 * <li>for a thread with an identity, as code that was written for threads expects: the thread's own
 * {@link Thread.UncaughtExceptionHandler}, then the process's default handler;
 * <li>the handler of the scheduler;
 * <li>in program mode stderr, with Go's panic text; then the process ends;
 * <li>in embedded mode stderr; then the process continues. The text is Go's panic text, or the JDK's text for a thread of the default
 * scheduler.
 * </ol> Once main has returned, only the handlers of the first item get a report. A report fails if a handler throws, if the exception
 * cannot be printed, or if {@link System#err} throws. Then a line goes to the process's own stderr, and the M continues.
 */
public final class Uncaught {
    /** The text is made while there is memory. */
    static final byte[] NO_REPORT =
            Stderr.bytes("gmp4j: an exception ended a goroutine, and there is no memory or stack to report it\n");

    private Uncaught() {
    }

    /** Loads the classes for a report while there is memory, because the first report may be about an OutOfMemoryError. */
    static void prepare() {
        ThrowableText.prepare();
        boolean _ = Goexit.INSTANCE == null;
    }

    /**
     * Reports an exception that ended a goroutine. Called on the goroutine's stack, after its deferred functions have run. Never throws.
     */
    static void report(GStack st, Throwable t) {
        try {
            tell(st, t);
        } catch (Throwable e) {
            Stderr.write(NO_REPORT);
        }
    }

    /** Reports an exception to the current thread's handler. The thread continues. Never throws. */
    public static void reportHere(Throwable t) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, t);
        } catch (Throwable e) {
            reportEscaped(thread.getName(), t);
        }
    }

    /** Reports an exception that the JDK's own code threw at the end of a virtual thread. Called on g0. Never throws. */
    static void reportEscaped(Throwable t) {
        reportEscaped("at the end of a virtual thread", t);
    }

    private static void reportEscaped(String where, Throwable t) {
        try {
            Stderr.print("gmp4j: " + where + ": " + ThrowableText.full(t));
        } catch (Throwable e) {
            Stderr.write(NO_REPORT);
        }
    }

    private static void tell(GStack st, Throwable t) {
        Scheduler s = st.scheduler();
        Thread.UncaughtExceptionHandler ofThread = st.isPooled() ? null : threadHandler(st.thread);
        BiConsumer<Long, Throwable> handler = s.config.uncaught();
        if (ofThread != null) {
            try {
                ofThread.uncaughtException(st.thread, t);
            } catch (Throwable e) {
                handlerFailed(st, t, e);
            }
        } else if (s.mainReturned()) {
            return;
        } else if (handler != null) {
            try {
                handler.accept(G.GOID.get(st.gp()), t);
            } catch (Throwable e) {
                handlerFailed(st, t, e);
            }
        } else if (s.config.program()) {
            s.setPanicking();
            Fatal.end(s, st, t);
        } else if (s.inPlaceOfJdk && !st.isPooled()) {
            st.thread.getThreadGroup().uncaughtException(st.thread, t); // The thread's code was written for threads, not for goroutines.
        } else {
            print(text(st, t));
        }
    }

    /** Returns the handler that the Thread API gives for this thread; null if the JDK would print a text. */
    private static Thread.@Nullable UncaughtExceptionHandler threadHandler(Thread thread) {
        Thread.UncaughtExceptionHandler own = thread.getUncaughtExceptionHandler();
        return own == thread.getThreadGroup() ? Thread.getDefaultUncaughtExceptionHandler() : own;
    }

    private static void handlerFailed(GStack st, Throwable t, Throwable e) {
        if (e != Goexit.INSTANCE) { // A handler may call goexit.
            Stderr.print("gmp4j: goroutine " + G.GOID.get(st.gp()) + ": the uncaught-exception handler threw "
                    + ThrowableText.line(e) + ", told of " + ThrowableText.line(t) + "\n");
        }
    }

    private static void print(String text) {
        try {
            System.err.print(text);
        } catch (Throwable e) {
            Stderr.print(text + "gmp4j: System.err threw " + ThrowableText.line(e) + "\n");
        }
    }

    /** Returns the text to print for an exception that ended the goroutine on {@code st}. */
    static String text(GStack st, Throwable t) {
        StringBuilder b = new StringBuilder();
        if (t instanceof StackOverflowError) {
            b.append("runtime: goroutine stack exceeds ").append(st.scheduler().config.maxStack()).append("-byte limit\n");
        }
        if (t instanceof StackOverflowError && st.scheduler().config.program()) {
            b.append("fatal error: stack overflow\n");
        } else {
            b.append("panic: ").append(ThrowableText.line(t)).append('\n');
            ThrowableText.causes(b, t);
        }
        return b.append('\n').append(Traceback.ofThrowable(st.gp(), t)).toString();
    }
}
