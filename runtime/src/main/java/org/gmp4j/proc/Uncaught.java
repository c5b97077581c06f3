package org.gmp4j.proc;

import java.util.function.BiConsumer;

import org.gmp4j.struct.G;

/** An exception ended a goroutine: Go's panic text, and by policy the end of the program. Never the end of an M. */
final class Uncaught {
    private Uncaught() {
    }

    /** On the goroutine's stack, after its deferred work. */
    static void report(Scheduler s, long gp, Thread thread, Throwable t) {
        Config c = s.config;
        if (s.mainReturned()) {
            return;
        }
        BiConsumer<Long, Throwable> handler = c.uncaught();
        if (t instanceof StackOverflowError && handler == null) {
            Fatal.end("runtime: goroutine stack exceeds " + c.maxStack() + "-byte limit\n"
                    + "fatal error: stack overflow\n\n" + Traceback.ofThrowable(gp, t));
        } else if (c.program()) {
            Fatal.end(text(gp, t));
        }
        try {
            if (handler != null) {
                handler.accept(G.goid(gp), t);
            } else {
                System.err.print(text(gp, t));
            }
        } catch (Throwable ignored) {
            // A handler that throws has had its chance; the M goes on.
            System.err.println("gmp4j: the uncaught-exception handler threw " + ignored);
        }
    }

    private static String text(long gp, Throwable t) {
        StringBuilder b = new StringBuilder("panic: ").append(t).append('\n');
        for (Throwable c = t.getCause(); c != null; c = c.getCause()) {
            b.append("\tcaused by: ").append(c).append('\n');
        }
        return b.append('\n').append(Traceback.ofThrowable(gp, t)).toString();
    }
}
