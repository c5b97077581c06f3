// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

/**
 * Who gets the CPU while a program is young, its goroutines or the JVM's compilers: values in, a decision out. {@link CompilerShare} asks.
 *
 * <table>
 * <caption>Rules</caption>
 * <tr><td>This process may lower nice values again (CAP_SYS_NICE, RLIMIT_NICE).</td><td>The compilers give way: their nice value is
 * {@value #MORE} more. They get their old one back.</td></tr>
 * <tr><td>It may not, but is alone in a cgroup whose share of the CPU is its own.</td><td>The compilers give way. Later all other threads
 * get the compilers' value: only differences count inside a cgroup.</td></tr>
 * <tr><td>Neither.</td><td>Nothing: it could not be undone.</td></tr>
 * <tr><td>For {@value #STARVED} ns a compiler has waited for a CPU for more than {@value #WAITED} tenths of the time, while Ms had more
 * than {@value #BUSY} tenths of one.</td><td>The compilers get their share back: goroutines need compiled code, and get none. While the Ms
 * need little, what keeps compilers waiting is the program's own start.</td></tr>
 * <tr><td>For {@value #CROWDED} ns a compiler has waited as much, and the whole process had less than half of its CPUs.</td><td>The same.
 * Other processes take the CPUs: compilers that give way then get next to nothing.</td></tr>
 * <tr><td>{@value #LONGEST} ns have passed.</td><td>The same. What is compiled now is what the program needs.</td></tr>
 * </table>
 */
final class CompilerRules {
    static final int MORE = 10;
    static final int MOST_NICE = 19;
    static final long EVERY = 250_000_000;
    static final int WAITED = 6;
    static final int BUSY = 3;
    static final long STARVED = 3_000_000_000L;
    static final long CROWDED = 500_000_000;
    static final long LONGEST = 60_000_000_000L;
    private static final int TENTHS = 10;

    /** For how long a compiler has starved, and others have crowded this process out, ns. */
    private long starved;
    private long crowded;

    /**
     * What threads have had since the last look.
     *
     * @param elapsed how long ago that was, ns
     * @param waited for how long the compiler that waited longest has waited for a CPU, ns
     * @param ms the CPU time of all Ms together, ns
     * @param process the CPU time of the process, ns
     * @param cpus the CPUs that it may use
     */
    record Look(long elapsed, long waited, long ms, long process, int cpus) {
    }

    /** How the compilers' share can be given back. */
    enum Way {
        /** By their old nice value. */
        BACK,
        /** By giving all other threads theirs. */
        RELATIVE,
        /** Not at all. */
        NONE
    }

    static Way way(boolean mayLowerNice, boolean aloneInCgroup) {
        return mayLowerNice ? Way.BACK : aloneInCgroup ? Way.RELATIVE : Way.NONE;
    }

    /** The compilers' nice value while they give way. */
    static int giveWay(int nice) {
        return Math.min(nice + MORE, MOST_NICE);
    }

    /**
     * Whether the compilers get their share back now.
     *
     * @param age for how long they have given way, ns
     */
    boolean givesBack(Look l, long age) {
        boolean waits = l.waited * TENTHS > l.elapsed * WAITED;
        starved = waits && l.ms * TENTHS > l.elapsed * BUSY ? starved + l.elapsed : 0;
        crowded = waits && 2 * l.process < l.elapsed * l.cpus ? crowded + l.elapsed : 0;
        return starved >= STARVED || crowded >= CROWDED || age >= LONGEST;
    }
}
