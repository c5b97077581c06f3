// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Decides which Ms spin and for how long, and when another M is woken because the Ms that were woken before do not run yet. ({@code Wakep}
 * has the protocol.) An M spins when it searches other Ps' queues and is counted as a spinner. An M that was woken to spin is on its way
 * until it runs. A P is busy if it is neither idle nor on its way with an M.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>An M has no work, or begins to run after it was woken, and no other M spins.</td><td>The M spins.</td></tr>
 * <tr><td>Others spin, but fewer than half of the number of busy Ps, and fewer than half of the number of Ps.</td><td>The M spins, too. (Go
 * has only the limit by the busy Ps.)</td></tr>
 * <tr><td>Others spin, and one of these limits is reached.</td><td>The M does not spin.</td></tr>
 * <tr><td>Work is queued, n Ms are on their way and none spins, and the last was woken more than n times {@value #LATE} ns ago.</td><td>The
 * Ms are late, and one more M is woken. An idle CPU of a virtual machine may need some 30 µs to run an M. Each M on its way holds a P that
 * others might want. Therefore the time is multiplied by n.</td></tr>
 * <tr><td>Work is queued, Ms are on their way and none spins, and the last was woken less long ago.</td><td>No M is woken.</td></tr>
 * <tr><td>An M that was woken has a new thread.</td><td>It counts as woken {@value #NEW_THREAD} ns later.</td></tr>
 * <tr><td>An M has found no work after {@value #IN_VAIN} wake-ups in a row.</td><td>It naps: it sleeps for {@value #NAP} ns, still counted
 * as a spinner, and searches once more. Then it goes to sleep without another nap.</td></tr>
 * <tr><td>A latency policy is set.</td><td>An M spins for the policy's time to spin before it goes to sleep.</td></tr>
 * <tr><td>Under a latency policy a spinner has found work, no other P is busy, and the last stand-in was of use.</td><td>The spinner wakes
 * a stand-in, an M that spins in its place.</td></tr>
 * <tr><td>Under a latency policy a spinner has found work, no other P is busy, and the last stand-in was in vain.</td><td>The spinner wakes
 * no stand-in.</td></tr>
 * <tr><td>Under a latency policy a spinner has found work, and other Ps are busy.</td><td>The last stand-in counts as of use. If a P is
 * idle, an M is woken.</td></tr>
 * <tr><td>An M that has a stand-in runs out of work, and no spinner has found work since.</td><td>The stand-in was in vain.</td></tr>
 * <tr><td>An M that has a stand-in runs out of work, and a spinner has found work since.</td><td>The stand-in was of use.</td></tr>
 * </table>
 *
 * <p>Naps help goroutines on one P that ready each other. Such goroutines wake an M whenever none spins, and that M finds nothing. While
 * the M naps it counts as a spinner, so no other M is woken. A napping M is no slower than a spinner in Go, which also sleeps before it
 * takes from runnext.
 *
 * <p>A stand-in is of no use where a single goroutine waits repeatedly, for a short sleep or a socket, and all other Ps are idle. The
 * stand-in finds that goroutine the next time, and wakes the first M as its own stand-in. Each of these wake-ups is a system call.
 *
 * <p>An object of this class belongs to one scheduler. All Ms read and write its fields without order, because the fields are only hints.
 */
public final class Spin {
    /** The time to spin of a policy without a limit. */
    public static final long FOR_EVER = Long.MAX_VALUE;
    /** The time, ns, after which an M with a new thread is late, in addition to {@link #LATE}. */
    public static final long NEW_THREAD = 150_000;
    /** The length of a nap, ns. */
    public static final long NAP = 50_000;
    static final long LATE = 50_000;
    static final int IN_VAIN = 4;
    /** A nap resets an M's count of vain wake-ups to this number. So the M naps once for each further vain wake-up. */
    public static final int AFTER_NAP = IN_VAIN - 1;

    /** Whether a spinner has found work after an M last woke a stand-in. */
    public boolean found;
    /** Whether the last M with a stand-in ran out of work before a spinner found any. */
    public boolean inVain;

    /**
     * Returns whether so many other Ms spin that the caller does not spin.
     *
     * @param spinning the number of other Ms that spin, without those on their way
     * @param notBusy the number of Ps that are idle or on their way
     */
    public static boolean isEnough(int spinning, int procs, int notBusy) {
        return spinning != 0 && (spinning >= Math.max(1, procs / 2) || 2 * spinning >= procs - notBusy);
    }

    /**
     * Returns whether Ms that were woken are late.
     *
     * @param since the ns since the last of them was woken
     * @param n the number of these Ms
     */
    public static boolean isLate(long since, int n) {
        return since > LATE * n;
    }

    /**
     * Returns whether an M that has found nothing naps.
     *
     * @param inVain the number of times in a row that it was woken and found no work
     */
    public static boolean naps(int inVain) {
        return inVain >= IN_VAIN;
    }

    /** Returns whether a policy's time to spin, in ns, has a limit and is not 0. */
    public static boolean isLimited(long nanos) {
        return nanos != 0 && nanos != FOR_EVER;
    }

    /** Returns whether only the calling M's P is busy. */
    public static boolean isAlone(int idle, int procs) {
        return idle != 0 && idle >= procs - 1;
    }

    /** Records that an M wakes a stand-in. */
    public void begins() {
        found = false;
    }

    /** Records that a spinner has found work while other Ps are busy. A needless store would take the cache line from other CPUs. */
    public void finds() {
        if (!found || inVain) {
            found = true;
            inVain = false;
        }
    }

    /** Records that an M with a stand-in has run out of work. */
    public void ends() {
        inVain = !found;
    }
}
