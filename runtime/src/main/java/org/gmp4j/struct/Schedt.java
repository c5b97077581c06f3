// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.schedt;

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

    private static final long LOCK_OFFSET = Mem.offset(schedt.layout(), "lock");
    public static final IntField MAXMCOUNT = Mem.intField(schedt.layout(), "maxmcount");
    public static final LongField MIDLE = Mem.longField(schedt.layout(), "midle");
    public static final IntField NMIDLE = Mem.intField(schedt.layout(), "nmidle");
    public static final IntField NMIDLELOCKED = Mem.intField(schedt.layout(), "nmidlelocked");
    public static final LongField MNEXT = Mem.longField(schedt.layout(), "mnext");
    public static final LongField NMFREED = Mem.longField(schedt.layout(), "nmfreed");
    public static final IntField STOPWAIT = Mem.intField(schedt.layout(), "stopwait");
    public static final IntField NAHEAD = Mem.intField(schedt.layout(), "nahead");
    public static final LongField PIDLE = Mem.longField(schedt.layout(), "pidle");
    public static final LongField LASTAHEAD = Mem.longField(schedt.layout(), "lastahead");
    public static final LongField ALLM = Mem.longField(schedt.layout(), "allm");
    public static final LongField GFREE = Mem.longField(schedt.layout(), "gfree");
    public static final LongField GFREECOUNT = Mem.longField(schedt.layout(), "gfreecount");
    public static final IntField GOMAXPROCS = Mem.intField(schedt.layout(), "gomaxprocs");
    public static final IntField RUNQSIZE = Mem.intField(schedt.layout(), "runqsize");
    public static final IntField GCWAITING = Mem.intField(schedt.layout(), "gcwaiting");
    public static final IntField SYSMONWAIT = Mem.intField(schedt.layout(), "sysmonwait");
    public static final IntField CLOSING = Mem.intField(schedt.layout(), "closing");
    public static final LongField ALLP = Mem.longField(schedt.layout(), "allp");
    public static final LongField IDLEPMASK = Mem.longField(schedt.layout(), "idlepMask");
    public static final LongField TIMERPMASK = Mem.longField(schedt.layout(), "timerpMask");
    public static final IntField NPIDLE = Mem.intField(schedt.layout(), "npidle");
    /** A word of two counts of Ms: {@link #spinning} in the low half, {@link #onTheirWay} in the high half. */
    public static final LongField NMSPINNING = Mem.longField(schedt.layout(), "nmspinning");
    public static final LongField WOKENAT = Mem.longField(schedt.layout(), "wokenat");
    public static final IntField NEEDSPINNING = Mem.intField(schedt.layout(), "needspinning");
    private static final LongField GOIDGEN = Mem.longField(schedt.layout(), "goidgen");
    public static final LongField NJDKWAIT = Mem.longField(schedt.layout(), "njdkwait");
    public static final LongField LASTPOLL = Mem.longField(schedt.layout(), "lastpoll");
    public static final LongField POLLUNTIL = Mem.longField(schedt.layout(), "pollUntil");
    private static final long POLLBREAK_OFFSET = Mem.offset(schedt.layout(), "pollBreak");
    public static final IntField POLLINGNET = Mem.intField(schedt.layout(), "pollingNet");
    public static final IntField NETPOLLWAITERS = Mem.intField(schedt.layout(), "netpollWaiters");
    public static final IntField NETPOLLWAKESIG = Mem.intField(schedt.layout(), "netpollWakeSig");
    private static final long SYSMONNOTE_OFFSET = Mem.offset(schedt.layout(), "sysmonnote");
    private static final long STOPNOTE_OFFSET = Mem.offset(schedt.layout(), "stopnote");
    public static final LongField NSPAWNEXTERN = Mem.longField(schedt.layout(), "nspawnextern");
    public static final LongField PROCRESIZETIME = Mem.longField(schedt.layout(), "procresizetime");
    public static final LongField TOTALTIME = Mem.longField(schedt.layout(), "totaltime");
    public static final LongField NODEQ = Mem.longField(schedt.layout(), "nodeq");
    public static final LongField NEXITEXTERN = Mem.longField(schedt.layout(), "nexitextern");
    public static final LongField INJECT = Mem.longField(schedt.layout(), "inject");

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
