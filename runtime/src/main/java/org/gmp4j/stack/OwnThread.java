// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.jspecify.annotations.Nullable;

/**
 * A platform thread of the runtime: an M, sysmon, a helper, a shutdown hook. It is a daemon and inherits no thread-locals.
 * {@link Bystanders} tells it from the program's threads by its class. A group would not do: a thread that the program starts while it runs
 * on one of these, in a callback of sysmon's for example, gets the same group.
 */
public class OwnThread extends Thread {
    /** Below the JDK's own group, so that no uncaught-exception handler of a group of the program's is told of them. */
    private static final ThreadGroup GROUP = new ThreadGroup(root(), "gmp4j");
    /** The threads that the JDK starts for the runtime: see {@link #withHelpers}. */
    private static final ThreadGroup HELPERS = new ThreadGroup(GROUP, "gmp4j-helpers");

    /** A thread that is not started. */
    public OwnThread(Runnable body, String name) {
        this(body, name, 0);
    }

    /** @param stackSize bytes of stack to reserve; 0 for what the JVM gives each thread */
    public OwnThread(Runnable body, String name, long stackSize) {
        this(GROUP, body, name, stackSize);
    }

    /** A thread that is not started, and runs what its class overrides {@link #run} with. */
    OwnThread(String name) {
        this(GROUP, null, name, 0);
    }

    private OwnThread(ThreadGroup group, @Nullable Runnable body, String name, long stackSize) {
        super(group, body, name, stackSize, false);
        setDaemon(true);
    }

    /**
     * A thread that runs none of the program's code, and makes an object of the JDK's that starts threads, such as its web server. Those
     * threads are the runtime's too.
     */
    public static OwnThread withHelpers(Runnable body, String name) {
        return new OwnThread(HELPERS, body, name, 0);
    }

    /** Whether a live thread is the runtime's. */
    static boolean is(Thread t) {
        return t instanceof OwnThread || t.getThreadGroup() == HELPERS;
    }

    /** The group of the JVM's own threads, which is above all others. */
    static ThreadGroup root() {
        ThreadGroup g = Thread.currentThread().getThreadGroup();
        for (ThreadGroup up = g.getParent(); up != null; up = g.getParent()) {
            g = up;
        }
        return g;
    }
}
