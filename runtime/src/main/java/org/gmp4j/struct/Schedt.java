// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The fields of {@code struct schedt} in gmp.h, which describes each field and names its writer. A use names its access mode; {@code get}
 * and {@code set} are plain. sched.lock guards the fields that are accessed plainly. The methods that add have volatile semantics, and
 * return the new value. The global queue is in queue.GlobalRunq, the idle lists and masks in queue.Idle.
 */
public final class Schedt {
    /** The amount by which one spinning M increases {@link #NMSPINNING}. */
    public static final long SPINS = 1;
    /** The amount by which an M that was woken to spin, and has not begun to run, increases {@link #NMSPINNING}: 1 in each half. */
    public static final long IS_ON_ITS_WAY = (1L << 32) + SPINS;
    /**
     * The value of sysmonwait while sysmon sleeps lightly, because no P runs anything. An M that enters a system call wakes it. An M that
     * takes a P does not, because the sleep is short.
     */
    public static final int SYSMON_RESTS = 1;
    /**
     * The value of sysmonwait while sysmon sleeps deeply, because no P has run anything for some time. An M that enters a system call or
     * takes a P wakes it.
     */
    public static final int SYSMON_SLEEPS = 2;
    /** The value of sysmonwait while sysmon sleeps between two scans, and a P runs something. An M that enters a system call wakes it. */
    public static final int SYSMON_HEARS = 3;

    private static final long LOCK_OFFSET = Struct.SCHEDT.offset("lock");
    public static final IntField MAXMCOUNT = Struct.SCHEDT.intField("maxmcount");
    public static final LongField MIDLE = Struct.SCHEDT.longField("midle");
    public static final IntField NMIDLE = Struct.SCHEDT.intField("nmidle");
    public static final IntField NMIDLELOCKED = Struct.SCHEDT.intField("nmidlelocked");
    public static final LongField MNEXT = Struct.SCHEDT.longField("mnext");
    public static final LongField NMFREED = Struct.SCHEDT.longField("nmfreed");
    public static final IntField STOPWAIT = Struct.SCHEDT.intField("stopwait");
    public static final IntField NAHEAD = Struct.SCHEDT.intField("nahead");
    public static final LongField PIDLE = Struct.SCHEDT.longField("pidle");
    public static final LongField LASTAHEAD = Struct.SCHEDT.longField("lastahead");
    public static final LongField ALLM = Struct.SCHEDT.longField("allm");
    public static final LongField GFREE = Struct.SCHEDT.longField("gfree");
    public static final LongField GFREECOUNT = Struct.SCHEDT.longField("gfreecount");
    public static final IntField GOMAXPROCS = Struct.SCHEDT.intField("gomaxprocs");
    public static final IntField RUNQSIZE = Struct.SCHEDT.intField("runqsize");
    public static final IntField GCWAITING = Struct.SCHEDT.intField("gcwaiting");
    public static final IntField SYSMONWAIT = Struct.SCHEDT.intField("sysmonwait");
    public static final IntField CLOSING = Struct.SCHEDT.intField("closing");
    public static final LongField ALLP = Struct.SCHEDT.longField("allp");
    public static final LongField IDLEPMASK = Struct.SCHEDT.longField("idlepMask");
    public static final LongField TIMERPMASK = Struct.SCHEDT.longField("timerpMask");
    public static final IntField NPIDLE = Struct.SCHEDT.intField("npidle");
    /** A word of two counts of Ms: {@link #spinning} in the low half, {@link #onTheirWay} in the high half. */
    public static final LongField NMSPINNING = Struct.SCHEDT.longField("nmspinning");
    public static final LongField WOKENAT = Struct.SCHEDT.longField("wokenat");
    public static final IntField NEEDSPINNING = Struct.SCHEDT.intField("needspinning");
    private static final LongField GOIDGEN = Struct.SCHEDT.longField("goidgen");
    public static final LongField NJDKWAIT = Struct.SCHEDT.longField("njdkwait");
    public static final LongField LASTPOLL = Struct.SCHEDT.longField("lastpoll");
    public static final LongField POLLUNTIL = Struct.SCHEDT.longField("pollUntil");
    private static final long POLLBREAK_OFFSET = Struct.SCHEDT.offset("pollBreak");
    public static final IntField POLLINGNET = Struct.SCHEDT.intField("pollingNet");
    public static final IntField NETPOLLWAITERS = Struct.SCHEDT.intField("netpollWaiters");
    public static final IntField NETPOLLWAKESIG = Struct.SCHEDT.intField("netpollWakeSig");
    private static final long SYSMONNOTE_OFFSET = Struct.SCHEDT.offset("sysmonnote");
    private static final long STOPNOTE_OFFSET = Struct.SCHEDT.offset("stopnote");
    public static final LongField NSPAWNEXTERN = Struct.SCHEDT.longField("nspawnextern");
    public static final LongField PROCRESIZETIME = Struct.SCHEDT.longField("procresizetime");
    public static final LongField TOTALTIME = Struct.SCHEDT.longField("totaltime");
    public static final LongField NODEQ = Struct.SCHEDT.longField("nodeq");
    public static final LongField NEXITEXTERN = Struct.SCHEDT.longField("nexitextern");
    public static final LongField INJECT = Struct.SCHEDT.longField("inject");

    private Schedt() {
    }

    /** Returns the address of {@code lock}. */
    public static long lockAddress(long s) {
        return s + LOCK_OFFSET;
    }

    /** Adds to {@code npidle}. */
    public static int addNpidle(long s, int d) {
        return NPIDLE.getAndAdd(s, d) + d;
    }

    /** Returns the number of Ms that spin, by a volatile read. The number includes {@link #onTheirWay}. */
    public static int nmspinningVolatile(long s) {
        return spinning(NMSPINNING.getVolatile(s));
    }

    /** Adds {@link #SPINS} or {@link #IS_ON_ITS_WAY} to {@link #NMSPINNING}, or subtracts it. */
    public static long addSpinners(long s, long d) {
        return NMSPINNING.getAndAdd(s, d) + d;
    }

    /** Returns how many Ms spin, from a value of {@link #NMSPINNING}. The number includes {@link #onTheirWay}. */
    public static int spinning(long spinners) {
        return (int) spinners;
    }

    /** Returns how many Ms were woken to spin and have not begun to run, from a value of {@link #NMSPINNING}. */
    public static int onTheirWay(long spinners) {
        return (int) (spinners >> 32);
    }

    /** Returns the number of Ms. It is exact under the lock. */
    public static int mcount(long s) {
        return (int) (MNEXT.getOpaque(s) - NMFREED.getOpaque(s));
    }

    /** Adds to {@code goidgen}. */
    public static long addGoidgen(long s, long d) {
        return GOIDGEN.getAndAdd(s, d) + d;
    }

    /** Adds to {@code njdkwait}. */
    public static long addNjdkwait(long s, long d) {
        return NJDKWAIT.getAndAdd(s, d) + d;
    }

    /** Adds to {@code netpollWaiters}. */
    public static int addNetpollWaiters(long s, int d) {
        return NETPOLLWAITERS.getAndAdd(s, d) + d;
    }

    /** Returns the address of {@code pollBreak}. */
    public static long pollBreakAddress(long s) {
        return s + POLLBREAK_OFFSET;
    }

    /** Returns the address of {@code sysmonnote}. */
    public static long sysmonnoteAddress(long s) {
        return s + SYSMONNOTE_OFFSET;
    }

    /** Returns the address of {@code stopnote}. */
    public static long stopnoteAddress(long s) {
        return s + STOPNOTE_OFFSET;
    }

    /** Adds to {@code nspawnextern}. */
    public static long addNspawnextern(long s, long d) {
        return NSPAWNEXTERN.getAndAdd(s, d) + d;
    }

    /** Adds to {@code nexitextern}. */
    public static long addNexitextern(long s, long d) {
        return NEXITEXTERN.getAndAdd(s, d) + d;
    }
}
