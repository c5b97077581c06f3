// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

/**
 * The rule that decides whether a scheduler whose goroutines are all asleep is in a deadlock: {@link
 * Gmp.Builder#deadlockDetection(DeadlockDetection)}. A bubble of {@code Synctest} has a detection of its own.
 *
 * <p>Any thread may use these constants. Nothing here waits, so there is nothing to interrupt.
 */
public enum DeadlockDetection {
    /** A deadlock is never reported. */
    OFF,

    /**
     * A deadlock is reported when nothing outside of the scheduler could make a goroutine ready. Each of the following could do so, and
     * delays the report while it exists:
     * <ul>
     * <li>a live platform thread, daemon or not. Threads that the JVM, the JDK and the runtime made for themselves do not count, except
     *     threads that call the program: they deliver JFR's events, or RMI's calls of an object that the program exports. A thread that
     *     waits in {@link Gmp#main}, {@link Gmp#run} or {@link Gmp#call} does not count;
     * <li>a live virtual thread of another scheduler, a goroutine of another {@link Gmp}, or a goroutine that waits in the JDK. (With
     *     {@code -Djdk.trackAllThreads=false} the JDK does not track all virtual threads, and the runtime does not find untracked ones that
     *     are parked);
     * <li>a timer set outside of all schedulers;
     * <li>a shutdown hook or a signal handler of the program;
     * <li>a process that the program started, until it ends.
     * </ul>
     * The scheduler checks again at least once a second. {@code GMPDEBUG=deadlock=show} prints what delays the report. The runtime does not
     * know a native thread before that thread first calls the program. So a program in which all goroutines wait for such a first call
     * needs {@link #OFF}.
     */
    ON,

    /**
     * A deadlock is reported as with {@link #ON}, with two differences. Hooks, handlers and processes do not delay the report. Other
     * threads delay it only if they are in a blocking call of this library or left one within the last second. This is for programs in
     * which no other thread wakes a goroutine.
     */
    STRICT
}
