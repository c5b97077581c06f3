// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Decides how long a goroutine keeps its P: the length of its time slice, and when it loses the P after the end of the slice.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>No work waits for the P.</td><td>The slice is a quantum.</td></tr>
 * <tr><td>Gs wait for the P.</td><td>The slice is so short that all of these Gs run within a quantum, but not shorter than the least
 * quantum.</td></tr>
 * <tr><td>The goroutine's thread has used less CPU time in the slice than the slice is long.</td><td>The slice is not over.</td></tr>
 * <tr><td>The slice is not over.</td><td>The goroutine runs on.</td></tr>
 * <tr><td>The slice is over, the goroutine was not asked to yield in it, and the only work is a G that was queued since the last scan and
 * that another M will probably take.</td><td>The goroutine runs on.</td></tr>
 * <tr><td>The slice is over, and the row above does not apply.</td><td>The goroutine is asked to yield.</td></tr>
 * <tr><td>No point stops the goroutine.</td><td>The goroutine loses its P when its thread has used the CPU time of {@value #UNSTOPPED}
 * slices.</td></tr>
 * <tr><td>A scan sees that a goroutine has been in a system call since an earlier scan, no work waits, and an M spins or a P is
 * idle.</td><td>The goroutine keeps its P for {@value #IN_CALL} ns, because it will probably need the P soon.</td></tr>
 * <tr><td>A scan sees such a call, but work waits, or no M spins and no P is idle, or {@value #IN_CALL} ns are over.</td><td>The goroutine
 * loses its P.</td></tr>
 * <tr><td>A slice that was not timed has begun since the last scan.</td><td>The slice is assumed to have begun halfway between the two
 * scans, but at most {@value #MAX_EARLIER} ns, and at most a quarter of the least quantum, before the second scan.</td></tr>
 * <tr><td>A goroutine ran on from one scan to the next while others waited, at most {@value #TIMED_FOR} ns ago; or the M's slices take at
 * least {@value #FEW} ns on average.</td><td>The starts of the M's slices are timed.</td></tr>
 * </table>
 *
 * <p>Slices count CPU time. While the thread waits for a CPU, preemption does not help, because the next goroutine on the P would wait as
 * long. Compilers compete for the CPUs while a server is young, and slices by the clock would then interrupt most requests. With many
 * unfinished requests and more threads the compilers get less of the CPUs, and all requests stay slow for longer.
 *
 * <p>A stray is a goroutine that runs on after its P was taken. Its thread competes for a CPU as any other thread does. The more strays
 * run, the less CPU time a goroutine gets in a second. So each further goroutine takes longer to use the CPU time after which it loses
 * its P, and on one CPU it takes about n squared slices until n goroutines that never end are strays. If the number of strays had a
 * fixed bound, the other goroutines would wait for ever once that bound is reached.
 *
 * <p>Not all slices are timed, because a read of the clock costs a notable part of a switch.
 */
public final class Slice {
    /** The time, ns, for which all slices of an M are timed after a goroutine ran on. */
    public static final long TIMED_FOR = 100_000_000;
    static final long FEW = 10_000;
    static final long MAX_EARLIER = 250_000;
    static final int UNSTOPPED = 2;
    static final long IN_CALL = 10_000_000;

    private Slice() {
    }

    /** Returns the slice, ns, with which {@code waiting} Gs all run within {@code most} ns; at least {@code least} ns. */
    public static long length(long least, long most, int waiting) {
        return Math.max(least, most / Math.max(1, waiting));
    }

    /**
     * Returns the number of Gs that wait for a P: its own, and its share of the global queue.
     *
     * @param procs the number of Ps
     */
    public static int waiting(int own, int queued, int procs) {
        return own + queued / Math.max(1, procs);
    }

    /**
     * Returns whether a goroutine runs on while work waits for its P. Once sysmon has asked it to yield, a new G in the queue no longer
     * matters.
     *
     * @param over whether its slice is over
     * @param comes whether the only work is a new G that another M will probably take
     * @param asked whether sysmon has asked it to yield in this slice
     */
    public static boolean runsOn(boolean over, boolean comes, boolean asked) {
        return !over || comes && !asked;
    }

    /**
     * Returns whether a slice of {@code slice} ns is over.
     *
     * @param used the CPU time, ns, that the goroutine's thread has used in it
     */
    public static boolean isOver(long used, long slice) {
        return used >= slice;
    }

    /** Returns whether a goroutine that no point stops loses its P. Takes the same parameters as {@link #isOver}. */
    public static boolean losesP(long used, long slice) {
        return used >= UNSTOPPED * slice;
    }

    /**
     * Returns whether a goroutine that was in the same system call at an earlier scan keeps its P.
     *
     * @param waits whether work waits for the P
     * @param others the number of Ms that spin and of Ps that are idle
     * @param since the ns since the first scan that saw the call
     */
    public static boolean keepsInCall(boolean waits, int others, long since) {
        return !waits && others > 0 && since < IN_CALL;
    }

    /**
     * Returns the age, ns, that a slice is assumed to have at a scan. The slice was not timed, and has begun since the previous scan.
     *
     * @param sinceScan the ns between the two scans
     * @param least the least quantum
     */
    public static long assumedAge(long sinceScan, long least) {
        return Math.min(sinceScan / 2, Math.min(MAX_EARLIER, least / 4));
    }

    /**
     * Returns whether the starts of an M's slices are timed from now on.
     *
     * @param sinceRanOn the ns since a goroutine ran on from one scan to the next while others waited
     * @param slices the number of slices that have begun since the last scan, {@code nanos} ago
     */
    public static boolean isTimed(long sinceRanOn, int slices, long nanos) {
        return sinceRanOn <= TIMED_FOR | slices * FEW <= nanos;
    }
}
