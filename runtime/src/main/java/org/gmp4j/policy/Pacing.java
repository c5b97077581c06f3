// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Decides how long sysmon sleeps between two scans of the Ps. On a single CPU a scan costs two context switches and the cache misses after
 * them, which is several times sysmon's own CPU time. In a young program a scan is also interpreted. So sysmon scans when a scan may find
 * something to do: when a slice ends, or when a thread may have fallen asleep with a P.
 *
 * <table>
 * <caption>Rules: while a P runs something, the shortest of all sleeps that apply</caption>
 * <tr><td>The last scan found something to do.</td><td>{@value #MIN_SLEEP} ns.</td></tr>
 * <tr><td>A P is in a system call, and at most {@value #BUSY_SCANS} scans in a row found nothing to do.</td><td>The growing sleep ({@link
 * #grown}), not doubled.</td></tr>
 * <tr><td>A P is in a system call and more scans found nothing to do, a thread seems asleep with a P, or the start of a slice is not
 * known.</td><td>The growing sleep, doubled, {@value #MAX_SLEEP} ns at most.</td></tr>
 * <tr><td>A P runs a goroutine, and the starts of all slices are known.</td><td>Until the first slice is over by the clock.
 * </td></tr>
 * <tr><td>Work waits, and the start of a slice is not known.</td><td>Half of the shortest slice.</td></tr>
 * <tr><td>No work waits, and the start of a slice is not known.</td><td>A quarter of a quantum.</td></tr>
 * <tr><td>A P runs a goroutine, whose thread may fall asleep with it.</td><td>A light sleep: a quantum, but at least
 * {@value #WORK_SLEEP} and at most {@value #MAX_SLEEP} ns.</td></tr>
 * <tr><td>A P runs a goroutine, a thread fell asleep with a P within a second, and work waits or no P is idle.</td><td>{@value #WORK_SLEEP}
 * ns.</td></tr>
 * <tr><td>A thread seems asleep with a P while work waits.</td><td>{@value #SUSPECT_SLEEP} ns: the second scan decides.</td></tr>
 * <tr><td>A stray is being brought to a point.</td><td>{@value #WORK_SLEEP} ns.</td></tr>
 * <tr><td>A goroutine has used up its slice, and work waits.</td><td>The shorter of a quarter of a quantum and the least quantum,
 * but at least {@value #MIN_AGAIN} ns.</td></tr>
 * <tr><td>A goroutine's slice is over by the clock, but its thread has not used it up, and work waits.</td><td>The CPU time that is left,
 * but at least {@value #PROMPT} ns. If the thread had a CPU for less than half of the time since the last scan, at least the sleep of
 * the row above.</td></tr>
 * <tr><td>A goroutine has used up its quantum, and no work waits.</td><td>A quarter of a quantum, or {@value #MIN_AGAIN} ns if that is
 * longer, but at most a quantum.</td></tr>
 * <tr><td>A goroutine has used up its quantum, no work waits, a P is idle, and no thread fell asleep with a P within a second.</td><td>The
 * longer one of two sleeps: the sleep of the row above; and a quantum, but at least {@value #WORK_SLEEP} and at most {@value #CALM}
 * ns.</td></tr>
 * <tr><td>A goroutine was asked to yield less than {@value #CLOSELY} ns ago.</td><td>The shortest sleep that the last row of this table
 * allows; {@value #TRUSTED} ns if the M's last goroutine reached a point by itself.</td></tr>
 * <tr><td>A goroutine that was asked to yield is inside the runtime, or the M's signal handler is to release its P.</td><td>{@value
 * #PROMPT} ns.</td></tr>
 * <tr><td>All Ps are idle, or a thread has ended a deep sleep.</td><td>A light sleep.</td></tr>
 * <tr><td>All Ps are idle, or a thread has ended a deep sleep, and a thread fell asleep with a P within a
 * second.</td><td>{@value #WORK_SLEEP} ns.</td></tr>
 * <tr><td>All Ps were idle for a light sleep and no stray is being brought to a point, or the world is stopped.</td><td>A deep sleep:
 * {@value #DEEP_SLEEP} ns. After one that no thread ended, the next is twice as long, {@value #DEEPEST_SLEEP} ns at most.</td></tr>
 * <tr><td>A duty for which no thread wakes sysmon becomes due.</td><td>A deep sleep ends at that time.</td></tr>
 * <tr><td>A goroutine enters a system call.</td><td>The call ends a light sleep while all Ps are idle. It ends another sleep of
 * {@value #HEARD_SLEEP} ns or more if a P was taken from a system call within the last {@value Scan#TOOK_FROM_SYSCALL} ns.</td></tr>
 * <tr><td>Always, after a scan.</td><td>At least {@link #fairSleep}. Unless a thread that blocks may hold a P, also at least as long as
 * {@link ScanBudget} demands.</td></tr>
 * </table>
 *
 * <p>If the quantum is a range, sysmon's sleeps follow the least quantum, because many Gs may arrive at any time, and shorten the running
 * goroutine's slice to it.
 *
 * <p>Go's sysmon sleeps deeply as soon as all Ps are idle. In a service at low load each request would end that sleep, which costs as much
 * as a short request. So sysmon sleeps deeply only when no P ran anything for a light sleep, and sleeps lightly after a deep sleep. Then it
 * scans about once in the time of a light sleep, and few Ms have to wake it.
 */
public final class Pacing {
    /** The shortest sleep before the lower limits, ns. */
    public static final long MIN_SLEEP = 20_000;
    /** The longest sleep while a P runs something, ns. */
    public static final long MAX_SLEEP = 10_000_000;
    /** A sleep of this length comes only after many seconds in which no thread woke sysmon, so the process is idle. */
    public static final long LONG_SLEEP = 500 * MAX_SLEEP;
    /**
     * The CPU time, ns, that a scan takes in the kernel, in addition to the time that sysmon measures: two context switches, the futex, a
     * timer.
     */
    public static final long SWITCHES = 20_000;
    /** Up to this number of scans in a row without work, {@link #grown} does not double while a P is in a system call. */
    public static final int BUSY_SCANS = 50;
    /** The number of scans in a slice whose start is not known, while work waits for the P. */
    static final int SLICE_SCANS = 2;
    /** The number of scans in a quantum, while the start of the slice is not known and no work waits for the P. */
    static final int QUANTUM_SCANS = 4;
    static final long WORK_SLEEP = 500_000;
    static final long SUSPECT_SLEEP = 100_000;
    static final long HEARD_SLEEP = 100_000;
    /** The first deep sleep, ns. */
    public static final long DEEP_SLEEP = 6 * MAX_SLEEP;
    static final long DEEPEST_SLEEP = 2 * LONG_SLEEP;
    /** The longest deep sleep, ns, while there is a stray, or a deadlock whose report is held back. No thread wakes sysmon for either. */
    static final long UNRUNG_SLEEP = 100 * MAX_SLEEP;
    /**
     * The least result of {@link #again}, ns. A scan costs many times sysmon's own CPU time where sysmon shares the CPU with the goroutine.
     */
    static final long MIN_AGAIN = 250_000;
    static final long CALM = 1_000_000;
    /** A goroutine that has not yielded for this long, ns, after a preemption request probably waits for a CPU. */
    static final long CLOSELY = 500_000;
    /**
     * The ns until the scan of a goroutine that will probably reach a point by itself. With a quantum of 200 µs the next slice may be over
     * before that scan, and then lasts some 50 µs too long.
     */
    static final long TRUSTED = 250_000;
    /**
     * The ns until the next scan of a goroutine that is inside the runtime. When it leaves the runtime, it checks whether it is to yield.
     */
    public static final long PROMPT = 50_000;
    static final long MAX_FAIR_SLEEP = 200_000;
    /** The assumed number of threads that want sysmon's CPU, such as a goroutine that does not yield and compiler threads. */
    static final int OTHERS = 3;

    private Pacing() {
    }

    /**
     * Returns the sleep that grows from scan to scan, ns.
     *
     * @param last the last such sleep, ns
     * @param idle the number of scans in a row that found nothing to do
     * @param inSyscall whether a P is in a system call
     */
    public static long grown(long last, int idle, boolean inSyscall) {
        if (idle == 0) {
            return MIN_SLEEP;
        }
        return idle <= BUSY_SCANS && inSyscall ? last : Math.min(last * 2, MAX_SLEEP);
    }

    /**
     * Returns the sleep after a scan while a P runs something, ns. The lower limits are not applied yet. While a goroutine runs, the
     * assumed start of its slice must be nearly right. While no P is idle, queued work must not wait long for the P of a thread that fell
     * asleep.
     *
     * @param grown the result of {@link #grown}
     * @param foundWork whether the scan found something to do
     * @param callsStray whether a stray is being brought to a point
     * @param anyIdle whether a P is idle
     */
    public static long sleep(Scan seen, long now, long grown, boolean foundWork, boolean callsStray, long quantum,
            boolean anyIdle) {
        boolean soon = foundWork || seen.inSyscall || seen.suspected || !seen.exact;
        long usual = soon || !seen.busy ? grown : MAX_SLEEP;
        usual = callsStray ? Math.min(usual, WORK_SLEEP) : usual;
        if (seen.workWaits) {
            long most = Math.min(blocked(seen, quantum), Math.max(MIN_SLEEP, seen.untilOver(now)));
            most = seen.exact ? most : Math.min(most, Math.max(seen.shortestSlice / SLICE_SCANS, MIN_SLEEP));
            return Math.min(usual, seen.suspected ? Math.min(most, SUSPECT_SLEEP) : most);
        }
        if (!seen.busy) {
            return usual;
        }
        long most = seen.exact ? seen.untilOver(now) : quantum / QUANTUM_SCANS;
        most = Math.max(most, MIN_SLEEP);
        return Math.min(usual, Math.min(most, anyIdle ? light(quantum) : blocked(seen, quantum)));
    }

    /** Returns the length of a light sleep, ns. */
    public static long light(long quantum) {
        return Math.clamp(quantum, WORK_SLEEP, MAX_SLEEP);
    }

    /** Returns the longest time, ns, for which a thread that has fallen asleep with its P may go unnoticed. */
    public static long blocked(Scan seen, long quantum) {
        return seen.tookFromSleeper() ? WORK_SLEEP : light(quantum);
    }

    /** Returns whether a goroutine that enters a system call ends a sleep of {@code nanos} ns while a P runs something. */
    public static boolean isEndedByCalls(long nanos, boolean tookFromSyscall) {
        return nanos >= HEARD_SLEEP && tookFromSyscall;
    }

    /**
     * Returns whether sysmon sleeps deeply.
     *
     * @param idle the time for which all Ps have been idle, ns
     * @param callsStray whether a stray is being brought to a point
     */
    public static boolean isDeep(boolean worldStopped, long idle, long quantum, boolean callsStray) {
        return worldStopped || idle >= light(quantum) && !callsStray;
    }

    /**
     * Returns the length of the next deep sleep if no duty is due earlier, ns.
     *
     * @param last the length of the last deep sleep, ns
     * @param wholly whether the last sleep was a deep one that no thread ended
     */
    public static long deep(long last, boolean wholly) {
        return wholly ? Math.min(2 * last, DEEPEST_SLEEP) : DEEP_SLEEP;
    }

    /**
     * Returns the ns until the first of the duties for which no thread wakes sysmon is due.
     *
     * @param goesOn whether sysmon has begun a duty that takes several scans
     * @param due the ns until sysmon is to record the times of waits, or print the next line of schedtrace; negative if it is late
     * @param heldBack whether the report of a deadlock is held back
     * @param anyStray whether a goroutine runs without a P
     * @param bystanders the ns until the next search for bystanders, which may hold such a report back; 0 or less counts as never
     */
    public static long untilDue(boolean goesOn, long due, boolean heldBack, boolean anyStray, long bystanders) {
        long first = due;
        if (goesOn) {
            first = Math.min(first, DEEP_SLEEP);
        }
        if (heldBack || anyStray) {
            first = Math.min(first, UNRUNG_SLEEP);
        }
        if (heldBack && bystanders > 0) {
            first = Math.min(first, bystanders);
        }
        return Math.max(MIN_SLEEP, first);
    }

    /** Returns the interval, in ns, between two scans of a goroutine that has used up its slice while work waits for its P. */
    public static long again(long least, long quantum) {
        return Math.max(MIN_AGAIN, Math.min(least, alone(false, quantum)));
    }

    /**
     * Returns the ns until the next scan of a goroutine whose slice is over by the clock while work waits for its P. A thread that lost its
     * CPU only for a moment soon uses the slice up. A thread that still waits for a CPU may wait for long.
     *
     * @param left the CPU time, ns, that is left of the slice; 0 or less for none
     * @param hadCpu whether the thread had a CPU for half of the time since the last scan
     * @param again the result of {@link #again}
     */
    public static long untilUsed(long left, boolean hadCpu, long again) {
        return left <= 0 ? again : Math.max(left, hadCpu ? PROMPT : again);
    }

    /**
     * Returns the interval, in ns, between two scans of a goroutine that has used up its quantum while no work waits for its P.
     *
     * @param calm whether a P is idle, and no thread fell asleep with a P lately. The idle P runs the next G that becomes runnable. If that
     *     G keeps the P, or its thread falls asleep with it, a further G waits until the scan. So the interval is at most a millisecond,
     *     or a quarter of a quantum if that is longer
     */
    public static long alone(boolean calm, long quantum) {
        long usual = Math.min(quantum, Math.max(quantum / QUANTUM_SCANS, MIN_AGAIN));
        return calm ? Math.max(usual, Math.clamp(quantum, WORK_SLEEP, CALM)) : usual;
    }

    /**
     * Returns the ns until the next scan of a goroutine that is to yield at a point; Long.MAX_VALUE if it needs no scan. Until sysmon sees
     * that the goroutine has yielded, the check at each point slows other goroutines down.
     *
     * @param since the ns since the preemption request
     * @param trusted whether the M's previous goroutine reached a point by itself
     */
    public static long untilPoint(long since, boolean trusted) {
        return since >= CLOSELY ? Long.MAX_VALUE : trusted ? TRUSTED : 0;
    }

    /**
     * Returns the ns until the next scan of an M whose signal handler is to release its P; Long.MAX_VALUE if it needs no scan. Once the
     * handler has released the P, the P runs nothing until sysmon takes it.
     *
     * @param since the ns since the request to the handler
     */
    public static long untilReleased(long since) {
        return since >= CLOSELY ? Long.MAX_VALUE : PROMPT;
    }

    /**
     * Returns the least time, ns, that sysmon sleeps after it had a CPU for {@code awake} ns. After such a sleep the kernel gives sysmon
     * the CPU at once when it wakes up. Linux does that for a thread with short slices unless the thread is ahead of its fair share. If it
     * is ahead, the kernel decides again only at the next tick, up to 4 ms later. When n threads want the same CPU, sysmon is ahead until
     * each of them has run as long as sysmon did.
     *
     * @param urgent whether a CPU is free, such as that of a thread that blocks
     */
    public static long fairSleep(long awake, boolean urgent) {
        return Math.min((awake + SWITCHES) * (urgent ? 1 : OTHERS), MAX_FAIR_SLEEP);
    }
}
