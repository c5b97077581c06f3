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
 * <tr><td>In {@value #STARVED_LOOKS} looks in a row, {@value #EVERY} ns apart, a compiler has waited for a CPU for more than
 * {@value #WAITED} tenths of the time, while Ms wanted more than {@value #BUSY} tenths of one.</td><td>The compilers get their share back:
 * goroutines need compiled code, and get none. While the Ms want little, what keeps compilers waiting is the program's own start.</td></tr>
 * <tr><td>In {@value #CROWDED_LOOKS} looks in a row the threads that are no compilers have together waited for a CPU for more than
 * {@value #CROWDED} tenths of the time that they ran.</td><td>The same. Other processes take the CPUs, or goroutines take all there is:
 * compilers that give way then get next to nothing.</td></tr>
 * <tr><td>Between two looks the threads that are no compilers wanted less than one {@value #IDLE_SHARE}th of a CPU.</td><td>The next look
 * comes after twice the time, up to {@value #IDLE_EVERY} ns: an idle process is left alone.</td></tr>
 * <tr><td>{@value #LONGEST} ns have passed.</td><td>The same. What is compiled now is what the program needs.</td></tr>
 * </table>
 */
final class CompilerRules {
    static final int MORE = 10;
    static final int MOST_NICE = 19;
    static final long EVERY = 250_000_000;
    static final long IDLE_EVERY = 1_000_000_000L;
    static final int IDLE_SHARE = 100;
    /** A look may take one in so many parts of the time. */
    static final int LOOK_SHARE = 100;
    static final int STARVED_LOOKS = 6;
    static final int WAITED = 6;
    static final int BUSY = 3;
    static final int CROWDED_LOOKS = 2;
    static final int CROWDED = 4;
    static final long LONGEST = 60_000_000_000L;
    private static final int TENTHS = 10;

    private int starved;
    private int crowded;

    /**
     * What threads have had since the last look.
     *
     * @param elapsed how long ago that was, ns
     * @param longest for how long the compiler that waited longest has waited for a CPU, ns
     * @param ms for how long all Ms together have run or waited for a CPU, ns
     * @param ran for how long all threads that are no compilers have run, ns
     * @param waited for how long they have waited for a CPU, ns
     */
    record Look(long elapsed, long longest, long ms, long ran, long waited) {
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
     * How long after a look the next one comes, ns.
     *
     * @param pause how long after the one before it that look was meant to come, ns
     * @param took how long the look took, ns: it costs the more, the more threads there are
     */
    static long next(long pause, Look l, long took) {
        long next = (l.ran + l.waited) * IDLE_SHARE < l.elapsed ? Math.min(2 * pause, IDLE_EVERY) : EVERY;
        return Math.max(next, took * LOOK_SHARE);
    }

    /**
     * Whether the compilers get their share back now.
     *
     * @param age for how long they have given way, ns
     */
    boolean givesBack(Look l, long age) {
        boolean starves = l.longest * TENTHS > l.elapsed * WAITED && l.ms * TENTHS > l.elapsed * BUSY;
        starved = starves ? starved + 1 : 0;
        crowded = l.waited * TENTHS > l.ran * CROWDED ? crowded + 1 : 0;
        return starved >= STARVED_LOOKS || crowded >= CROWDED_LOOKS || age >= LONGEST;
    }
}
