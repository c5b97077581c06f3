// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.affinity.OwnCgroup;
import org.gmp4j.ffi.CompilerThreads;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.M;
import org.gmp4j.sysmon.CompilerRules.Way;

/**
 * Lets C2 give way to all other threads while a program starts, and gives it its share back when {@link CompilerRules} say so. Where CPUs
 * are few, a compiler of equal weight takes half of them while requests wait, and much of what it compiles then is code of the start that
 * does not come again.
 *
 * <p>A thread of its own does it, which ends with that. A thread of C2 that the JVM starts meanwhile is started by another one and
 * inherits its nice value, as any thread does; so do the threads and processes that the program starts after all its threads were given
 * C2's value.
 */
public final class CompilerShare implements Runnable {
    /** How often all threads are looked through, so that those which others started meanwhile are found. */
    private static final int PASSES = 10;

    private final Scheduler s;
    private final boolean relative;
    private final CompilerRules rules = new CompilerRules();

    /**
     * What threads have had since they began, ns.
     *
     * @param waited for how long each thread of C2 has waited for a CPU, by its id
     * @param wanted for how long each M's thread had a CPU or waited for one, by its id
     */
    record Had(Map<Integer, Long> waited, Map<Integer, Long> wanted, long process) {
        static Had now(Scheduler s) {
            Map<Integer, Long> waited = new HashMap<>();
            for (int id : CompilerThreads.optimizing()) {
                waited.put(id, Math.max(0, CompilerThreads.waitedNanos(id)));
            }
            Map<Integer, Long> wanted = new HashMap<>();
            for (Machine m : s.machines()) {
                int id = (int) M.PROCID.get(m.mp);
                if (id != 0) { // 0 while its thread starts.
                    wanted.put(id, Math.max(0, CompilerThreads.wantedNanos(id)));
                }
            }
            return new Had(waited, wanted, CompilerThreads.processNanos());
        }

        CompilerRules.Look since(Had before, long elapsed, int procs) {
            long longest = 0;
            for (Map.Entry<Integer, Long> e : waited.entrySet()) {
                longest = Math.max(longest, grew(e, before.waited));
            }
            long all = 0;
            for (Map.Entry<Integer, Long> e : wanted.entrySet()) {
                all += grew(e, before.wanted);
            }
            int cpus = Runtime.getRuntime().availableProcessors();
            return new CompilerRules.Look(elapsed, longest, all, process - before.process, cpus, procs);
        }

        /** 0 of a thread that has ended. */
        private static long grew(Map.Entry<Integer, Long> now, Map<Integer, Long> before) {
            return Math.max(0, now.getValue() - before.getOrDefault(now.getKey(), 0L));
        }
    }

    private CompilerShare(Scheduler s, boolean relative) {
        this.s = s;
        this.relative = relative;
    }

    /**
     * From here on, if that can be undone. Once a process.
     *
     * @param relative whether it may be undone by giving all other threads C2's nice value
     */
    public static void begin(Scheduler s, boolean relative) {
        Thread t = new OwnThread(new CompilerShare(s, relative), "gmp-compilers");
        try {
            t.start();
        } catch (OutOfMemoryError e) {
            return; // No thread is to be had: C2 keeps its share.
        }
    }

    @Override
    public void run() {
        try {
            share();
        } catch (OutOfMemoryError e) {
            return; // C2 keeps its share: it was not changed yet, or is given back.
        }
    }

    private void share() {
        Inheritance.beginPlain(); // The thread that made the scheduler may be pinned, or have a low priority.
        int[] ids = CompilerThreads.optimizing();
        if (ids.length == 0 || CompilerThreads.waitedNanos(ids[0]) < 0) {
            return; // No such compiler; or without that number it would not be seen that it gets too little.
        }
        int usual = CompilerThreads.nice(ids[0]);
        int less = CompilerRules.giveWay(usual);
        if (!CompilerThreads.isNice(usual) || less == usual) {
            return;
        }
        Way way = CompilerRules.way(mayLowerNice(usual), relative, relative && OwnCgroup.isOwn());
        if (way == Way.NONE) {
            return;
        }
        try {
            setCompilers(less);
            watch();
        } finally {
            giveBack(way, usual, less);
        }
    }

    /** Whether a thread may go back to a nice value. Tried on this one: what the kernel will allow is known to the kernel alone. */
    private static boolean mayLowerNice(int usual) {
        return CompilerThreads.setNice(0, usual + 1) && CompilerThreads.setNice(0, usual);
    }

    /** Again and again while there is no memory for it. */
    private static void giveBack(Way way, int usual, int less) {
        for (;;) {
            try {
                if (way == Way.BACK) {
                    setCompilers(usual);
                } else {
                    setOthers(less);
                }
                return;
            } catch (OutOfMemoryError e) {
                boolean _ = Thread.interrupted(); // It would end the sleep.
                LockSupport.parkNanos(CompilerRules.EVERY);
            }
        }
    }

    static void setCompilers(int nice) {
        set(nice, true);
    }

    static void setOthers(int nice) {
        set(nice, false);
    }

    /** In several passes: a thread that another one starts meanwhile may be in no list yet, and has the value of that one. */
    private static void set(int nice, boolean compilers) {
        boolean changed = true;
        for (int i = 0; i < PASSES && changed; i++) {
            changed = false;
            for (int id : compilers ? CompilerThreads.optimizing() : CompilerThreads.allIds()) {
                int now = CompilerThreads.nice(id);
                if (CompilerThreads.isNice(now) && (compilers ? now != nice : now < nice)) {
                    changed |= CompilerThreads.setNice(id, nice);
                }
            }
        }
    }

    private void watch() {
        long began = System.nanoTime();
        long last = began;
        Had before = Had.now(s);
        for (;;) {
            LockSupport.parkNanos(CompilerRules.EVERY);
            boolean _ = Thread.interrupted(); // It would end each of these.
            long now = System.nanoTime();
            Had had = Had.now(s);
            if (rules.givesBack(had.since(before, now - last, s.gomaxprocs()), now - began)) {
                return;
            }
            before = had;
            last = now;
        }
    }
}
