// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * The results of sysmon's last scan of the Ps, from which {@link Pacing} chooses the time of the next scan. Only sysmon uses this class:
 * {@code Retake} writes the fields during a scan. Times are nanoTimes.
 */
public final class Scan {
    /** The time, ns, for which sysmon expects to take a P from another system call after it has taken one. */
    static final long TOOK_FROM_SYSCALL = 20_000_000;
    /** The time, ns, for which sysmon expects to take a P from another sleeping thread after it has taken one. */
    static final long TOOK_FROM_SLEEPER = 1_000_000_000;

    /** Whether work waited for a busy P. If so, sysmon must scan again soon. */
    public boolean workWaits;
    /** Whether a P ran a goroutine or was in a system call. */
    public boolean busy;
    /** Whether the start of the slice is known for each P that runs a goroutine, so that {@link #untilOver} is exact. */
    public boolean exact;
    /** Whether a thread with a P seemed to sleep in the kernel while work waited. The second scan decides. */
    public boolean suspected;
    /** Whether a P was in a system call. */
    public boolean inSyscall;
    /** The shortest slice, in ns, of all Ps for which work waited; the quantum if there was no such P. */
    public long shortestSlice;

    /** The time of the last scan of the Ps, and of the last scan even if the Ps were left out ({@link #noneRuns}). */
    private long at;
    private long latest;
    private boolean takes;
    private long firstOver;
    private long awaited;
    private long tookFromSyscall;
    private long tookFromSleeper;

    /** Makes the result of a scan at {@code now} that found nothing. No P counts as taken recently. */
    public Scan(long now, long quantum) {
        at = now;
        latest = now;
        tookFromSyscall = now - TOOK_FROM_SYSCALL;
        tookFromSleeper = now - TOOK_FROM_SLEEPER;
        awaited = Long.MAX_VALUE;
        shortestSlice = quantum;
    }

    /** Begins a scan of the Ps. Returns the ns since the last one. */
    public long begin(long now, long quantum) {
        long since = now - at;
        at = now;
        latest = now;
        takes = false;
        firstOver = Long.MAX_VALUE;
        awaited = Long.MAX_VALUE;
        workWaits = false;
        busy = false;
        inSyscall = false;
        exact = true;
        shortestSlice = quantum;
        return since;
    }

    /** Records that the Ps were not scanned at {@code now}, because all of them are idle or the world stops. */
    public void noneRuns(long now) {
        latest = now;
        takes = false;
        awaited = Long.MAX_VALUE;
        busy = false;
        workWaits = false;
        inSyscall = false;
    }

    /** Records that a slice ends at {@code when}, or that a goroutine whose slice has ended needs a scan at that time. */
    public void endsAt(long when) {
        firstOver = Math.min(firstOver, when);
    }

    /** Records that a goroutine which was asked to yield needs a scan in {@code nanos} ns; Long.MAX_VALUE for none. */
    public void awaits(long nanos) {
        awaited = Math.min(awaited, nanos);
    }

    /** Returns whether a goroutine is being brought to a point, or a signal handler is to release a P, so that a scan is due soon. */
    public boolean asked() {
        return awaited != Long.MAX_VALUE;
    }

    /** Records that this scan took a P from a system call. */
    public void takesFromSyscall() {
        tookFromSyscall = at;
    }

    /** Records that this scan took a P from a thread that slept. */
    public void takesFromSleeper() {
        tookFromSleeper = at;
        takes = true;
    }

    /** Returns whether a P was taken from a system call within {@value #TOOK_FROM_SYSCALL} ns before the last scan. */
    public boolean tookFromSyscall() {
        return latest - tookFromSyscall < TOOK_FROM_SYSCALL;
    }

    /** Returns whether the last scan took a P from a thread that slept. */
    public boolean hasTakenFromSleeper() {
        return takes;
    }

    /** Returns whether, within {@value #TOOK_FROM_SLEEPER} ns before the last scan, a P was taken from a thread that slept. */
    public boolean tookFromSleeper() {
        return latest - tookFromSleeper < TOOK_FROM_SLEEPER;
    }

    /**
     * Returns the ns from {@code now} to the next scan that a slice needs: the end of the first slice by the clock, or the next scan of a
     * goroutine whose slice has ended by the clock already; Long.MAX_VALUE if no slice needs a scan.
     */
    public long untilOver(long now) {
        long until = firstOver == Long.MAX_VALUE ? firstOver : Math.max(0, firstOver - now);
        return Math.min(until, awaited);
    }
}
