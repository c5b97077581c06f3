// SPDX-License-Identifier: Apache-2.0
/**
 * Schedulers, goroutines, channels and select: Go's model of concurrency for the JVM. {@link org.gmp4j.Gmp} is a scheduler, {@link
 * org.gmp4j.Go} has a goroutine's calls to its scheduler, and {@link org.gmp4j.Chan} and {@link org.gmp4j.Select} are Go's channels and
 * select. Locks and groups are in {@code org.gmp4j.sync}.
 *
 * <h2 id="waits">Waits</h2>
 * These rules hold for each method of this library that waits, unless its own comment says otherwise. Goroutines, virtual threads and
 * platform threads may call it. The effect of an interrupt of the waiting thread depends on the kind of thread:
 *
 * <table>
 * <caption>Interrupts of plain waits</caption>
 * <tr><th scope="col">thread<th scope="col">channels, selects, groups, conditions, semaphores, tasks<th scope="col">locks
 * <tr><th scope="row">a goroutine of {@code go}, a virtual thread of the JDK's own scheduler, a platform thread
 *     <td>nothing: the wait goes on, and the interrupt status is set afterwards<td>the same
 * <tr><th scope="row">a virtual thread that a {@code Gmp} runs, and a {@code Task} that is cancelled
 *     <td>ends the wait by a {@link org.gmp4j.WaitInterruptedException}; the status stays set<td>nothing: the wait goes on
 * </table>
 *
 * <p>An interrupt ends the forms named {@code …Interruptibly} on threads of all kinds, by an {@link java.lang.InterruptedException}, and
 * the interrupt status is cleared. A context also ends the forms named {@code …Unless}, and a time limit the forms named {@code …Within}. A
 * wait that ended early has taken, sent and received nothing.
 *
 * <p>In a bubble of {@link org.gmp4j.synctest.Synctest} the clock moves on while all goroutines of the bubble wait, each for an object of
 * the bubble or with a limit of time. Any other wait holds the clock: the clock stands still until the wait ends.
 *
 * <h2 id="locks">Waits for locks</h2> All threads may wait for a {@code Mutex}, {@code RWMutex}, {@code Once} or {@code OnceValue}. The
 * last column of the table has the effect of an interrupt. The four classes also have forms named {@code …Interruptibly}, {@code
 * …Unless} and {@code …Within}. In a bubble a wait for a lock without a limit of time holds the clock, because a goroutine outside may
 * have the lock.
 */
@NullMarked
package org.gmp4j;

import org.jspecify.annotations.NullMarked;
