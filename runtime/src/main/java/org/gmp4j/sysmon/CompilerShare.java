// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.affinity.OwnCgroup;
import org.gmp4j.ffi.CompilerThreads;
import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.struct.M;
import org.gmp4j.sysmon.CompilerRules.Way;

/**
 * Lets the JVM's compilers give way to all other threads while a program starts, and gives them their share back when {@link
 * CompilerRules} say so. Where CPUs are few, compilers of equal weight take half of them while requests wait, and much of what they
 * compile then is code of the start that does not come again.
 *
 * <p>A thread of its own does it, which ends with that. A compiler thread that the JVM starts meanwhile is started by another one and
 * inherits its nice value, as any thread does; so do the threads and processes that the program starts after all its threads were given
 * the compilers' value.
 */
public final class CompilerShare implements Runnable {
    /** How often all threads are looked through, so that those which others started meanwhile are found. */
    private static final int PASSES = 10;

    private final Scheduler s;
    private final CompilerRules rules = new CompilerRules();
    /** For how long each compiler thread had waited for a CPU at the last look, by its id. */
    private Map<Integer, Long> waited = new HashMap<>();
    /** How long the Ms had run or waited for a CPU at the last look, ns. */
    private long ms;

    private CompilerShare(Scheduler s) {
        this.s = s;
    }

    /** From here on, if that can be undone, for the life of this scheduler at the longest. Once a process. */
    public static void begin(Scheduler s) {
        Thread t = new Thread(null, new CompilerShare(s), "gmp-compilers", 0, false);
        t.setDaemon(true);
        try {
            t.start();
        } catch (OutOfMemoryError e) {
            return; // No thread is to be had: the compilers keep their share.
        }
    }

    @Override
    public void run() {
        Way way = CompilerRules.way(mayLowerNice(), OwnCgroup.isOwn());
        int[] ids = CompilerThreads.ids();
        int usual = ids.length == 0 ? Integer.MIN_VALUE : CompilerThreads.nice(ids[0]);
        if (way == Way.NONE || !CompilerThreads.isNice(usual)) {
            return;
        }
        int less = CompilerRules.giveWay(usual);
        setCompilers(less);
        try {
            watch();
        } finally { // Also when there is no memory.
            if (way == Way.BACK) {
                setCompilers(usual);
            } else {
                setOthers(less);
            }
        }
    }

    /** Tried on this thread: what the kernel will allow is known to the kernel alone. */
    private static boolean mayLowerNice() {
        int nice = CompilerThreads.nice(0);
        return nice < CompilerRules.MOST_NICE && CompilerThreads.setNice(0, nice + 1) && CompilerThreads.setNice(0, nice);
    }

    static void setCompilers(int nice) {
        for (int id : CompilerThreads.ids()) {
            boolean _ = CompilerThreads.setNice(id, nice); // It may have ended.
        }
    }

    static void setOthers(int nice) {
        boolean changed = true;
        for (int i = 0; i < PASSES && changed; i++) {
            changed = false;
            for (int id : CompilerThreads.allIds()) {
                int now = CompilerThreads.nice(id);
                if (CompilerThreads.isNice(now) && now < nice) {
                    changed |= CompilerThreads.setNice(id, nice);
                }
            }
        }
    }

    private void watch() {
        long began = System.nanoTime();
        long last = began;
        look(); // To compare with.
        for (;;) {
            LockSupport.parkNanos(CompilerRules.EVERY);
            long before = ms;
            long longest = look();
            long now = System.nanoTime();
            if (rules.givesBack(longest, ms - before, now - last, now - began)) {
                return;
            }
            last = now;
        }
    }

    /** Notes what the Ms wanted and the compilers waited. Returns how long the one that waited longest has waited since the last look. */
    private long look() {
        long longest = 0;
        Map<Integer, Long> now = new HashMap<>();
        for (int id : CompilerThreads.ids()) {
            long w = CompilerThreads.waitedNanos(id);
            longest = Math.max(longest, w - waited.getOrDefault(id, w));
            now.put(id, w);
        }
        waited = now;
        long sum = 0;
        for (Machine m : s.machines()) {
            sum += ThreadState.cpuNanos(m) + Math.max(0, CompilerThreads.waitedNanos((int) M.procid(m.mp)));
        }
        ms = sum;
        return longest;
    }
}
