package org.gmp4j.proc;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.HashMap;
import java.util.Map;

import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;

/**
 * What the kernel says of an M's thread: {@code /proc/self/task/TID/stat}. For sysmon alone.
 *
 * <p>A thread that is asleep at two looks in a row, some tens of microseconds apart or more, with the same schedtick is blocked
 * in the kernel: in a system call, in native code, in a JDK park that is pinned. A thread that merely waits for a CPU is
 * running. One that had a CPU for most of the time since the last look is not asked for, so that it may have fallen asleep a look
 * earlier.
 */
final class ThreadState {
    private static final int STAT_BYTES = 512;
    private static final int LEAST_FILES = 16;

    private final Map<Long, Entry> entries = new HashMap<>();
    private final byte[] buf = new byte[STAT_BYTES];
    private boolean suspected;

    private static final class Entry {
        RandomAccessFile stat;
        int schedtick;
        boolean asleep;
        /** The last look, and the thread's CPU time then. */
        long at;
        long cpu;
    }

    /** Whether the thread was asleep at this look and at the last, in the same time slice. */
    boolean asleep(Machine m, long now) {
        long tid = M.procid(m.mp);
        long pp = m.attachedP();
        if (tid == 0 || pp == 0 || M.locksOpaque(m.mp) != 0) {
            return false;
        }
        Entry e;
        try {
            e = entry(m, tid);
        } catch (OutOfMemoryError noMemory) {
            return false;
        }
        long cpu = cpuNanos(m);
        boolean ran = cpu - e.cpu > (now - e.at) / 2; // Then the state, which takes ten times as long to ask for, is R.
        e.cpu = cpu;
        e.at = now;
        boolean before = e.asleep && e.schedtick == P.schedtickOpaque(pp);
        e.schedtick = P.schedtickOpaque(pp);
        e.asleep = !ran && state(tid, e) != 'R';
        suspected |= e.asleep && !before;
        return before && e.asleep;
    }

    /** Whether the thread has a CPU or waits for one. */
    boolean runs(Machine m) {
        long tid = M.procid(m.mp);
        return tid != 0 && state(tid, entry(m, tid)) == 'R';
    }

    private Entry entry(Machine m, long tid) {
        if (entries.size() >= Math.max(LEAST_FILES, 2 * m.s.gomaxprocs())) {
            close(); // Most are of threads that have ended; the others are opened again.
        }
        return entries.computeIfAbsent(tid, _ -> new Entry());
    }

    /** Whether a thread was found asleep for the first time since this was last asked: the second look should come soon. */
    boolean suspected() {
        boolean was = suspected;
        suspected = false;
        return was;
    }

    /** The state letter; R when it cannot be read. */
    private char state(long tid, Entry e) {
        try {
            if (e.stat == null) {
                e.stat = new RandomAccessFile("/proc/self/task/" + tid + "/stat", "r");
            }
            e.stat.seek(0);
            int n = e.stat.read(buf);
            for (int i = n - 1; i > 0; i--) {
                if (buf[i] == ')') {
                    return i + 2 < n ? (char) buf[i + 2] : 'R'; // The name in parentheses may hold anything.
                }
            }
            return 'R';
        } catch (IOException ex) {
            close(tid);
            return 'R';
        } catch (OutOfMemoryError noMemory) {
            return 'R';
        }
    }

    /** The CPU time of the thread in nanoseconds; 0 when it has ended, or there is no memory for the call. */
    static long cpuNanos(Machine m) {
        try {
            return OsThread.cpuNanos((int) M.procid(m.mp));
        } catch (NativeException | OutOfMemoryError e) {
            return 0;
        }
    }

    private void close(long tid) {
        Entry e = entries.remove(tid);
        if (e != null && e.stat != null) {
            try {
                e.stat.close();
            } catch (IOException ex) {
                // Nothing was written.
            }
        }
    }

    /** Closes all files. */
    void close() {
        for (Long tid : entries.keySet().toArray(Long[]::new)) {
            close(tid);
        }
    }
}
