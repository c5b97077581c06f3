// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

/**
 * When it is a deadlock that all goroutines of a scheduler are asleep: {@link Gmp.Builder#deadlockDetection(DeadlockDetection)}. A bubble
 * of {@code Synctest} has a detection of its own, whatever this says.
 *
 * <p>Constants, for any thread; nothing here waits, so there is nothing to interrupt.
 */
public enum DeadlockDetection {
    /** Never. */
    OFF,

    /**
     * When nothing outside of the scheduler could make a goroutine ready. These could, and hold the report off while they are there:
     * <ul>
     * <li>a live platform thread, daemon or not. Those that the JVM, the JDK and the runtime made for themselves do not count, unless they
     *     call the program, with events of JFR or calls of an object that is exported by RMI; nor does a thread that waits in
     *     {@link Gmp#main}, {@link Gmp#run} or {@link Gmp#call};
     * <li>a live virtual thread of another scheduler, a goroutine of another {@link Gmp}, a goroutine that waits in the JDK. Of virtual
     *     threads that the JDK does not track ({@code -Djdk.trackAllThreads=false}) those that are parked are not known;
     * <li>a timer set outside of all schedulers;
     * <li>a shutdown hook or a signal handler of the program's;
     * <li>a process that the program started, until it ends.
     * </ul>
     * It is looked at again, at least once a second. {@code GMPDEBUG=deadlock=show} prints what holds the report off. A thread of native
     * code that is to call a program back is not known before it does: {@link #OFF} is for programs that wait for such calls alone.
     */
    ON,

    /**
     * As {@link #ON}, but other threads, hooks, handlers and processes do not count: only threads that are in a blocking call of this
     * library, or left one within the last second. For programs that know that no other thread wakes a goroutine.
     */
    STRICT
}
