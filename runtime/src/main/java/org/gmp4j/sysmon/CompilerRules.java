// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

/**
 * Decides which part of the CPUs the JVM's optimizing compiler gets in a young program, compared with all other threads of the process. The
 * methods compute a decision from values; {@link CompilerShare} reads the values and carries the decision out.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>There is no C1 ({@code -XX:-TieredCompilation}), or no C2.</td><td>Nothing changes. Without C1, code that waits for C2 is
 * interpreted.</td></tr>
 * <tr><td>This process may lower nice values again (CAP_SYS_NICE, RLIMIT_NICE), and has one CPU, or the setting asks for it.</td><td>{@link
 * Share#LESS}: C2 gives way. Much of the code that it compiles belongs to the start and does not run again.</td></tr>
 * <tr><td>It may not, but is alone in a cgroup that has its own share of the CPU, and the setting asks for it.</td><td>{@link Share#LESS}.
 * Later all other threads get C2's nice value, since only differences count inside a cgroup.</td></tr>
 * <tr><td>It may, has several CPUs, and the setting does not ask C2 to give way.</td><td>{@link Share#EQUAL}.</td></tr>
 * <tr><td>None of these three.</td><td>Nothing changes, since C2's share could not be given back.</td></tr>
 * <tr><td>For {@value #CROWDED} ns C2 has waited for a CPU for more than {@value #WAITED} tenths of the time, and the whole process had
 * less than half of its CPUs.</td><td>{@link Share#OLD}. Other processes take the CPUs, and a compiler that gives way then gets next to
 * nothing.</td></tr>
 * <tr><td>For {@value #STARVED} ns C2 has waited for more than {@value #WAITED} tenths of the time, while all Ps were busy: the Ms had
 * CPUs, or waited for them, for more than {@value #BUSY} tenths of it.</td><td>{@link Share#FIRST} if this process may give C2 such a nice
 * value, or {@link Share#OLD}. The load is too high for code that is not optimized, and ends the sooner the sooner C2 is done. (A load
 * that leaves Ps idle leaves C2 the rest of the CPUs.)</td></tr>
 * <tr><td>C2 went first, and has needed less than a quarter of a CPU for {@value #FED} ns, or went first for {@value #LONGEST_FIRST}
 * ns.</td><td>{@link Share#OLD}.</td></tr>
 * <tr><td>C2 has waited for a CPU for {@value #IN_ALL} ns in all, whichever threads had the CPUs.</td><td>{@link Share#OLD}. A program
 * that starts for longer does not differ from one that computes: its threads that are no Ms need optimized code, too.</td></tr>
 * <tr><td>{@value #LONGEST} ns have passed.</td><td>{@link Share#OLD}. The code that is compiled from now on is the code that the program
 * needs.</td></tr>
 * </table>
 *
 * <p>C1 keeps its share, since its code is soon ready, and several times as fast as interpreted code. A thread of C2 that gives way keeps a
 * tenth of a CPU that it shares with one busy thread, and a busy thread keeps a tenth of a CPU that it shares with one of C2 that goes
 * first. The price is paid by a program whose main thread computes on the only CPU, as its code is optimized later, and by the requests
 * that come while C2 goes first, some of which are answered later. A smaller difference of nice values costs less, and gains less.
 */
final class CompilerRules {
    static final int MORE = 10;
    static final int MOST_NICE = 19;
    static final int LEAST_NICE = -20;
    static final long EVERY = 250_000_000;
    static final int WAITED = 4;
    static final int BUSY = 9;
    static final long STARVED = 1_500_000_000;
    static final long CROWDED = 500_000_000;
    static final long FED = 1_000_000_000;
    static final long LONGEST_FIRST = 10_000_000_000L;
    static final long IN_ALL = 10_000_000_000L;
    static final long LONGEST = 60_000_000_000L;
    /** The scans of the threads take one part in so many of a CPU at most. */
    static final int LOOKING = 50;
    /** How long the scanning thread sleeps after the process was idle, and before its first scan if C2 does not give way, ns. */
    static final long SELDOM = 2_000_000_000;
    /** A process is idle if it has had less than one part in so many of a CPU. */
    static final int IDLE = 50;
    private static final int TENTHS = 10;
    /** C2 is done if it needs less than one part in so many of a CPU. */
    private static final int DONE = 4;

    private final boolean mayGoFirst;
    private Share share;
    /** For how long C2 has starved, for how long other processes have taken the CPUs, and for how long C2 has had little to do, ns. */
    private long starved;
    private long crowded;
    private long fed;
    /** For how long C2 has waited since the first scan, ns. */
    private long inAll;
    /** The age at which C2 went first, ns. */
    private long firstAt;

    /**
     * The CPU time and the waiting time of threads since the last scan.
     *
     * @param elapsed the time since the last scan, ns
     * @param waited for how long the thread of C2 that waited longest has waited for a CPU, ns; at most {@code elapsed}
     * @param needed for how long the thread of C2 that needed most had a CPU or waited for one, ns
     * @param wanted for how long all Ms together had CPUs or waited for them, ns
     * @param process the CPU time of the process, ns
     * @param cpus the number of CPUs that the process may use
     * @param procs GOMAXPROCS
     */
    record Look(long elapsed, long waited, long needed, long wanted, long process, int cpus, int procs) {
        /** Returns the values of an idle process, in which C2 has not waited. */
        static Look idle(long elapsed) {
            return new Look(elapsed, 0, 0, 0, 0, 0, 0);
        }
    }

    /** The part of the CPUs that C2 gets. */
    enum Share {
        /** C2 gives way to all other threads: its nice value is greater by {@value CompilerRules#MORE}. */
        LESS,
        /** C2 has its old nice value, which may change. */
        EQUAL,
        /** C2 goes before all other threads: its nice value is less by {@value CompilerRules#MORE}. */
        FIRST,
        /** C2 has its old nice value for good. */
        OLD
    }

    /** The ways to give C2 its share back. */
    enum Way {
        /** C2's threads get their old nice value back. */
        BACK,
        /** All other threads get the nice value of C2's threads. */
        RELATIVE,
        /** There is no way. */
        NONE
    }

    /**
     * Makes the rules for one process.
     *
     * @param share {@link #atFirst}
     * @param mayGoFirst whether C2's threads may get a nice value that is less than their old one
     */
    CompilerRules(Share share, boolean mayGoFirst) {
        this.share = share;
        this.mayGoFirst = mayGoFirst;
    }

    /**
     * Returns whether there are both C2, whose share changes, and C1, whose code runs meanwhile.
     *
     * @param compilers the number of compiler threads
     * @param optimizing the number of those of C2
     */
    static boolean hasBoth(int compilers, int optimizing) {
        return optimizing > 0 && compilers > optimizing;
    }

    /**
     * Returns C2's share at first.
     *
     * @param asked whether the setting asks C2 to give way, rather than leaving it to the default
     * @param cpus the number of CPUs that the process may use
     */
    static Share atFirst(boolean asked, int cpus) {
        return asked || cpus == 1 ? Share.LESS : Share.EQUAL;
    }

    /**
     * Returns how C2's share can be given back.
     *
     * @param relative whether all other threads may be given C2's value for good
     */
    static Way way(boolean mayLowerNice, boolean relative, boolean aloneInCgroup) {
        return mayLowerNice ? Way.BACK : relative && aloneInCgroup ? Way.RELATIVE : Way.NONE;
    }

    /**
     * Returns the nice value of C2's threads that have a share.
     *
     * @param usual their old nice value
     */
    static int nice(Share share, int usual) {
        return switch (share) {
            case LESS -> Math.min(usual + MORE, MOST_NICE);
            case EQUAL, OLD -> usual;
            case FIRST -> Math.max(usual - MORE, LEAST_NICE);
        };
    }

    /**
     * Returns whether the process was idle. If so, C2 has not waited, and there is no need to scan the threads.
     *
     * @param process the CPU time of the process in the last {@code elapsed} ns, ns
     */
    static boolean isIdle(long process, long elapsed) {
        return process * IDLE < elapsed;
    }

    /**
     * Returns how long the scanning thread sleeps now, ns. A scan reads the name of each thread of the process, and there may be thousands.
     *
     * @param cpu the CPU time that the last scan took, ns
     * @param idle whether the process was idle
     */
    static long sleep(long cpu, boolean idle) {
        return idle ? SELDOM : Math.max(EVERY, cpu * LOOKING);
    }

    /**
     * Adds a scan, and returns C2's share from now on.
     *
     * @param age the time since the first scan, ns
     */
    Share next(Look l, long age) {
        boolean waits = l.waited * TENTHS > l.elapsed * WAITED;
        starved = waits && l.wanted * TENTHS > l.elapsed * l.procs * BUSY ? starved + l.elapsed : 0;
        crowded = waits && 2 * l.process < l.elapsed * l.cpus ? crowded + l.elapsed : 0;
        fed = l.needed * DONE < l.elapsed ? fed + l.elapsed : 0;
        inAll += l.waited;
        if (share == Share.FIRST) {
            if (fed >= FED || age - firstAt >= LONGEST_FIRST) {
                share = Share.OLD;
            }
        } else if (crowded >= CROWDED || inAll >= IN_ALL || age >= LONGEST) {
            share = Share.OLD;
        } else if (starved >= STARVED) {
            share = mayGoFirst ? Share.FIRST : Share.OLD;
            firstAt = age;
            fed = 0;
        }
        return share;
    }
}
