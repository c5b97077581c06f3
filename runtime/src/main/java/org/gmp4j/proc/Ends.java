// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.stack.Goexit;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * How a goroutine ends. On its own stack, with its own identity, whatever its stack is (a pooled one, or a thread with an
 * identity), in this order:
 * <ol>
 * <li>its function returned, threw, or called goexit;
 * <li>deferred work runs, last first; goexit in there replaces an exception, an exception replaces goexit;
 * <li>structured scopes that it left open are closed;
 * <li>whoever awaits it ({@link Awaited}) is told; where nobody did, an exception is reported ({@code Uncaught});
 * <li>its bubble counts it out.
 * </ol>
 * Then {@link Goexit0#goexit0} for a pooled stack; a thread with an identity returns to the JDK's code, and its M wakes the threads
 * that join it. No exception comes out of here, whatever user code threw on the way.
 */
final class Ends {
    /** How many turns main gives others whose deferred work runs after a panic. */
    private static final int PATIENCE = 1000;

    private Ends() {
    }

    /** Runs {@code fn} as the goroutine on {@code st}, the caller's stack, from its first instruction to its end. */
    static void run(GStack st, Runnable fn) {
        Runnable body = fn;
        // Whom to tell is decided before it runs: from its first instruction on anything may fail, for want of memory for example.
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
        st.exiting = false; // A handler may have called goexit, or deferred work: that is not for the next goroutine here.
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
        if (panics) { // Deferred work replaced it by goexit, or a handler of the Thread API was told.
            int _ = s.panicDefers.decrementAndGet();
        }
    }

    /**
     * Program mode: main is about to return, on its stack. Main may have been woken by the deferred work of a goroutine that panics, for
     * example by a {@code done()}; so the panic is given time to be reported, and a report under way ends the process.
     * Go's main does the same, with the same bound.
     */
    static void letPanicsEnd(GStack st) {
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
     * @param end how it ended so far: null, {@link Goexit#INSTANCE} or an exception
     * @return how it ends
     */
    static @Nullable Throwable deferred(GStack st, @Nullable Throwable end) {
        Throwable last = st.exiting && end == null ? Goexit.INSTANCE : end; // The user's code swallowed it.
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

    /** Closes what structured scopes the goroutine left open, as the JDK does for its threads; may wait for their threads. */
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
        } catch (Throwable t) { // Thrown by what was told.
            st.s.reports.uncaught(st, t);
        }
    }
}
