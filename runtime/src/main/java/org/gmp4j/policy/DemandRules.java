// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Decides when a class gets preemption points on demand. The methods compute a decision from values; {@code Demand} reads the values and
 * carries the decision out.
 *
 * <p>A <em>sample</em> is taken when a goroutine has overrun its quantum and no point can stop it. The sample is the innermost method on
 * its stack that can get points. A <em>pause</em> is a transformation of classes, which stops all threads.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>The compilers have had a CPU, or waited for one, for more than 1/{@value #COMPILING} of the time since their times were last
 * read, at least {@value #SETTLING} ns ago: the program is not settled.</td><td>Samples do not count. Code that is not compiled yet may
 * overrun once in any method.</td></tr>
 * <tr><td>There were {@value #SAMPLES} samples of a method within {@value #WINDOW} ns. Between two samples of an overrun the thread used
 * {@value #SPACING} ns of CPU time.</td><td>The method is <em>hot</em>, and its class is to have points. (A thread that has lost its CPU
 * shows the same method in each sample, but it uses no CPU time. A goroutine that has just returned from a hot method shows the caller,
 * which by chance happens once, but hardly {@value #SAMPLES} times.)</td></tr>
 * <tr><td>Two searches, {@value #SECOND_SEARCH} ns apart, find the same method of the class on the stack of the same goroutine or thread:
 * its call is <em>long</em>.</td><td>There is no transformation, because a running call stays in the old method, which HotSpot interprets
 * and never compiles again. Two other searches follow after {@value #FIRST_RETRY} ns. If these find a long call too, the time doubles, up
 * to {@value #LAST_RETRY} ns. There are {@value #RETRIES} retries in all.</td></tr>
 * <tr><td>No long call is in a hot method, or in a method with a counted loop inside another loop. And a profile of the threads in the
 * long calls, of some {@value #PROFILE} samples, shows the method of a long call as the innermost one in at most one sample in
 * {@value #OWN}. The other samples show a callee.</td><td>Long calls of these methods do not keep the class from its points, because
 * their callees are compiled. An example is the loop of a server, which reads a request, calls the handler and answers. Two more searches
 * must find no long call of another method.</td></tr>
 * <tr><td>A search did not reach all stacks.</td><td>Two other searches follow, as after a long call.</td></tr>
 * <tr><td>{@value #PREPARING} ns have passed since the start.</td><td>The classes of points are initialised, while the program most likely
 * has memory for them. A start does not wait for them, and its first requests do not either.</td></tr>
 * <tr><td>The number of pauses, less one for each {@value #EVERY} ns that have passed, is {@value #BURST}.</td><td>There is no pause now,
 * because each pause stops all threads for some milliseconds.</td></tr>
 * </table>
 */
public final class DemandRules {
    static final long PREPARING = 10_000_000_000L;
    static final int COMPILING = 4;
    static final long SETTLING = 1_000_000_000;
    public static final int SAMPLES = 3;
    static final long WINDOW = 10_000_000_000L;
    public static final long SPACING = 1_000_000;
    public static final long SECOND_SEARCH = 50_000_000;
    static final long FIRST_RETRY = 50_000_000;
    static final long LAST_RETRY = 10_000_000_000L;
    static final int RETRIES = 20;
    public static final int PROFILE = 256;
    static final int OWN = 128;
    static final int BURST = 4;
    static final long EVERY = 10_000_000_000L;

    // Only Demand's thread uses the fields.
    /** The nanoTime at which the compilers' times were last read. */
    private long compilersAt;
    /** The sum of these times, ns. The next field says whether they were ever read. */
    private long compilers;
    private boolean looked;
    private boolean settled;
    /** The nanoTime before which there is no pause, less {@link #EVERY} ns for each pause that is saved up. The first pause sets it. */
    private long nextPause;
    private boolean everPaused;

    /** The step that follows a search. */
    public enum Step {
        /** The class gets its points. */
        GIVE,
        /** Another search, to find the calls that are long. */
        SEARCH,
        /** A profile of the long calls. */
        PROFILE,
        /** Two other searches later. */
        LATER
    }

    /** The samples of one class. */
    public static final class Samples {
        private final Map<String, Recent> recent = new HashMap<>();
        private final Set<String> hot = new HashSet<>();

        /** Counts a sample of a method. Returns whether it completes {@link #SAMPLES} samples, which make the method hot. */
        public boolean add(String method, long now) {
            Recent r = recent.get(method);
            if (r == null) {
                r = new Recent();
                recent.put(method, r);
            }
            boolean enough = r.add(now);
            if (enough) {
                boolean _ = hot.add(method);
            }
            return enough;
        }

        /** Returns the names of the hot methods. */
        public Set<String> hot() {
            return Collections.unmodifiableSet(hot);
        }
    }

    /** The samples of one method. */
    private static final class Recent {
        private int count;
        /** The nanoTime of the first sample. */
        private long first;

        boolean add(long now) {
            if (count >= SAMPLES || now - first > WINDOW) {
                count = 0;
            }
            if (count++ == 0) {
                first = now;
            }
            return count >= SAMPLES;
        }
    }

    /**
     * Returns the time, ns, until the classes of points are initialised; 0 or less if that is due.
     *
     * @param since the nanoTime of the start, or of the last attempt, which found no memory
     */
    public static long untilPreparing(long now, long since) {
        return since + PREPARING - now;
    }

    /** Returns whether it is time to read the compilers' times. */
    public boolean readsCompilers(long now) {
        return !looked || now - compilersAt >= SETTLING;
    }

    /**
     * Decides from the compilers' times whether the program is settled. On a busy CPU compilers get little, and wait instead.
     *
     * @param wanted how long the compilers have ever had a CPU or waited for one, ns. It is 0 where there are no compilers; then the
     *     program never counts as settled, because points slow interpreted code down considerably
     */
    public void compilersWanted(long wanted, long now) {
        settled = looked && wanted > 0 && (wanted - compilers) * COMPILING <= now - compilersAt;
        looked = true;
        compilers = wanted;
        compilersAt = now;
    }

    public boolean settled() {
        return settled;
    }

    /** Returns whether another pause may be made now. */
    public boolean mayPause(long now) {
        return !everPaused || now - nextPause >= 0;
    }

    /** Returns the nanoTime from which another pause may be made. Called when {@link #mayPause} has returned false. */
    public long nextPause() {
        return nextPause;
    }

    /** Counts a pause. */
    public void paused(long now) {
        long mostSaved = now - (BURST - 1) * EVERY;
        nextPause = (everPaused ? Math.max(nextPause, mostSaved) : mostSaved) + EVERY;
        everPaused = true;
    }

    /**
     * Returns what follows a search.
     *
     * @param whole whether it has searched all stacks
     * @param second whether it is the second of two searches
     * @param none whether it has found no call: the first search no call of the class, the second no long call
     * @param hot whether a long call is one that must not be under way when the class gets its points
     * @param profiled whether profiles have found that all long calls may stay in their old methods
     */
    public static Step after(boolean whole, boolean second, boolean none, boolean hot, boolean profiled) {
        if (!whole) {
            return Step.LATER;
        }
        if (none) {
            return Step.GIVE;
        }
        if (!second) {
            return Step.SEARCH;
        }
        return hot ? Step.LATER : profiled ? Step.GIVE : Step.PROFILE;
    }

    /**
     * Returns whether long calls may stay in old methods, because hardly any CPU time is spent in these methods.
     *
     * @param ran the number of samples of the threads that make the calls
     * @param own the number of samples in which the method of a long call was the innermost one
     */
    public static boolean mayStay(int ran, int own) {
        return (long) own * OWN <= ran;
    }

    /** Returns the time, ns, until the next two searches for a class that did not get its points; -1 if there is no next search. */
    public static long retryAfter(int retries) {
        return retries >= RETRIES ? -1 : Math.min(FIRST_RETRY << Math.min(retries, 10), LAST_RETRY);
    }
}
