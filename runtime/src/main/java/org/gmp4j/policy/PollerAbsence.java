// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Decides whether an M that leaves the network poller to run a goroutine wakes another M, which then goes to the poller. While no M is in
 * the poller, a goroutine may wait for a packet that has arrived, although a P is idle. But a wake-up costs as much CPU as a short request.
 *
 * <table>
 * <caption>Rules, for an M that leaves while a P is idle</caption>
 * <tr><td>On average, Ms that left were back in the poller within {@value #SHORT} ns.</td><td>The M wakes no other M.</td></tr>
 * <tr><td>On average, Ms that left stayed away for longer.</td><td>The M wakes another M.</td></tr>
 * </table>
 *
 * <p>The average covers about {@value #MEMORY} absences, each of which counts as {@value #LONGEST} ns at most. So one long request among
 * short ones changes nothing. Sysmon's poll at its next scan finds packets that arrive during the long request.
 *
 * <p>All Ms of a scheduler read and write the average without order. A lost update does little harm.
 */
public final class PollerAbsence {
    static final long SHORT = 500_000;
    static final long LONGEST = 7_000_000;
    static final int MEMORY = 16;

    private long average;

    /** Returns whether an M that leaves the poller now, while a P is idle, wakes another M. */
    public boolean isLong() {
        return average > SHORT;
    }

    /** Adds an absence of {@code nanos} ns. It began when an M left the poller while a P was idle, and ended when that M polled again. */
    public void add(long nanos) {
        average += (Math.min(nanos, LONGEST) - average) / MEMORY;
    }
}
