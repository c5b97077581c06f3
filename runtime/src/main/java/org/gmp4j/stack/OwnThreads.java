// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.stack;

/**
 * The thread group of all platform threads that the runtime makes: Ms, sysmon, its helpers, its shutdown hooks. By the group
 * {@link Bystanders} tells them from the program's threads, whatever a scheduler is named.
 */
public final class OwnThreads {
    /** Below the JDK's own group, so that no uncaught-exception handler of a group of the program's is told of them. */
    public static final ThreadGroup GROUP = new ThreadGroup(root(), "gmp4j");

    private OwnThreads() {
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
