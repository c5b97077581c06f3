// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Monitor;

/** What sysmon knows of an M. Only sysmon uses it; {@link #renew} is called before there is anything to see of the M. */
final class WatchedM implements Monitor.Watched {
    /** The time slice in which it told the goroutine to yield; that in which it waits for a point, and since when. */
    long preempted = -1;
    long awaited = -1;
    long awaitedSince;
    /** The time slice at the last look, and the thread's CPU time when it began. */
    private long slice = -1;
    long beganCpu;
    /** The time slice whose goroutine no point stops, and when it may lose its P, if it has had a CPU for long enough. */
    long takenSlice = -1;
    long takenAt;
    // They name the slice, the call, the goroutine or the thread that they are about, and so need not be renewed.
    final ArmPoints.Overrun overrun = new ArmPoints.Overrun();
    final Strays.Stray stray = new Strays.Stray();
    final ThreadState.Seen seen = new ThreadState.Seen();

    static WatchedM of(Machine m) {
        return (WatchedM) m.watched;
    }

    /** The M runs this slice, which began {@code age} ns ago. Until the first look at it the thread is taken to have had a CPU. */
    void began(Machine m, long name, long age, long now) {
        if (slice != name) {
            slice = name;
            beganCpu = cpu(m, now) - age;
        }
    }

    /** Whether this is the slice at the last look. */
    boolean isIn(long name) {
        return slice == name;
    }

    /** The thread's CPU time; where it cannot be read, that of a thread which always has a CPU. */
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
