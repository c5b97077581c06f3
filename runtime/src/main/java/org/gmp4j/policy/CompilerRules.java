// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.policy;

/**
 * Decides whether a young program's goroutines or the JVM's optimizing compiler, C2, get the CPU. The methods compute a decision from
 * values; {@code CompilerShare} reads the values and carries the decision out. C2 gives way when its threads have a higher nice value.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>The process may use several CPUs, and the setting does not ask C2 to give way.</td><td>Nothing changes. A full load needs C2's
 * code soon, and leaves C2 a part of a CPU.</td></tr>
 * <tr><td>There is no C1 ({@code -XX:-TieredCompilation}), or no C2.</td><td>Nothing changes. Without C1, code that waits for C2 is
 * interpreted.</td></tr>
 * <tr><td>The process may lower nice values again (CAP_SYS_NICE, RLIMIT_NICE).</td><td>C2 gives way: its nice value grows by
 * {@value #MORE}. Later it gets its old nice value back.</td></tr>
 * <tr><td>The process may not lower nice values again, but is alone in a cgroup that has its own share of the CPU, and the setting allows
 * it.</td><td>C2 gives way. Later all other threads get C2's nice value, because only differences count inside a cgroup.</td></tr>
 * <tr><td>Neither of the two rows above applies.</td><td>Nothing changes, because C2's share could not be given back.</td></tr>
 * <tr><td>For {@value #STARVED} ns C2 has waited for a CPU for more than {@value #WAITED} tenths of the time, while all Ps were busy: the
 * Ms had CPUs, or waited for them, for more than {@value #BUSY} tenths of the time.</td><td>C2 gets its share back. The load is too high
 * for code that is not optimized. (A load that leaves Ps idle leaves C2 the rest of the CPUs.)</td></tr>
 * <tr><td>For {@value #CROWDED} ns C2 has waited for more than {@value #WAITED} tenths of the time, and the whole process had less than
 * half of its CPUs.</td><td>C2 gets its share back. Other processes take the CPUs, and a compiler that gives way gets nearly
 * nothing.</td></tr>
 * <tr><td>C2 has waited for a CPU for {@value #IN_ALL} ns in all, whichever threads had the CPUs.</td><td>C2 gets its share back. The rules
 * cannot distinguish a long start from a computation. In a computation, threads that are not Ms also need optimized code.</td></tr>
 * <tr><td>{@value #LONGEST} ns have passed since C2 gave way.</td><td>C2 gets its share back. After the start C2 compiles the code that the
 * program needs.</td></tr>
 * </table>
 *
 * <p>C1 keeps its share, because its code is soon ready, and several times as fast as interpreted code. While C2 gives way, it gets a tenth
 * of a CPU that it shares with one busy thread. The rules slow down a program whose main thread computes on the only CPU, because its code
 * is optimized later. A smaller difference of nice values would cost such a program less, and help a service less.
 */
public final class CompilerRules {
    static final int MORE = 10;
    static final int MOST_NICE = 19;
    public static final long EVERY = 250_000_000;
    static final int WAITED = 6;
    static final int BUSY = 9;
    static final long STARVED = 1_500_000_000;
    static final long CROWDED = 500_000_000;
    static final long IN_ALL = 10_000_000_000L;
    static final long LONGEST = 60_000_000_000L;
    /** The scans of the threads take at most 1/LOOKING of a CPU. */
    static final int LOOKING = 50;
    /** How long the scanning thread sleeps after the process was idle, ns. */
    static final long SELDOM = 2_000_000_000;
    /** A process is idle if it has used less than 1/IDLE of a CPU. */
    static final int IDLE = 50;
    /** The values of an idle process, in which C2 has not waited. */
    public static final Look NOTHING = new Look(0, 0, 0, 0, 0, 0);
    private static final int TENTHS = 10;

    /** The time, ns, for which C2 has starved. */
    private long starved;
    /** The time, ns, for which other processes have taken the CPUs. */
    private long crowded;
    /** The time, ns, for which C2 has waited for a CPU since it gave way. */
    private long inAll;

    /**
     * The CPU time and the waiting time of threads since the last scan.
     *
     * @param elapsed the time since the last scan, ns
     * @param waited the longest time for which a thread of C2 has waited for a CPU, ns; at most {@code elapsed}
     * @param wanted the time for which all Ms together had CPUs or waited for them, ns
     * @param process the CPU time of the process, ns
     * @param cpus the number of CPUs that the process may use
     * @param procs GOMAXPROCS
     */
    public record Look(long elapsed, long waited, long wanted, long process, int cpus, int procs) {
    }

    /** The ways to give C2 its share back. */
    public enum Way {
        /** C2's threads get their old nice value back. */
        BACK,
        /** All other threads get the nice value of C2's threads. */
        RELATIVE,
        /** There is no way. */
        NONE
    }

    /**
     * Returns whether there are threads of C2 and of C1. (While C2 gives way, the program runs C1's code.)
     *
     * @param compilers the number of compiler threads
     * @param optimizing the number of C2's threads
     */
    public static boolean canGiveWay(int compilers, int optimizing) {
        return optimizing > 0 && compilers > optimizing;
    }

    /**
     * Returns whether C2 is to give way if its share can be given back.
     *
     * @param asked whether the setting asks for it
     * @param cpus the number of CPUs that the process may use
     */
    public static boolean isWanted(boolean asked, int cpus) {
        return asked || cpus == 1;
    }

    /**
     * Returns how C2's share can be given back.
     *
     * @param relative whether all other threads may get C2's nice value for good
     */
    public static Way way(boolean mayLowerNice, boolean relative, boolean aloneInCgroup) {
        return mayLowerNice ? Way.BACK : relative && aloneInCgroup ? Way.RELATIVE : Way.NONE;
    }

    /** Returns C2's nice value while it gives way. */
    public static int giveWay(int nice) {
        return Math.min(nice + MORE, MOST_NICE);
    }

    /**
     * Returns whether the process was idle. Then C2 has not waited, and the threads need no scan.
     *
     * @param process the CPU time of the process in the last {@code elapsed} ns, ns
     */
    public static boolean isIdle(long process, long elapsed) {
        return process * IDLE < elapsed;
    }

    /**
     * Returns how long the scanning thread sleeps now, ns. A scan reads the name of each thread of the process, and there may be thousands.
     *
     * @param cpu the CPU time that the last scan took, ns
     * @param idle whether the process was idle
     */
    public static long sleep(long cpu, boolean idle) {
        return idle ? SELDOM : Math.max(EVERY, cpu * LOOKING);
    }

    /**
     * Adds a scan, and returns whether C2 gets its share back now.
     *
     * @param age the time for which C2 has given way, ns
     */
    public boolean givesBack(Look l, long age) {
        boolean waits = l.waited * TENTHS > l.elapsed * WAITED;
        starved = waits && l.wanted * TENTHS > l.elapsed * l.procs * BUSY ? starved + l.elapsed : 0;
        crowded = waits && 2 * l.process < l.elapsed * l.cpus ? crowded + l.elapsed : 0;
        inAll += l.waited;
        return starved >= STARVED || crowded >= CROWDED || inAll >= IN_ALL || age >= LONGEST;
    }
}
