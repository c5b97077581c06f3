package org.gmp4j.proc;

import java.util.function.Consumer;

import org.gmp4j.stack.Goexit;

/**
 * How a goroutine ends. On its own stack, with its own identity, whatever its stack is (a pooled one, or a thread with an
 * identity), in this order:
 * <ol>
 * <li>its function returned, threw, or called goexit;
 * <li>deferred work runs, last first; goexit in there replaces an exception, an exception replaces goexit;
 * <li>whoever asked for it with {@link GStack#onEnd} is told; where nobody did, an exception is reported ({@link Uncaught});
 * <li>its bubble counts it out.
 * </ol>
 * Then {@link Newproc#goexit0} for a pooled stack; a thread with an identity returns to the JDK's code, and its M tells those
 * who join it. Nothing comes out of here, whatever user code threw on the way.
 */
final class Ends {
    private Ends() {
    }

    /** Runs {@code fn} as the goroutine on {@code st}, the caller's stack, from its first instruction to its end. */
    static void run(GStack st, Runnable fn) {
        Throwable end = null;
        try {
            fn.run();
        } catch (Throwable t) {
            end = t;
        }
        if (end != null || st.exiting || st.defers != null) {
            end = deferred(st, end);
        }
        if (end != null || st.onEnd != null) {
            tell(st, end);
        }
        Bubble b = st.bubble;
        if (b != null) {
            st.bubble = null;
            b.ended();
        }
        st.exiting = false; // A handler may have called goexit, or deferred work: that is not for the next goroutine here.
        st.defers = null;
    }

    /**
     * Runs the deferred work of the goroutine on {@code st}.
     *
     * @param end how it ended so far: null, {@link Goexit#INSTANCE} or an exception
     * @return how it ends
     */
    static Throwable deferred(GStack st, Throwable end) {
        Throwable last = st.exiting && end == null ? Goexit.INSTANCE : end; // Swallowed on the way.
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

    private static void tell(GStack st, Throwable end) {
        Consumer<Throwable> told = st.onEnd;
        st.onEnd = null;
        try {
            if (told == null) {
                st.report(end);
            } else {
                told.accept(end);
            }
        } catch (Throwable t) { // Of the one who was told.
            Uncaught.report(st, t);
        }
    }
}
