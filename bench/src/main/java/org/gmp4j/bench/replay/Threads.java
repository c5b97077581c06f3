// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

/** What programs do with threads of the JDK's that the scheduler runs. */
public final class Threads {
    private Threads() {
    }

    /** {@code Thread.start} of a virtual thread: its scheduler is given its continuation. */
    public static void start(Thread t) {
        StackThread s = (StackThread) t;
        s.state = StackThread.STARTED;
        s.scheduler.execute(s.continuation);
    }

    /** Submits a thread that may not be runnable, as the JDK does when it has held a thread up for a dump. */
    public static void submit(Thread t) {
        StackThread s = (StackThread) t;
        s.scheduler.execute(s.continuation);
    }
}
