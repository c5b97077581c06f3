// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Limits the CPU time that sysmon takes while other threads want the CPUs. The limit matters in a young program, where a scan is
 * interpreted and takes much longer than later. Only sysmon uses this class.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>Scans follow each other.</td><td>In a time as long as the shortest slice they take at most {@value #PART} ns of CPU time. If that
 * slice is {@value #LONGEST_QUANTUM} ns or longer, they take at most a hundredth of a CPU. The rows below say when they take
 * more.</td></tr>
 * <tr><td>Sysmon has taken less than it may.</td><td>It may take the rest later, up to {@value #SAVED} times {@value #PART} ns.</td></tr>
 * <tr><td>For less than {@value Pacing#CLOSELY} ns a goroutine that was asked to yield is being brought to a point, or an M's signal
 * handler is to release its P.</td><td>The next scan is charged, but not delayed. If work waits for many Ps, sysmon may take a quarter of
 * a CPU.</td></tr>
 * <tr><td>A scan has taken a P from a thread that slept.</td><td>The budget is unused again, because the P runs work that would have
 * waited. Where threads fall asleep all the time, sysmon may take a quarter of a CPU.</td></tr>
 * <tr><td>Sysmon has taken more than it may.</td><td>It sleeps for {@value Pacing#MAX_SLEEP} ns at most, because a thread may have fallen
 * asleep with a P, and work may wait for a goroutine that has used up its slice.</td></tr>
 * </table>
 */
public final class ScanBudget {
    /** The CPU time that sysmon may take in each quantum, ns: a hundredth of 10 ms. */
    static final long PART = 100_000;
    /** The number of quanta for which sysmon can save up the time that it has not taken. */
    static final int SAVED = 2;
    static final long LONGEST_QUANTUM = 100 * PART;

    private long quantum;
    /** The time that sysmon still had to sleep at {@link #at}, ns; negative if it had slept for longer than necessary. */
    private long owed;
    /** The nanoTime of the last scan's end. */
    private long at;

    /**
     * Makes an unused budget.
     *
     * @param quantum the shortest time slice, ns
     */
    public ScanBudget(long quantum, long now) {
        setQuantum(quantum);
        renew(now);
    }

    /** Makes the budget unused. */
    public void renew(long now) {
        owed = -SAVED * quantum;
        at = now;
    }

    /** Sets the shortest time slice, ns, for the scans from now on. */
    public void setQuantum(long shortest) {
        quantum = Math.clamp(shortest, PART, LONGEST_QUANTUM);
    }

    /**
     * Charges a scan to the budget.
     *
     * @param cpu the CPU time that the scan took, ns
     * @param asked whether the next scan follows a request to yield ({@link Scan#asked})
     * @return how long sysmon has to sleep now, ns
     */
    public long owes(long cpu, boolean asked, long now) {
        long left = Math.max(owed - (now - at), -SAVED * quantum);
        owed = Math.min(left + cpu * (quantum / PART), Pacing.MAX_SLEEP);
        at = now;
        return asked ? 0 : Math.max(0, owed);
    }
}
