// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

/**
 * How much CPU time sysmon may take while other threads want the CPUs: {@link #PART} of each quantum, and a fiftieth where the quantum is
 * 10 ms or longer. In a young program a look is interpreted, and takes twenty times as long as later.
 *
 * <p>What it does not take it may take later, as much as a quantum's part: so the looks that bring a goroutine to a point follow each other
 * closely.
 */
final class LookBudget {
    /** So much CPU time it takes in each quantum, ns: a fiftieth of 10 ms. */
    static final long PART = 200_000;
    static final long LONGEST_QUANTUM = 50 * PART;
    /** The longest sleep that it asks for, ns: a thread asleep, which loses its P at the second look at it, keeps it for 5 ms at most. */
    static final long LONGEST = 4_500_000;

    private final long quantum;
    /** How much longer sysmon had to sleep at {@link #at}, ns; negative where it had slept for longer. Sysmon's, as the next. */
    private long owed;
    private long at;

    /**
     * A budget that has all of a quantum's part left.
     *
     * @param quantum the shortest time slice, ns
     */
    LookBudget(long quantum, long now) {
        this.quantum = Math.clamp(quantum, PART, LONGEST_QUANTUM);
        owed = -this.quantum;
        at = now;
    }

    /**
     * After a look.
     *
     * @param cpu the CPU time that it took, ns
     * @return how long it has to sleep now, ns
     */
    long owes(long cpu, long now) {
        long left = Math.max(owed - (now - at), -quantum);
        owed = Math.min(left + cpu * (quantum / PART), LONGEST);
        at = now;
        return Math.max(0, owed);
    }
}
