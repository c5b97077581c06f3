// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.affinity.OwnCgroup;
import org.gmp4j.ffi.CompilerThreads;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.OsThread;
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
 * <p>A thread of its own does it, which ends with that. A compiler thread that the JVM starts meanwhile is started by another one, be it of
 * C1 or of C2, and inherits its nice value; so each look sets the values of all. The threads and processes that the program starts after
 * all its threads were given C2's value inherit that.
 */
public final class CompilerShare implements Runnable {
    /** How often all threads are looked through: one that another starts meanwhile may be in no list yet, and has the value of that one. */
    private static final int PASSES = 10;

    private final Scheduler s;
    private final boolean relative;
    private final CompilerRules rules = new CompilerRules();

    /**
     * What a thread of C2 has had since it began.
     *
     * @param waited for how long it has waited for a CPU, ns; the kernel counts a wait when that ends
     * @param ran its CPU time, ns
     * @param ready whether it has a CPU or waits for one at the moment
     */
    record Compiler(long waited, long ran, boolean ready) {
        private static final Compiler NEW = new Compiler(0, 0, false);

        static Compiler now(int id) {
            return new Compiler(CompilerThreads.waitedNanos(id), OsThread.cpuNanos(id), OsThread.state(id) == 'R');
        }

        long waitedSince(Compiler before, long elapsed) {
            boolean waitsOn = ready && ran == before.ran;
            return waitsOn ? elapsed : Math.clamp(waited - before.waited, 0, elapsed);
        }
    }

    /**
     * What threads have had since they began.
     *
     * @param compilers the threads of C2, by their ids
     * @param wanted for how long each M's thread had a CPU or waited for one, ns, by its id
     * @param process the CPU time of the process, ns
     */
    record Had(Map<Integer, Compiler> compilers, Map<Integer, Long> wanted, long process) {
        static Had now(Scheduler s) {
            Map<Integer, Compiler> c2 = new HashMap<>();
            for (int id : CompilerThreads.optimizing()) {
                c2.put(id, Compiler.now(id));
            }
            Map<Integer, Long> wanted = new HashMap<>();
            for (Machine m : s.machines()) {
                int id = (int) M.PROCID.get(m.mp);
                if (id != 0) { // 0 while its thread starts.
                    wanted.put(id, Math.max(0, CompilerThreads.wantedNanos(id)));
                }
            }
            return new Had(c2, wanted, CompilerThreads.processNanos());
        }

        CompilerRules.Look since(Had before, long elapsed, int procs) {
            long longest = 0;
            for (Map.Entry<Integer, Compiler> e : compilers.entrySet()) {
                longest = Math.max(longest, e.getValue().waitedSince(before.compilers.getOrDefault(e.getKey(), Compiler.NEW), elapsed));
            }
            long all = 0;
            for (Map.Entry<Integer, Long> e : wanted.entrySet()) {
                all += Math.max(0, e.getValue() - before.wanted.getOrDefault(e.getKey(), 0L)); // 0 of a thread that has ended.
            }
            int cpus = Runtime.getRuntime().availableProcessors();
            return new CompilerRules.Look(elapsed, longest, all, process - before.process, cpus, procs);
        }
    }

    private CompilerShare(Scheduler s, boolean relative) {
        this.s = s;
        this.relative = relative;
    }

    /**
     * From here on, if that can be undone. Once a process.
     *
     * @param asked whether the setting asks for it: then also where the process may use several CPUs, and where it can only be undone by
     *        giving all other threads C2's nice value
     */
    public static void begin(Scheduler s, boolean asked) {
        if (!CompilerRules.isWanted(asked, Runtime.getRuntime().availableProcessors())) {
            return;
        }
        try {
            new OwnThread(new CompilerShare(s, asked), "gmp-compilers").start();
        } catch (OutOfMemoryError e) {
            return; // There is no memory, or no thread, for it: C2 keeps its share.
        }
    }

    @Override
    public void run() {
        try {
            share();
        } catch (OutOfMemoryError | LinkageError e) { // The second when a class found no memory.
            return; // C2 keeps its share: it was not changed yet, or is given back.
        }
    }

    private void share() {
        Inheritance.beginPlain(); // The thread that made the scheduler may be pinned, or have a low priority.
        int[] ids = CompilerThreads.optimizing();
        if (!CompilerRules.canGiveWay(CompilerThreads.ids().length, ids.length) || CompilerThreads.wantedNanos(ids[0]) <= 0) {
            return; // In the second case the kernel does not count waits, and it would not be seen that C2 gets too little.
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
            watch(usual, less);
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
                    stopGivingWay(usual, less);
                } else {
                    setOthers(less);
                }
                return;
            } catch (OutOfMemoryError | LinkageError e) {
                boolean _ = Thread.interrupted(); // It would end the sleep.
                LockSupport.parkNanos(CompilerRules.EVERY);
            }
        }
    }

    /** Gives threads of C2 the value {@code less}, and threads of C1 that have inherited it from them the value {@code usual}. */
    static void giveWay(int usual, int less) {
        int[] all = CompilerThreads.ids();
        int[] c2 = CompilerThreads.optimizing(); // Read later: a thread that is in no list of C2's is C1's.
        for (int id : all) {
            boolean optimizes = contains(c2, id);
            boolean _ = change(id, optimizes ? usual : less, optimizes ? less : usual);
        }
    }

    static void stopGivingWay(int usual, int less) {
        boolean changed = true;
        for (int i = 0; i < PASSES && changed; i++) {
            changed = false;
            for (int id : CompilerThreads.ids()) {
                changed |= change(id, less, usual);
            }
        }
    }

    static void setOthers(int nice) {
        boolean changed = true;
        for (int i = 0; i < PASSES && changed; i++) {
            changed = false;
            for (int id : CompilerThreads.allIds()) {
                int now = CompilerThreads.nice(id);
                changed |= CompilerThreads.isNice(now) && now < nice && CompilerThreads.setNice(id, nice);
            }
        }
    }

    /** A nice value other than {@code from} was set by somebody else, and stays. */
    private static boolean change(int id, int from, int to) {
        return CompilerThreads.nice(id) == from && CompilerThreads.setNice(id, to);
    }

    private static boolean contains(int[] ids, int id) {
        for (int i : ids) {
            if (i == id) {
                return true;
            }
        }
        return false;
    }

    private void watch(int usual, int less) {
        giveWay(usual, less);
        long began = System.nanoTime();
        long last = began;
        Had before = Had.now(s);
        long woken = OsThread.cpuNanos(0);
        boolean idle = false;
        for (;;) {
            long asleep = System.nanoTime();
            long process = CompilerThreads.processNanos();
            LockSupport.parkNanos(CompilerRules.sleep(OsThread.cpuNanos(0) - woken, idle));
            boolean _ = Thread.interrupted(); // It would end each of these.
            woken = OsThread.cpuNanos(0);
            long now = System.nanoTime();
            idle = CompilerRules.isIdle(CompilerThreads.processNanos() - process, now - asleep);
            CompilerRules.Look look = CompilerRules.NOTHING;
            if (!idle) {
                giveWay(usual, less);
                Had had = Had.now(s);
                look = had.since(before, now - last, s.gomaxprocs());
                before = had;
                last = now;
            }
            if (rules.givesBack(look, now - began)) {
                return;
            }
        }
    }
}
