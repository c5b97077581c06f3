// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.jspecify.annotations.Nullable;

/**
 * A platform thread of the runtime: an M, sysmon, a helper, a shutdown hook. It is a daemon and inherits no thread-locals.
 * {@link Bystanders} distinguishes it from the program's threads by its class. Its group would not be enough: a thread that the program
 * starts on a thread of the runtime, in a callback of sysmon's for example, gets the same group.
 */
public class OwnThread extends Thread {
    /** The group of these threads. Its parent is the JDK's own group, so no handler of a group of the program gets their exceptions. */
    private static final ThreadGroup GROUP = new ThreadGroup(root(), "gmp4j");
    /** The threads that the JDK starts for the runtime: see {@link #withHelpers}. */
    private static final ThreadGroup HELPERS = new ThreadGroup(GROUP, "gmp4j-helpers");

    /** Makes a thread, and does not start it. */
    public OwnThread(Runnable body, String name) {
        this(body, name, 0);
    }

    /** @param stackSize bytes of stack to reserve; 0 for what the JVM gives each thread */
    public OwnThread(Runnable body, String name, long stackSize) {
        this(GROUP, body, name, stackSize);
    }

    /** Makes a thread of a class that overrides {@link #run}, and does not start it. */
    OwnThread(String name) {
        this(GROUP, null, name, 0);
    }

    private OwnThread(ThreadGroup group, @Nullable Runnable body, String name, long stackSize) {
        super(group, body, name, stackSize, false);
        setDaemon(true);
    }

    /**
     * Returns a thread, not started, for a body that makes an object of the JDK that starts threads, such as its web server. Those threads
     * count as the runtime's too. The body must run no code of the program.
     */
    public static OwnThread withHelpers(Runnable body, String name) {
        return new OwnThread(HELPERS, body, name, 0);
    }

    /** Returns whether a live thread is the runtime's. */
    static boolean is(Thread t) {
        return t instanceof OwnThread || t.getThreadGroup() == HELPERS;
    }

    /** Returns the group of the JVM's own threads, which is above all others. */
    static ThreadGroup root() {
        ThreadGroup g = Thread.currentThread().getThreadGroup();
        for (ThreadGroup up = g.getParent(); up != null; up = g.getParent()) {
            g = up;
        }
        return g;
    }
}
