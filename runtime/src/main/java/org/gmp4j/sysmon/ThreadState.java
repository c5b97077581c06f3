// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;

/**
 * Reads from the kernel whether an M's thread runs or sleeps ({@code /proc/self/task/TID/stat}). Only sysmon uses this class. It allocates
 * no memory and keeps no file open.
 *
 * <p>A thread is blocked in the kernel if it sleeps at two scans in a row, at least some tens of microseconds apart, with the same
 * schedtick and syscalltick. It may be in a system call, in native code, or in a pinned park of the JDK. A thread that waits for a CPU
 * counts as running. If a thread had a CPU for most of the time since the last scan, its state is not read. If it has just fallen asleep,
 * only the next scan finds it asleep. The state cannot be read when the process has no file descriptor left, or /proc
 * belongs to another PID namespace. Then a thread counts as asleep when it has used no CPU time for 10 ms.
 */
final class ThreadState {
    /** The time, ns, without CPU time after which a thread whose state cannot be read counts as asleep. */
    private static final long UNREAD_NANOS = 10_000_000;

    /** Whether a scan since the last call of {@link #suspected()} was the first to find a thread asleep. */
    private boolean suspected;

    /** The last scan of an M's thread. */
    static final class Seen {
        private long tid;
        private int schedtick;
        private int syscalltick;
        private boolean asleep;
        /** The nanoTime of the scan, and the thread's CPU time at that moment, ns. */
        private long at;
        private long cpu;
        /** The nanoTime of the last scan that found more CPU time than the scan before. */
        private long ranAt;
    }

    /**
     * Scans the M's thread. Returns whether it was asleep at this scan and at the last one, in the same time slice and without a system
     * call in between.
     */
    boolean asleep(Machine m, long now) {
        long tid = M.PROCID.get(m.mp);
        long pp = m.pp();
        if (tid == 0 || pp == 0 || M.LOCKS.getOpaque(m.mp) != 0) {
            return false;
        }
        Seen e = WatchedM.of(m).seen;
        if (e.tid != tid) { // The M has a new thread.
            e.tid = tid;
            e.at = 0;
            e.cpu = 0;
            e.ranAt = now;
            e.asleep = false;
        }
        long cpu = cpuNanos(m);
        boolean ran = cpu - e.cpu > (now - e.at) / 2; // If so, its state is not read, because reading the CPU time is far cheaper.
        if (cpu != e.cpu) {
            e.cpu = cpu;
            e.ranAt = now;
        }
        e.at = now;
        int slice = P.SCHEDTICK.getOpaque(pp);
        int calls = P.SYSCALLTICK.getOpaque(pp);
        boolean before = e.asleep && e.schedtick == slice && e.syscalltick == calls;
        e.schedtick = slice;
        e.syscalltick = calls;
        e.asleep = !ran && !runs(tid, now - e.ranAt);
        suspected |= e.asleep && !before;
        return before && e.asleep;
    }

    /** Returns whether the thread was asleep at the last scan, even if that was the first scan to find it asleep. */
    static boolean slept(Machine m) {
        return WatchedM.of(m).seen.asleep;
    }

    /**
     * Returns whether a thread has a CPU or waits for one.
     *
     * @param nanos the time, ns, for which the thread has used no CPU time. If its state cannot be read, this time decides
     */
    private static boolean runs(long tid, long nanos) {
        int state = OsThread.state((int) tid);
        return state == 'R' || state < 0 && nanos < UNREAD_NANOS;
    }

    /** Returns whether a scan since the last call was the first to find a thread asleep, so that the second scan should come soon. */
    boolean suspected() {
        boolean was = suspected;
        suspected = false;
        return was;
    }

    /** Returns the CPU time of the M's thread in ns; 0 when it cannot be read, for example because the thread has ended. */
    static long cpuNanos(Machine m) {
        return Math.max(0, OsThread.cpuNanos((int) M.PROCID.get(m.mp)));
    }
}
