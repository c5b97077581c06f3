// SPDX-License-Identifier: Apache-2.0
/**
 * {@code gmp replay}: runs the production classes of the scheduler under schedules that a number names.
 *
 * <p>{@link org.gmp4j.bench.replay.Rewriter} loads the classes a second time, with a call of {@link org.gmp4j.bench.replay.World} before
 * each access to a word that threads share. The simulated threads ({@link org.gmp4j.bench.replay.Lane}) are continuations, of which one
 * real thread runs one at a time ({@link org.gmp4j.bench.replay.Run}). Before each access a {@link
 * org.gmp4j.bench.replay.Strategy} chooses the lane that goes on. Clock, futexes, thread starts and the JDK's parks are simulated too.
 *
 * <p>A schedule is an interleaving, and stores take effect in its order. Under the strategy {@code stores} a store reaches memory later, as
 * on x86 ({@link org.gmp4j.bench.replay.StoreBuffer}): a missing full fence is found. Jcstress is for the fences that other CPUs need.
 */
package org.gmp4j.bench.replay;
