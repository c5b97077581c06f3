// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import org.gmp4j.ffi.OsThread;
import org.gmp4j.proc.Machine;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;

/**
 * What the kernel says of an M's thread: {@code /proc/self/task/TID/stat}. For sysmon alone; takes no memory and keeps no file
 * open.
 *
 * <p>A thread that is asleep at two looks in a row, some tens of microseconds apart or more, with the same schedtick and syscalltick is
 * blocked in the kernel: in a system call, in native code, in a JDK park that is pinned. A thread that merely waits for a CPU is
 * running. The state of a thread that had a CPU for most of the time since the last look is not read; so it may have fallen asleep a
 * look earlier than it seems. Where the state cannot be read, because the process has no descriptor to spare, or /proc is that of
 * another PID namespace, a thread counts as asleep when it had no CPU time at all for 10 ms.
 */
final class ThreadState {
    /** A thread whose state cannot be read counts as asleep after this long without any CPU time. */
    private static final long UNREAD_NANOS = 10_000_000;

    private boolean suspected;

    /** The last look at an M's thread. */
    static final class Seen {
        private long tid;
        private int schedtick;
        private int syscalltick;
        private boolean asleep;
        /** When it was, and the thread's CPU time then. */
        private long at;
        private long cpu;
        /** The last look by which it had had more of that than before. */
        private long ranAt;
    }

    /** Whether the thread was asleep at this look and at the last, in the same time slice and without a system call between. */
    boolean asleep(Machine m, long now) {
        long tid = M.PROCID.get(m.mp);
        long pp = m.attachedP();
        if (tid == 0 || pp == 0 || M.LOCKS.getOpaque(m.mp) != 0) {
            return false;
        }
        Seen e = WatchedM.of(m).seen;
        if (e.tid != tid) { // An M that was free has a new thread.
            e.tid = tid;
            e.at = 0;
            e.cpu = 0;
            e.ranAt = now;
            e.asleep = false;
        }
        long cpu = cpuNanos(m);
        boolean ran = cpu - e.cpu > (now - e.at) / 2; // Then the state, which takes twenty times as long to ask for, is R.
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

    /** Whether it was asleep at the last look, be it the first that found so. */
    static boolean slept(Machine m) {
        return WatchedM.of(m).seen.asleep;
    }

    /** Whether the thread has a CPU or waits for one. */
    static boolean runs(Machine m) {
        long tid = M.PROCID.get(m.mp);
        return tid != 0 && runs(tid, 0);
    }

    /** Where that cannot be read: unless it has had no CPU for so long. */
    private static boolean runs(long tid, long nanos) {
        int state = OsThread.state((int) tid);
        return state == 'R' || state < 0 && nanos < UNREAD_NANOS;
    }

    /** Whether a thread was found asleep for the first time since this was last asked: the second look should come soon. */
    boolean suspected() {
        boolean was = suspected;
        suspected = false;
        return was;
    }

    /** The CPU time of the thread in nanoseconds; 0 when it has ended. */
    static long cpuNanos(Machine m) {
        return Math.max(0, OsThread.cpuNanos((int) M.PROCID.get(m.mp)));
    }
}
