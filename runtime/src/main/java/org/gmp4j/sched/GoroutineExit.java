// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.Goexit;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * The end of a goroutine. On stacks of both kinds all steps run on the goroutine's own stack and under its identity, in this order:
 * <ol>
 * <li>its function returns, throws, or calls goexit;
 * <li>its deferred work runs, last first; a goexit in deferred work replaces an exception, and an exception replaces goexit;
 * <li>structured scopes that it left open are closed;
 * <li>its {@link Awaited} is notified; if it has none, an exception is reported ({@code Uncaught});
 * <li>its bubble no longer counts it.
 * </ol>
 * Then a pooled stack calls {@link Goexit0#goexit0}. A thread with an identity returns to the JDK's code, and its M wakes the threads that
 * join it. No exception of user code leaves this class.
 */
public final class GoroutineExit {
    /** The greatest number of times that main yields while other goroutines run deferred work after a panic. */
    private static final int PATIENCE = 1000;

    private GoroutineExit() {
    }

    /** Runs {@code fn} as the goroutine on {@code st}, the caller's stack, from its first instruction to its end. */
    public static void run(GStack st, Runnable fn) {
        Runnable body = fn;
        // The bubble and the Awaited are set first, because the first instruction of the function may fail for lack of memory.
        if (body instanceof Bubble.Member member) {
            st.bubble = member.bubble();
            body = member.fn();
        }
        if (body instanceof Awaited a) {
            st.awaited = a;
        }
        Throwable end = null;
        try {
            body.run();
        } catch (Throwable t) {
            end = t;
        }
        if (end != null || st.exiting || st.defers != null || st.awaited != null || JdkThreads.hasScopes(st)) {
            finish(st, end);
        }
        Bubble b = st.bubble;
        if (b != null) {
            st.bubble = null;
            b.ended();
        }
        st.exiting = false; // A handler or deferred work may have called goexit. The next goroutine on this stack must not see that.
        st.defers = null;
    }

    private static void finish(GStack st, @Nullable Throwable end) {
        Scheduler s = st.s;
        boolean panics = s.config.program() && end != null && end != Goexit.INSTANCE;
        if (panics) {
            int _ = s.panicDefers.incrementAndGet();
        }
        Throwable last = closeScopes(st, deferred(st, end));
        tell(st, last);
        if (panics) { // The program goes on, because deferred work called goexit or a handler of the Thread API got the exception.
            int _ = s.panicDefers.decrementAndGet();
        }
    }

    /**
     * Gives panics time to be reported before main returns in program mode. Called on main's stack. The deferred work of a goroutine that
     * panics may have woken main, for example by a {@code done()}. So main yields while such work runs, at most {@link #PATIENCE} times, as
     * Go's main does. If a report is under way, this method does not return, and the report ends the process.
     */
    public static void letPanicsEnd(GStack st) {
        Scheduler s = st.s;
        for (int i = 0; i < PATIENCE && s.panicDefers.get() != 0 && !s.panicking; i++) {
            Park.gosched(st);
        }
        while (s.panicking) {
            LockSupport.park();
        }
    }

    /**
     * Runs the deferred work of the goroutine on {@code st}.
     *
     * @param end the outcome of its function: null, {@link Goexit#INSTANCE} or an exception
     * @return the outcome after the deferred work, of the same kinds
     */
    static @Nullable Throwable deferred(GStack st, @Nullable Throwable end) {
        Throwable last = st.exiting && end == null ? Goexit.INSTANCE : end; // User code may have caught the Goexit.
        while (st.defers != null) {
            st.exiting = false; // Deferred work may call the runtime.
            GStack.Defer d = st.defers;
            st.defers = d.next();
            try {
                d.fn().run();
            } catch (Throwable t) {
                last = t;
            }
        }
        st.exiting = false;
        return last;
    }

    /**
     * Closes structured scopes that the goroutine left open, as the JDK does for its threads. May wait for the threads in them.
     *
     * @return the outcome of the goroutine: {@code end}, or the exception of the close
     */
    private static @Nullable Throwable closeScopes(GStack st, @Nullable Throwable end) {
        try {
            JdkThreads.closeScopes(st);
            return end;
        } catch (Throwable t) {
            return t;
        }
    }

    private static void tell(GStack st, @Nullable Throwable end) {
        Awaited told = st.awaited;
        st.awaited = null;
        try {
            if (told == null) {
                st.report(end);
            } else {
                told.ended(end);
            }
        } catch (Throwable t) { // The Awaited, or a handler that the report calls, has thrown.
            st.s.reports.uncaught(st, t);
        }
    }
}
