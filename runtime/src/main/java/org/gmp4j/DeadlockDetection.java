// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

/**
 * The rule by which a scheduler whose goroutines are all asleep is in a deadlock: {@link
 * Gmp.Builder#deadlockDetection(DeadlockDetection)}. It does not concern a bubble of {@code Synctest}, which has a detection of its own.
 *
 * <p>Any thread may use these constants. Nothing here waits, so there is nothing to interrupt.
 */
public enum DeadlockDetection {
    /** It is never a deadlock. */
    OFF,

    /**
     * It is a deadlock when nothing outside of the scheduler could make a goroutine ready. Each of these could, and delays the report while
     * it exists:
     * <ul>
     * <li>a live platform thread, daemon or not. Threads that the JVM, the JDK and the runtime made for themselves do not count, unless
     *     they call the program, with events of JFR or calls of an object that is exported by RMI. Neither does a thread that waits in
     *     {@link Gmp#main}, {@link Gmp#run} or {@link Gmp#call};
     * <li>a live virtual thread of another scheduler, a goroutine of another {@link Gmp}, a goroutine that waits in the JDK. With
     *     {@code -Djdk.trackAllThreads=false} parked virtual threads that the JDK does not track are not found;
     * <li>a timer set outside of all schedulers;
     * <li>a shutdown hook or a signal handler of the program;
     * <li>a process that the program started, until it ends.
     * </ul>
     * The scheduler checks again at least once a second. {@code GMPDEBUG=deadlock=show} prints what delays the report. A thread of native
     * code that will call the program for the first time is not known. So programs that wait only for such calls need {@link #OFF}.
     */
    ON,

    /**
     * It is a deadlock under the conditions of {@link #ON}, but other threads, hooks, handlers and processes do not delay the report. Only
     * threads that are in a blocking call of this library, or left one within the last second, do. This is for programs that know that no
     * other thread wakes a goroutine.
     */
    STRICT
}
