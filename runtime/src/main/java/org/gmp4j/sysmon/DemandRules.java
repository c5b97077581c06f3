// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.Collections;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * When a class gets points on demand: values in, a decision out. {@link Demand} asks, and does what these say.
 *
 * <p>A <em>sample</em> is a look at a goroutine that has overrun its quantum and that no point can stop: the innermost method on its stack
 * that would have points.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>The compilers had more than one part in {@value #COMPILING} of a CPU since they were last looked at, which is at least
 * {@value #SETTLING} ns ago: the program is not settled.</td><td>Samples do not count. Code that is not compiled yet overruns everywhere,
 * once.</td></tr>
 * <tr><td>{@value #SAMPLES} samples of a class within {@value #WINDOW} ns, each after {@value #SPACING} ns more of the thread's CPU
 * time.</td><td>The class is to have points. A thread whose CPU was taken from it shows the same method again and again, but uses no CPU
 * time meanwhile.</td></tr>
 * <tr><td>A goroutine or thread has a method of the class on its stack, and no search was made before, or it had one then too.</td>
 * <td>Later: after
 * {@value #FIRST_RETRY} ns, doubled up to {@value #LAST_RETRY} ns, {@value #RETRIES} times in all. A call that began before its class
 * was transformed goes on in the old method, which HotSpot interprets and never compiles again; so calls that last must not be under
 * way.</td></tr>
 * <tr><td>{@value #BURST} pauses were made, less one for each {@value #EVERY} ns that have passed.</td><td>No more now: each stops all
 * threads for some milliseconds.</td></tr>
 * </table>
 */
final class DemandRules {
    static final int COMPILING = 4;
    static final long SETTLING = 1_000_000_000;
    static final int SAMPLES = 3;
    static final long WINDOW = 10_000_000_000L;
    static final long SPACING = 1_000_000;
    static final long FIRST_RETRY = 50_000_000;
    static final long LAST_RETRY = 10_000_000_000L;
    static final int RETRIES = 20;
    static final int BURST = 4;
    static final long EVERY = 10_000_000_000L;

    // All fields belong to the thread of Demand.
    private long compilersAt;
    private long compilers;
    private boolean looked;
    private boolean settled;
    /** Before this there is no pause; in the past by as much as pauses are saved up. Set by the first one. */
    private long nextPause;
    private boolean everPaused;

    /** The samples of one method. */
    static final class Samples {
        private int count;
        private long first;

        /** Counts a sample; true when the class is to have points. */
        boolean add(long now) {
            if (count == 0 || now - first > WINDOW) {
                count = 0;
                first = now;
            }
            return ++count >= SAMPLES;
        }

        void clear() {
            count = 0;
        }
    }

    /** Whether it is time to read what CPU time the compilers have had. */
    boolean readsCompilers(long now) {
        return !looked || now - compilersAt >= SETTLING;
    }

    /** What CPU time they have had since they began, ns; 0 where there are none: interpreted code with points takes five times as long. */
    void compilersHad(long cpuNanos, long now) {
        settled = looked && cpuNanos > 0 && (cpuNanos - compilers) * COMPILING <= now - compilersAt;
        looked = true;
        compilers = cpuNanos;
        compilersAt = now;
    }

    boolean settled() {
        return settled;
    }

    /** Whether another pause may be made now. */
    boolean mayPause(long now) {
        return !everPaused || now - nextPause >= 0;
    }

    /** When the next one may be made, by nanoTime, where {@link #mayPause} has said no. */
    long nextPause() {
        return nextPause;
    }

    /** A pause was made. */
    void paused(long now) {
        long mostSaved = now - (BURST - 1) * EVERY;
        nextPause = (everPaused ? Math.max(nextPause, mostSaved) : mostSaved) + EVERY;
        everPaused = true;
    }

    /**
     * Whether no call of a class's methods lasts.
     *
     * @param holders the goroutines and threads that have one on their stacks
     * @param before those that had one at the search before; null when there was none
     */
    static boolean isFree(Set<Long> holders, @Nullable Set<Long> before) {
        return holders.isEmpty() || before != null && Collections.disjoint(holders, before);
    }

    /** How long after a stack was found to hold the class it is looked for again, ns; -1 for never. */
    static long retryAfter(int retries) {
        return retries >= RETRIES ? -1 : Math.min(FIRST_RETRY << Math.min(retries, 10), LAST_RETRY);
    }
}
