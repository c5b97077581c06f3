// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

/**
 * Who gets the CPU while a program is young, its goroutines or the JVM's optimizing compiler: values in, a decision out. {@link
 * CompilerShare} asks.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>The process may use several CPUs, and the setting does not ask for it.</td><td>Nothing: a full load needs C2's code soon, and
 * leaves it a part of a CPU.</td></tr>
 * <tr><td>There is no C1 ({@code -XX:-TieredCompilation}), or no C2.</td><td>Nothing: without C1 all that waits for C2 is
 * interpreted.</td></tr>
 * <tr><td>This process may lower nice values again (CAP_SYS_NICE, RLIMIT_NICE).</td><td>C2 gives way: its nice value is {@value #MORE}
 * more. It gets its old one back.</td></tr>
 * <tr><td>It may not, but is alone in a cgroup whose share of the CPU is its own, and the setting allows it.</td><td>C2 gives way. Later
 * all other threads get its value: only differences count inside a cgroup.</td></tr>
 * <tr><td>Neither.</td><td>Nothing: it could not be undone.</td></tr>
 * <tr><td>For {@value #STARVED} ns C2 has waited for a CPU for more than {@value #WAITED} tenths of the time, while all Ps were busy: the
 * Ms had CPUs, or waited for them, for more than {@value #BUSY} tenths of it.</td><td>C2 gets its share back: the load is more than code
 * that is not optimized can do. A load that leaves Ps idle leaves C2 the rest of the CPUs.</td></tr>
 * <tr><td>For {@value #CROWDED} ns C2 has waited as much, and the whole process had less than half of its CPUs.</td><td>The same. Other
 * processes take the CPUs: a compiler that gives way then gets next to nothing.</td></tr>
 * <tr><td>C2 has waited for a CPU for {@value #IN_ALL} ns in all, whichever threads had the CPUs.</td><td>The same. A program that starts
 * for longer does not differ from one that computes: threads of it that are no Ms need optimized code too.</td></tr>
 * <tr><td>{@value #LONGEST} ns have passed.</td><td>The same. What is compiled now is what the program needs.</td></tr>
 * </table>
 *
 * <p>C1 keeps its share: its code is soon ready, and several times as fast as the interpreter. C2 keeps a tenth of a CPU beside one busy
 * thread: a program whose main thread computes on the only CPU needs nearly twice the time for its first seconds. With a quarter (a nice
 * value of 5 more) that program needs little more than before, but a service gains half as much.
 */
final class CompilerRules {
    static final int MORE = 10;
    static final int MOST_NICE = 19;
    static final long EVERY = 250_000_000;
    static final int WAITED = 6;
    static final int BUSY = 9;
    static final long STARVED = 1_500_000_000;
    static final long CROWDED = 500_000_000;
    static final long IN_ALL = 10_000_000_000L;
    static final long LONGEST = 60_000_000_000L;
    /** The looks take one part in so many of a CPU at most. */
    static final int LOOKING = 50;
    /** How long the thread that looks sleeps after the process was idle, ns. */
    static final long SELDOM = 2_000_000_000;
    /** Idle is a process that has had less than one part in so many of a CPU. */
    static final int IDLE = 50;
    /** What an idle process has had: nothing, for which nothing can have waited. */
    static final Look NOTHING = new Look(0, 0, 0, 0, 0, 0);
    private static final int TENTHS = 10;

    /** For how long C2 has starved, and others have crowded this process out, ns. */
    private long starved;
    private long crowded;
    /** For how long C2 has waited since it gave way, ns. */
    private long inAll;

    /**
     * What threads have had since the last look.
     *
     * @param elapsed how long ago that was, ns
     * @param waited for how long the thread of C2 that waited longest has waited for a CPU, ns; not more than that
     * @param wanted for how long all Ms together had CPUs or waited for them, ns
     * @param process the CPU time of the process, ns
     * @param cpus the CPUs that it may use
     * @param procs GOMAXPROCS
     */
    record Look(long elapsed, long waited, long wanted, long process, int cpus, int procs) {
    }

    /** How C2's share can be given back. */
    enum Way {
        /** By their old nice value. */
        BACK,
        /** By giving all other threads theirs. */
        RELATIVE,
        /** Not at all. */
        NONE
    }

    /**
     * Whether there is a compiler that gives way, and another whose code runs meanwhile.
     *
     * @param compilers the number of compiler threads
     * @param optimizing the number of those of C2
     */
    static boolean canGiveWay(int compilers, int optimizing) {
        return optimizing > 0 && compilers > optimizing;
    }

    /**
     * Whether C2 gives way if that can be undone.
     *
     * @param asked whether the setting says so, and not the default
     */
    static boolean isWanted(boolean asked, int cpus) {
        return asked || cpus == 1;
    }

    /**
     * How it can be given back.
     *
     * @param relative whether all other threads may be given C2's value for good
     */
    static Way way(boolean mayLowerNice, boolean relative, boolean aloneInCgroup) {
        return mayLowerNice ? Way.BACK : relative && aloneInCgroup ? Way.RELATIVE : Way.NONE;
    }

    /** C2's nice value while it gives way. */
    static int giveWay(int nice) {
        return Math.min(nice + MORE, MOST_NICE);
    }

    /**
     * Whether the process was idle: then C2 has not waited, and there is no need to look at threads.
     *
     * @param process its CPU time, ns, since {@code elapsed} ns ago
     */
    static boolean isIdle(long process, long elapsed) {
        return process * IDLE < elapsed;
    }

    /**
     * For how long the thread that looks sleeps now: a look reads the name of each of the process's threads, and there may be thousands.
     *
     * @param cpu the CPU time that the last look took, ns
     */
    static long sleep(long cpu, boolean idle) {
        return idle ? SELDOM : Math.max(EVERY, cpu * LOOKING);
    }

    /**
     * Whether C2 gets its share back now.
     *
     * @param age for how long it has given way, ns
     */
    boolean givesBack(Look l, long age) {
        boolean waits = l.waited * TENTHS > l.elapsed * WAITED;
        starved = waits && l.wanted * TENTHS > l.elapsed * l.procs * BUSY ? starved + l.elapsed : 0;
        crowded = waits && 2 * l.process < l.elapsed * l.cpus ? crowded + l.elapsed : 0;
        inAll += l.waited;
        return starved >= STARVED || crowded >= CROWDED || inAll >= IN_ALL || age >= LONGEST;
    }
}
