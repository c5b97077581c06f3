// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.affinity.OwnCgroup;
import org.gmp4j.ffi.CompilerThreads;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.policy.CompilerRules;
import org.gmp4j.policy.CompilerRules.Way;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.M;

/**
 * Lets C2 give way to all other threads while a program starts, and gives C2 its share back when {@link CompilerRules} decide so. On few
 * CPUs, a compiler of equal weight takes half of the CPUs while requests wait. Much of the code that it compiles belongs to the start and
 * does not run again.
 *
 * <p>A thread of its own does this, and ends when C2 has its share back. A new compiler thread inherits the nice value of the compiler
 * thread, of C1 or C2, that starts it. So each scan sets the nice values of all compiler threads. Where the share can be given back only by
 * giving all other threads C2's nice value, the threads and processes that the program starts later inherit that value.
 */
public final class CompilerShare implements Runnable {
    /**
     * The greatest number of times that the list of threads is read. A thread that starts during a pass may not be in the list, and has
     * inherited a nice value.
     */
    private static final int PASSES = 10;

    private final Scheduler s;
    private final boolean relative;
    private final CompilerRules rules = new CompilerRules();

    /**
     * The times of a thread of C2 since it began.
     *
     * @param waited the time for which the thread has waited for a CPU, ns; the kernel counts a wait when the wait ends
     * @param ran its CPU time, ns
     * @param ready whether it has a CPU or waits for one now
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
     * The times of threads since they began.
     *
     * @param compilers the threads of C2, by their ids
     * @param wanted the time for which each M's thread had a CPU or waited for one, ns, by its id
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
                if (id != 0) { // It is 0 while the thread starts.
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
                all += Math.max(0, e.getValue() - before.wanted.getOrDefault(e.getKey(), 0L)); // The value of an ended thread is 0.
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
     * Starts the thread that lets C2 give way, if C2's share can be given back. It is called once in a process.
     *
     * @param asked whether the setting asks for it. If it does, C2 gives way even if the process may use several CPUs, and even if C2's
     *     share can be given back only by giving all other threads C2's nice value
     */
    public static void begin(Scheduler s, boolean asked) {
        if (!CompilerRules.isWanted(asked, Runtime.getRuntime().availableProcessors())) {
            return;
        }
        try {
            new OwnThread(new CompilerShare(s, asked), "gmp-compilers").start();
        } catch (OutOfMemoryError e) {
            return; // There is no memory or no thread, so C2 keeps its share.
        }
    }

    @Override
    public void run() {
        try {
            share();
        } catch (OutOfMemoryError | LinkageError e) { // A class that was initialised without memory throws a LinkageError.
            return; // C2 has its share, unchanged or given back.
        }
    }

    private void share() {
        Inheritance.beginPlain(); // The maker of the scheduler may be bound to CPUs or have a low priority, which this thread inherits.
        int[] ids = CompilerThreads.optimizing();
        if (!CompilerRules.canGiveWay(CompilerThreads.ids().length, ids.length) || CompilerThreads.wantedNanos(ids[0]) <= 0) {
            return; // In the second case the kernel does not count waits, and the rules could not notice that C2 gets too little.
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

    /** Returns whether a thread may lower its nice value again. It tries that on the calling thread, because only the kernel knows. */
    private static boolean mayLowerNice(int usual) {
        return CompilerThreads.setNice(0, usual + 1) && CompilerThreads.setNice(0, usual);
    }

    /** Gives C2 its share back. Tries again as long as there is no memory for that. */
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
                boolean _ = Thread.interrupted(); // An interrupt would end the sleep.
                LockSupport.parkNanos(CompilerRules.EVERY);
            }
        }
    }

    /** Gives C2's threads the value {@code less}, and gives the value {@code usual} to C1's threads that have inherited {@code less}. */
    static void giveWay(int usual, int less) {
        int[] all = CompilerThreads.ids();
        int[] c2 = CompilerThreads.optimizing(); // Read after all ids, so that each id that is missing here is C1's.
        for (int id : all) {
            boolean optimizes = contains(c2, id);
            boolean _ = change(id, optimizes ? usual : less, optimizes ? less : usual);
        }
    }

    /** Gives all compiler threads that have the nice value {@code less} the value {@code usual}. */
    static void stopGivingWay(int usual, int less) {
        boolean changed = true;
        for (int i = 0; i < PASSES && changed; i++) {
            changed = false;
            for (int id : CompilerThreads.ids()) {
                changed |= change(id, less, usual);
            }
        }
    }

    /** Gives all threads of the process with a smaller nice value the value {@code nice}. */
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

    /**
     * Changes a thread's nice value if it is {@code from}. Any other value was set by other code, and stays. Returns whether it has
     * changed.
     */
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
            boolean _ = Thread.interrupted(); // An interrupt would end each of these sleeps.
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
