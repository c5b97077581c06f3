// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.proc.Awaited;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.EndLatch;
import org.gmp4j.stack.Goexit;
import org.jspecify.annotations.Nullable;

/** How goroutines of a {@link Gmp} begin. Classes, since the JVM would generate one for each lambda at the start. */
final class Program {
    private static final int BAD_USAGE = 2;

    private Program() {
    }

    /** {@link Gmp#main}. */
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
        s.go(m);
        m.returned.await();
    }

    /** Whoever started the program has set what cannot be: one sentence, and the end. */
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
                s.setMainExited(); // The others go on; when they are done, that is a deadlock.
            } else if (end != null) {
                GStack.mine().report(end);
            } else {
                s.setMainReturned();
                returned.open();
            }
        }
    }

    /** What {@link Gmp#run} runs. */
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
     * @param prefix what their names begin with, before {@code number}; null for no names
     */
    record Threads(Scheduler s, @Nullable String prefix, @Nullable AtomicLong number) implements ThreadFactory {
        @Override
        public Thread newThread(Runnable task) {
            Thread t = s.newThread(Objects.requireNonNull(task));
            if (prefix != null && number != null) {
                t.setName(prefix + number.getAndIncrement());
            }
            return t;
        }
    }
}
