// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.sched.Awaited;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.GoroutineExit;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.jdk.Stacks;
import org.gmp4j.stack.EndLatch;
import org.gmp4j.stack.Goexit;
import org.jspecify.annotations.Nullable;

/** Implements {@link Gmp#main}. Its classes stand in for lambdas of {@link Gmp}: the JVM would generate a class for each at the start. */
final class Program {
    private static final int BAD_USAGE = 2;

    private Program() {
    }

    static void main(Runnable main) {
        Scheduler s;
        try {
            DefaultGmp.makeIfWanted();
            s = new Settings().start(true);
        } catch (IllegalArgumentException badVariable) {
            endForBadUsage(badVariable);
            return;
        }
        Main m = new Main(s, main);
        Newproc.newproc(s, m);
        m.returned.await();
    }

    /** Prints the message about a bad property or variable, and ends the process. */
    static void endForBadUsage(IllegalArgumentException bad) {
        System.err.println("gmp4j: " + bad.getMessage());
        System.exit(BAD_USAGE);
    }

    /** Goroutine 1 of a program. */
    private static final class Main extends Awaited {
        private final Scheduler s;
        private final Runnable fn;
        private final EndLatch returned = new EndLatch();

        Main(Scheduler s, Runnable fn) {
            this.s = s;
            this.fn = fn;
        }

        @Override
        public void run() {
            fn.run();
        }

        @Override
        protected void ended(@Nullable Throwable end) {
            if (end == Goexit.INSTANCE) {
                s.setMainExited(); // The other goroutines go on. When all of them have ended, that is a deadlock, as in Go.
            } else if (end != null) {
                GStack.mine().report(end);
            } else {
                GoroutineExit.letPanicsEnd(GStack.mine());
                s.setMainReturned();
                returned.open();
            }
        }
    }

    /** The body of a goroutine of {@link Gmp#run} and its forms. */
    record Body(Runnable fn) implements Callable<Void> {
        @Override
        public Void call() {
            fn.run();
            return null;
        }
    }

    /**
     * Makes threads that the scheduler runs.
     *
     * @param prefix precedes {@code number} in their names; null for no names
     */
    record Threads(Scheduler s, @Nullable String prefix, @Nullable AtomicLong number) implements ThreadFactory {
        @Override
        public Thread newThread(Runnable task) {
            Thread t = Stacks.newThread(s, Objects.requireNonNull(task));
            if (prefix != null && number != null) {
                t.setName(prefix + number.getAndIncrement());
            }
            return t;
        }
    }
}
