// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Decides whose turn it is on a P: that of the Gs in its runnext and ring, of the network, or of the global queue, and of which part of
 * it. The head of that queue holds the Gs that the network poller found (the polled Gs). Behind them are Gs that threads without a P have
 * started or woken, and Gs that were preempted, in the order in which they came.
 *
 * <table>
 * <caption>Rules: the first that applies counts; where none does, runnext and the ring come first</caption>
 * <tr><td>The P begins a slice whose number is a multiple of {@value #GLOBAL_FIRST}.</td><td>One G of the global queue. Go has this rule
 * only.</td></tr>
 * <tr><td>Sysmon has seen the P run others for {@value #PASSED_OVER} slices while the queue had Gs.</td><td>One G that the poller did not
 * find.</td></tr>
 * <tr><td>The same for {@value #POLLED_PASSED_OVER} slices, and there are polled Gs.</td><td>A share of the polled Gs.</td></tr>
 * <tr><td>The P begins a slice with such a number, and there are polled Gs.</td><td>The two parts of the queue take turns.</td></tr>
 * <tr><td>The P makes a switch whose number is a multiple of {@value #AHEAD}, it has made {@value #AHEAD} more since the last take by this
 * rule, and since then its other Gs have run for a part of 1/{@value #AHEAD_PART} of the least quantum.</td><td>A share of the first Gs
 * that were not preempted, ahead of {@value #MOST_PASSED} preempted ones at most.</td></tr>
 * <tr><td>The same, but its other Gs have run for less.</td><td>None of the global queue: the G that was taken may use the CPU for as long
 * as it gets it.</td></tr>
 * <tr><td>A take by that rule, the current slice is at least as old as that time, and runnext has a G.</td><td>That G goes to the global
 * queue as if it had been preempted.</td></tr>
 * <tr><td>The same, but the slice is newer.</td><td>The G goes to the end of the ring, as it has perhaps not run yet.</td></tr>
 * <tr><td>The P has no Gs, the global queue has Gs but no polled ones, and the last poll was {@value #POLL_EVERY} ns ago or
 * more.</td><td>The network, before the global queue. A poll is a system call, hence the time.</td></tr>
 * <tr><td>A P takes from the global queue.</td><td>Its share of the Gs there and one more, but at most {@value #MOST_TAKEN} and what its
 * ring has room for.</td></tr>
 * </table>
 *
 * <p>Why there are rules besides Go's. Gs of the ring come before the global queue, and polled Gs before the others in it. Either kind may
 * be numerous enough to occupy the P for good. A turn in each 61st slice is too rare where slices are long, and rarer still where a
 * goroutine inherits the slice of the one that readied it. So sysmon counts, too. Goroutines that need the CPU for long then have a ninth
 * of it, if others want the rest; with one slice for one, short requests starve as soon as there are long ones. Gs that sysmon's poll found
 * are in the queue only because the ring is never empty: an M's poll would have put them into the ring. After only one slice they would
 * overtake Gs that have waited in the ring for longer.
 *
 * <p>The rule about switches is for Gs that threads without a P start or wake. (Go has no such threads.) Two goroutines that ready each
 * other share one slice. Goroutines that timers ready each begin a new one. Where both occur, no slice lasts a quantum, so the pair is
 * never preempted and the ring is never empty. Slices are too few for the first rule, and sysmon gives the queue one turn in several
 * quanta, while more of them may arrive. Without the rule such Gs would wait for seconds, or for ever.
 *
 * <p>A G in runnext must not stay there at such a take. It would inherit the slice that begins; its successors in runnext would do so again
 * at each such take, so that no slice ended and the ring starved. At the end of the ring, goroutines that ready each other would run again
 * and again before preempted ones; a G that is new in runnext loses only the rest of an old slice.
 *
 * <p>A share is small (Go's is half a ring), because Gs in the ring of an M that has lost its CPU wait for it, and Gs that came later go
 * before them on other Ps. Larger takes would save a few locked operations for each G.
 *
 * <p>An object has the state of one P: only the P's owner uses it, but for {@link #takenAhead}.
 */
public final class Turns {
    /** {@code p.globaldue}: the global queue is not due on this P. */
    public static final int NOT_DUE = 0;
    /** {@code p.globaldue}: the P is to take one G that the poller did not find. */
    public static final int DUE = 1;
    /** {@code p.globaldue}: the P is to take a share of the Gs that the poller found. It is odd, as {@link #DUE} is. */
    public static final int POLLED_DUE = 3;
    /** The most preempted Gs that a search passes over. The search holds sched.lock, hence the limit. */
    public static final int MOST_PASSED = 64;
    /** A power of 2. */
    public static final int AHEAD = 1_024;
    /** The slices of others after which the global queue is due. */
    public static final int PASSED_OVER = 8;
    /** The most Gs that a P takes from the global queue at once, one to run and the others for its ring. */
    public static final int MOST_TAKEN = 4;
    static final int GLOBAL_FIRST = 61;
    static final int AHEAD_PART = 4;
    static final int POLLED_PASSED_OVER = 4;
    static final long POLL_EVERY = 50_000;

    /**
     * How many times this P has taken from the global queue ahead of preempted Gs. Written by the owner, read by sysmon without order. If
     * sysmon misses the last one, the preempted Gs may become due a little later.
     */
    public long takenAhead;
    /** The number of switches when {@link #isAheadAgain} last returned true. */
    private long aheadSwitches;
    /** A nanoTime since which the P has run only Gs that it did not take ahead, as far as is known. */
    private long othersSince;
    /** The number of the time slice that ran at {@link #othersSince}. */
    private int othersSlice;

    /** Makes the state of a P that has taken none. */
    public Turns(long now) {
        othersSince = now;
    }

    /**
     * Returns 0 if the global queue has its turn, else another number.
     *
     * @param slice the number of the P's time slice
     * @param due {@code p.globaldue}
     */
    public static int untilGlobal(int slice, int due) {
        return Integer.remainderUnsigned(slice, GLOBAL_FIRST) * (1 - (due & 1));
    }

    /**
     * Returns 0 if Gs that were not preempted may have their turn ahead of others, else another number.
     *
     * @param switches the number of the P's switches so far
     */
    public static int untilAhead(long switches) {
        return (int) switches & AHEAD - 1;
    }

    /**
     * Returns whether the P takes Gs that were not preempted ahead of others. The first call after one that has returned true only begins
     * to measure for how long other Gs run, because the G that was taken may have run until then.
     *
     * @param least the least quantum, ns
     * @param switches the number of the P's switches so far
     * @param slice the number of the P's time slice
     */
    public boolean isAheadAgain(long least, long switches, int slice, long now) {
        if (switches - aheadSwitches <= AHEAD) {
            othersSince = now;
            othersSlice = slice;
            return false;
        }
        if (now - othersSince < least / AHEAD_PART) {
            return false;
        }
        aheadSwitches = switches;
        return true;
    }

    /** Returns whether that time slice is still the one in which {@link #isAheadAgain} began to measure. */
    public boolean sliceLasts(int slice) {
        return slice == othersSlice;
    }

    /**
     * Returns the value of {@code p.globaldue} after a scan.
     *
     * @param passedOver for how long, in ns, the P has passed over the global queue while that had Gs
     * @param slice the length of a time slice on this P, ns
     * @param anyPolled whether the queue has Gs that the poller found
     */
    public static int due(long passedOver, long slice, boolean anyPolled) {
        return passedOver >= PASSED_OVER * slice ? DUE
                : anyPolled && passedOver >= POLLED_PASSED_OVER * slice ? POLLED_DUE : NOT_DUE;
    }

    /**
     * Returns whether the global queue's turn is that of the Gs that the poller found, if there are any. Where the turn comes by the
     * slice's number, that is a multiple of an odd number, so every second one is odd.
     *
     * @param due {@code p.globaldue}
     * @param slice the number of the P's time slice
     */
    public static boolean isOfPolled(int due, int slice) {
        return due == POLLED_DUE || due == NOT_DUE && (slice & 1) != 0;
    }

    /** Returns whether the network is polled before a G is taken from the global queue, the last poll being so many ns ago. */
    public static boolean isPollDue(long since) {
        return since >= POLL_EVERY;
    }

    /** Returns a P's fair share of {@code n} Gs. */
    public static int share(int n, int procs) {
        return n / procs + 1;
    }

    /** Returns how many of {@code n} Gs a P may take: one to run, and others for as much room as its ring has. */
    public static int most(int n, int room) {
        return Math.min(Math.min(n, MOST_TAKEN), room + 1);
    }
}
