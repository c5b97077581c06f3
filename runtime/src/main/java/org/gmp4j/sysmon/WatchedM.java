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
    long beganCpu;
    /** The time slice whose goroutine no point stops, and the nanoTime from which it may lose its P if it has had enough CPU time. */
    long takenSlice = -1;
    long takenAt;
    // Each of these records has the slice, the call, the goroutine or the thread that it is about, and so need not be renewed.
    final ArmPoints.Overrun overrun = new ArmPoints.Overrun();
    final Strays.Stray stray = new Strays.Stray();
    final ThreadState.Seen seen = new ThreadState.Seen();

    static WatchedM of(Machine m) {
        return (WatchedM) m.watched;
    }

    /**
     * Records that the M runs this slice, which began {@code age} ns ago. The thread is assumed to have had a CPU from then until the first
     * scan that sees the slice.
     */
    void began(Machine m, long name, long age, long now) {
        if (slice != name) {
            slice = name;
            beganCpu = cpu(m, now) - age;
        }
    }

    /** Returns whether the last scan found the M in this slice. */
    boolean isIn(long name) {
        return slice == name;
    }

    /** Returns the thread's CPU time, ns, or, if it cannot be read, {@code now}, as if the thread always had a CPU. */
    static long cpu(Machine m, long now) {
        long cpu = ThreadState.cpuNanos(m);
        return cpu == 0 ? now : cpu;
    }

    @Override
    public void renew() {
        slice = -1;
        preempted = -1;
        awaited = -1;
        awaitedSince = 0;
        takenSlice = -1;
        takenAt = 0;
    }
}
