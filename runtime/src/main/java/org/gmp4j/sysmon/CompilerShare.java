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
import org.gmp4j.sysmon.CompilerRules.Share;
import org.gmp4j.sysmon.CompilerRules.Way;

/**
 * Gives C2 the part of the CPUs that {@link CompilerRules} decide for a young program, by nice values.
 *
 * <p>A thread of its own does this, and ends when C2 has its old share for good. The JVM starts a compiler thread from another compiler
 * thread, of C1 or of C2, whose nice value the new one inherits. So each scan sets the nice values of all compiler threads. If C2's nice
 * value is given to all threads, the threads and processes that the program starts later inherit it.
 */
public final class CompilerShare implements Runnable {
    /**
     * How often the list of threads is read at most. A thread that another one starts meanwhile may be in no list yet, and has inherited
     * the nice value of that one.
     */
    private static final int PASSES = 10;

    private final Scheduler s;
    private final boolean asked;
    /** Whether a nice value may have been changed. */
    private boolean changed;

    /**
     * The times of a thread of C2 since it began.
     *
     * @param waited for how long the thread has waited for a CPU, ns; the kernel counts a wait when the wait ends
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
     * The times of threads since they began.
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
            long needed = 0;
            for (Map.Entry<Integer, Compiler> e : compilers.entrySet()) {
                Compiler then = before.compilers.getOrDefault(e.getKey(), Compiler.NEW);
                long waited = e.getValue().waitedSince(then, elapsed);
                longest = Math.max(longest, waited);
                needed = Math.max(needed, waited + e.getValue().ran - then.ran);
            }
            long all = 0;
            for (Map.Entry<Integer, Long> e : wanted.entrySet()) {
                all += Math.max(0, e.getValue() - before.wanted.getOrDefault(e.getKey(), 0L)); // The value of an ended thread is 0.
            }
            int cpus = Runtime.getRuntime().availableProcessors();
            return new CompilerRules.Look(elapsed, longest, needed, all, process - before.process, cpus, procs);
        }
    }

    /** The nice values that threads of compilers get. */
    static final class Nices {
        private final int usual;
        /** The values that C2's threads were given: bit 0 is for the least one. */
        private long given;

        /** @param usual the value that all threads of compilers had */
        Nices(int usual) {
            this.usual = usual;
        }

        /**
         * Gives C2's threads a value, and C1's threads the usual one, since they may have inherited another.
         *
         * @return whether any thread's value has changed
         */
        boolean set(int value) {
            given |= bit(value);
            int[] all = CompilerThreads.ids();
            int[] c2 = CompilerThreads.optimizing(); // Read after all ids, so a thread that is not in this list is C1's.
            boolean changed = false;
            for (int id : all) {
                changed |= change(id, contains(c2, id) ? value : usual);
            }
            return changed;
        }

        /** Changes a thread's nice value, and returns whether it did. A value that C2 was not given was set by other code, and stays. */
        private boolean change(int id, int to) {
            int now = CompilerThreads.nice(id);
            boolean ours = CompilerThreads.isNice(now) && (now == usual || (given & bit(now)) != 0);
            return ours && now != to && CompilerThreads.setNice(id, to);
        }

        private static long bit(int nice) {
            return 1L << nice - CompilerRules.LEAST_NICE;
        }
    }

    private CompilerShare(Scheduler s, boolean asked) {
        this.s = s;
        this.asked = asked;
    }

    /**
     * Starts the thread that changes C2's share. It is called once in a process.
     *
     * @param asked whether the setting asks C2 to give way. Then it does also where the process may use several CPUs, and where its share
     *        can be given back only by giving all other threads C2's nice value
     */
    public static void begin(Scheduler s, boolean asked) {
        try {
            new OwnThread(new CompilerShare(s, asked), "gmp-compilers").start();
        } catch (OutOfMemoryError e) {
            return; // There is no memory for the thread, or no thread, and C2 keeps its share.
        }
    }

    @Override
    public void run() {
        try {
            share(CompilerRules.atFirst(asked, Runtime.getRuntime().availableProcessors()));
        } catch (OutOfMemoryError | LinkageError e) { // A LinkageError comes when a class was initialised without memory.
            return; // C2's share was not changed yet, or was given back.
        }
    }

    private void share(Share atFirst) {
        Inheritance.beginPlain(); // The thread that made the scheduler may be pinned, or have a low priority, and this one inherits that.
        if (atFirst != Share.LESS) {
            LockSupport.parkNanos(CompilerRules.SELDOM); // A short program does not pay for what follows.
        }
        int[] ids = CompilerThreads.optimizing();
        if (!CompilerRules.hasBoth(CompilerThreads.ids().length, ids.length) || CompilerThreads.wantedNanos(ids[0]) <= 0) {
            return; // In the second case the kernel does not count waits, and the rules could not see that C2 gets too little.
        }
        int usual = CompilerThreads.nice(ids[0]);
        if (!CompilerThreads.isNice(usual)) {
            return;
        }
        Way way = CompilerRules.way(may(usual + 1, usual), asked, asked && OwnCgroup.isOwn());
        boolean mayGoFirst = way == Way.BACK && may(CompilerRules.nice(Share.FIRST, usual), usual);
        if (way == Way.NONE || CompilerRules.nice(atFirst, usual) == usual && !mayGoFirst) {
            return; // In the second case no nice value would ever change.
        }
        Nices nices = new Nices(usual);
        try {
            watch(nices, new CompilerRules(atFirst, mayGoFirst), atFirst);
        } finally {
            if (changed) {
                giveBack(way, nices);
            }
        }
    }

    /** Returns whether threads may get a nice value and then another. It tries that on the calling thread, since only the kernel knows. */
    private static boolean may(int nice, int then) {
        return CompilerThreads.setNice(0, nice) && CompilerThreads.setNice(0, then);
    }

    /** Gives C2 its old share. It tries again while there is no memory for it. */
    private static void giveBack(Way way, Nices nices) {
        for (;;) {
            try {
                if (way == Way.RELATIVE) {
                    setOthers(CompilerRules.nice(Share.LESS, nices.usual));
                }
                for (int i = 0; way == Way.BACK && i < PASSES && nices.set(nices.usual); i++) {
                    Thread.onSpinWait();
                }
                return;
            } catch (OutOfMemoryError | LinkageError e) {
                boolean _ = Thread.interrupted(); // An interrupt would end the sleep.
                LockSupport.parkNanos(CompilerRules.EVERY);
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

    private static boolean contains(int[] ids, int id) {
        for (int i : ids) {
            if (i == id) {
                return true;
            }
        }
        return false;
    }

    /** Scans the threads until C2 has its old share for good. */
    private void watch(Nices nices, CompilerRules rules, Share atFirst) {
        Share share = atFirst;
        set(nices, share);
        long began = System.nanoTime();
        long last = began;
        Had before = Had.now(s);
        long woken = OsThread.cpuNanos(0);
        boolean idle = false;
        while (share != Share.OLD) {
            long asleep = System.nanoTime();
            long process = CompilerThreads.processNanos();
            LockSupport.parkNanos(CompilerRules.sleep(OsThread.cpuNanos(0) - woken, idle));
            boolean _ = Thread.interrupted(); // An interrupt would end each of these sleeps.
            woken = OsThread.cpuNanos(0);
            long now = System.nanoTime();
            idle = CompilerRules.isIdle(CompilerThreads.processNanos() - process, now - asleep);
            CompilerRules.Look look;
            if (idle) {
                look = CompilerRules.Look.idle(now - asleep);
            } else {
                Had had = Had.now(s);
                look = had.since(before, now - last, s.gomaxprocs());
                before = had;
                last = now;
            }
            share = rules.next(look, now - began);
            if (!idle && share != Share.OLD) {
                set(nices, share);
            }
        }
    }

    private void set(Nices nices, Share share) {
        if (share != Share.EQUAL) { // Otherwise a value that other code has set would be changed.
            changed = true;
            boolean _ = nices.set(CompilerRules.nice(share, nices.usual));
        }
    }
}
