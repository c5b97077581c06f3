// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

/**
 * Limits the CPU time that sysmon takes while other threads want the CPUs: to {@link #PART} in each quantum, and to a fiftieth of a CPU
 * where the quantum is 10 ms or longer. The limit matters in a young program, where a scan is interpreted and takes much longer than later.
 *
 * <p>Sysmon may use CPU time that it has not taken later, up to {@link #PART}. So the scans that bring a goroutine to a point can follow
 * each other closely. Only sysmon uses this class.
 */
final class LookBudget {
    /** The CPU time that sysmon may take in each quantum, ns: a fiftieth of 10 ms. */
    static final long PART = 200_000;
    static final long LONGEST_QUANTUM = 50 * PART;
    /**
     * The longest sleep that the budget demands, ns. A thread that sleeps in the kernel loses its P at the second scan, and so keeps it for
     * 5 ms at most.
     */
    static final long LONGEST = 4_500_000;

    private long quantum;
    /** How much longer sysmon had to sleep at {@link #at}, ns; negative if it had slept for longer than it had to. */
    private long owed;
    /** The nanoTime of the last scan's end. */
    private long at;

    /**
     * Makes a budget of which nothing is used.
     *
     * @param quantum the shortest time slice, ns
     */
    LookBudget(long quantum, long now) {
        setQuantum(quantum);
        owed = -this.quantum;
        at = now;
    }

    /** Sets the shortest time slice, ns, for the scans from now on. */
    void setQuantum(long shortest) {
        quantum = Math.clamp(shortest, PART, LONGEST_QUANTUM);
    }

    /**
     * Charges a scan to the budget.
     *
     * @param cpu the CPU time that the scan took, ns
     * @return how long sysmon has to sleep now, ns
     */
    long owes(long cpu, long now) {
        long left = Math.max(owed - (now - at), -quantum);
        owed = Math.min(left + cpu * (quantum / PART), LONGEST);
        at = now;
        return Math.max(0, owed);
    }
}
