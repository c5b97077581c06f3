// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Monitor;

/**
 * Sysmon's record of an M. Only sysmon uses it, except for {@link #renew}, which runs before sysmon can see the M. Time slices have the
 * numbers of {@link org.gmp4j.sched.base.SliceClock#slice}; -1 stands for none.
 */
final class WatchedM implements Monitor.Watched {
    /** The time slice in which sysmon asked the goroutine to yield. */
    long preempted = -1;
    /** The time slice in which sysmon waits for the goroutine to reach a point, and the nanoTime at which that wait began. */
    long awaited = -1;
    long awaitedSince;
    /** The time slice at the last scan, and the thread's CPU time, in ns, when that slice began. */
    private long slice = -1;
    private long beganCpu;
    /** The thread's CPU time, in ns, at the last scan, and how much of that it has used since the scan before. */
    private long lastCpu;
    private long gained;
    // Renew leaves these records as they are, because each of them names its slice, call, goroutine or thread.
    final ArmPoints.Overrun overrun = new ArmPoints.Overrun();
    final Strays.Stray stray = new Strays.Stray();
    final ThreadState.Seen seen = new ThreadState.Seen();

    static WatchedM of(Machine m) {
        return (WatchedM) m.watched;
    }

    /**
     * Records that the M runs this slice, which began {@code age} ns ago, and that its thread has used {@code cpu} ns of CPU time. If the
     * slice is new, all CPU time that the thread has used since the last scan counts for the slice, up to {@code age}. This limit also
     * bounds the error if {@code cpu} comes from another thread or clock than at the last scan.
     */
    void began(long number, long age, long cpu) {
        long least = slice == number ? beganCpu : lastCpu;
        slice = number;
        beganCpu = cpu < lastCpu ? cpu - age : Math.max(cpu - age, least);
        gained = cpu - lastCpu;
        lastCpu = cpu;
    }

    /** Returns whether the thread had a CPU for at least half of the last {@code nanos} ns, the time between the last two scans. */
    boolean hadCpu(long nanos) {
        return gained >= nanos / 2;
    }

    /** Returns the CPU time, ns, that the thread has used in the slice of the last scan until that scan. */
    long used() {
        return lastCpu - beganCpu;
    }

    /** Returns whether the last scan found the M in this slice. */
    boolean isIn(long number) {
        return slice == number;
    }

    @Override
    public void renew() {
        slice = -1;
        preempted = -1;
        awaited = -1;
        awaitedSince = 0;
        lastCpu = 0;
    }
}
