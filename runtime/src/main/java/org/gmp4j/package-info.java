// SPDX-License-Identifier: Apache-2.0
/**
 * Schedulers, goroutines, channels and select: Go's model of concurrency for the JVM. {@link org.gmp4j.Gmp} is a scheduler, {@link
 * org.gmp4j.Go} has what a goroutine says to its own, {@link org.gmp4j.Chan} and {@link org.gmp4j.Select} are Go's, and locks and
 * groups stand in {@code org.gmp4j.sync}.
 *
 * <h2 id="waits">Waits</h2>
 * What holds for every method of this library that waits, unless its own comment says otherwise. Goroutines, virtual threads and platform
 * threads may call it. What an interrupt of the waiting thread does depends on the kind of thread:
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
 * <p>Forms named {@code …Interruptibly} are ended on threads of all kinds, by an {@link java.lang.InterruptedException}; the status is
 * cleared. Forms named {@code …Unless} are ended by a context as well, and those named {@code …Within} by a time. A wait that was ended
 * has taken, sent and received nothing.
 *
 * <p>In a bubble of {@link org.gmp4j.synctest.Synctest} the clock moves on while all of its goroutines wait, for what belongs to the
 * bubble or with a limit of time. A wait for anything else holds the clock.
 *
 * <h2 id="locks">Waits for locks</h2>
 * The same for {@code Mutex}, {@code RWMutex} and {@code Once}: all threads may wait for them. What an interrupt does stands in the
 * last column above. In a bubble a wait for a lock without a limit of time holds the clock, as somebody outside may have the lock.
 */
@NullMarked
package org.gmp4j;

import org.jspecify.annotations.NullMarked;
