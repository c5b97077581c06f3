// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

import org.jspecify.annotations.Nullable;

/**
 * A platform thread of the runtime: an M, sysmon, a helper, a shutdown hook. It is a daemon and inherits no thread-locals. {@link
 * Bystanders} distinguishes it from the program's threads by its class. The group is not enough: if the program starts a thread on a thread
 * of the runtime, for instance in a callback on sysmon, the new thread gets the same group.
 */
public class OwnThread extends Thread {
    /**
     * The group of these threads. Its parent is the root group, so the threads' exceptions go to no handler of a thread group of the
     * program.
     */
    private static final ThreadGroup GROUP = new ThreadGroup(root(), "gmp4j");
    /** The group of the threads of {@link #withHelpers} and of the threads that these start. */
    private static final ThreadGroup HELPERS = new ThreadGroup(GROUP, "gmp4j-helpers");

    /** Makes a thread, and does not start it. */
    public OwnThread(Runnable body, String name) {
        this(body, name, 0);
    }

    /** @param stackSize the size of the stack in bytes; 0 for the JVM's default */
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
     * Makes a thread, and does not start it. Its body may make objects of the JDK that start threads, such as the JDK's HTTP server. The
     * threads of these objects count as threads of the runtime, too. The body must run no code of the program.
     */
    public static OwnThread withHelpers(Runnable body, String name) {
        return new OwnThread(HELPERS, body, name, 0);
    }

    /**
     * Waits until a thread has ended. Returns at once if the thread was not started. An interrupt does not end the wait, and stays pending.
     */
    public static void joinUninterruptibly(Thread t) {
        boolean interrupted = false;
        while (t.isAlive()) {
            try {
                t.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether a living thread belongs to the runtime. */
    static boolean is(Thread t) {
        return t instanceof OwnThread || t.getThreadGroup() == HELPERS;
    }

    /** Returns the root group, which holds the JVM's own threads. */
    public static ThreadGroup root() {
        ThreadGroup g = Thread.currentThread().getThreadGroup();
        for (ThreadGroup up = g.getParent(); up != null; up = g.getParent()) {
            g = up;
        }
        return g;
    }
}
