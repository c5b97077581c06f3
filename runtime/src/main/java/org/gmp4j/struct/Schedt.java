// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.schedt;

/**
 * Accessors of {@code struct schedt} in gmp.h, which says what each field is and names its writer. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields are under
 * sched.lock. The global queue is in queue.GlobalRunq, the idle lists and masks in queue.Idle.
 */
public final class Schedt {
    /** One M more spins, in a word of spinners. */
    public static final long SPINS = 1;
    /** One M more is counted as a spinner, and is on its way. */
    public static final long IS_ON_ITS_WAY = (1L << 32) + SPINS;
    /** sysmonwait: an M that enters a system call wakes sysmon, and one that queues work while no P is idle, but not at first. */
    public static final int SYSMON_RESTS = 1;
    /** sysmonwait: an M that enters a system call wakes sysmon, and one that takes a P. */
    public static final int SYSMON_SLEEPS = 2;
    /** sysmonwait: sysmon looks at goroutines that run; an M that enters a system call wakes it. */
    public static final int SYSMON_HEARS = 3;

    private static final long LOCK_OFFSET = Mem.offset(schedt.layout(), "lock");
    private static final IntField MAXMCOUNT = Mem.intField(schedt.layout(), "maxmcount");
    private static final LongField MIDLE = Mem.longField(schedt.layout(), "midle");
    private static final IntField NMIDLE = Mem.intField(schedt.layout(), "nmidle");
    private static final IntField NMIDLELOCKED = Mem.intField(schedt.layout(), "nmidlelocked");
    private static final LongField MNEXT = Mem.longField(schedt.layout(), "mnext");
    private static final LongField NMFREED = Mem.longField(schedt.layout(), "nmfreed");
    private static final IntField STOPWAIT = Mem.intField(schedt.layout(), "stopwait");
    private static final LongField PIDLE = Mem.longField(schedt.layout(), "pidle");
    private static final LongField ALLM = Mem.longField(schedt.layout(), "allm");
    private static final LongField GFREE = Mem.longField(schedt.layout(), "gfree");
    private static final LongField GFREECOUNT = Mem.longField(schedt.layout(), "gfreecount");
    private static final IntField GOMAXPROCS = Mem.intField(schedt.layout(), "gomaxprocs");
    private static final IntField RUNQSIZE = Mem.intField(schedt.layout(), "runqsize");
    private static final LongField RUNQPOLLED = Mem.longField(schedt.layout(), "runqpolled");
    private static final IntField GCWAITING = Mem.intField(schedt.layout(), "gcwaiting");
    private static final IntField SYSMONWAIT = Mem.intField(schedt.layout(), "sysmonwait");
    private static final IntField CLOSING = Mem.intField(schedt.layout(), "closing");
    private static final LongField ALLP = Mem.longField(schedt.layout(), "allp");
    private static final LongField IDLEPMASK = Mem.longField(schedt.layout(), "idlepMask");
    private static final LongField TIMERPMASK = Mem.longField(schedt.layout(), "timerpMask");
    private static final IntField NPIDLE = Mem.intField(schedt.layout(), "npidle");
    private static final LongField NMSPINNING = Mem.longField(schedt.layout(), "nmspinning");
    private static final LongField WOKENAT = Mem.longField(schedt.layout(), "wokenat");
    private static final IntField NEEDSPINNING = Mem.intField(schedt.layout(), "needspinning");
    private static final LongField GOIDGEN = Mem.longField(schedt.layout(), "goidgen");
    private static final LongField NJDKWAIT = Mem.longField(schedt.layout(), "njdkwait");
    private static final LongField LASTPOLL = Mem.longField(schedt.layout(), "lastpoll");
    private static final LongField POLLUNTIL = Mem.longField(schedt.layout(), "pollUntil");
    private static final long POLLBREAK_OFFSET = Mem.offset(schedt.layout(), "pollBreak");
    private static final IntField POLLINGNET = Mem.intField(schedt.layout(), "pollingNet");
    private static final IntField NETPOLLWAITERS = Mem.intField(schedt.layout(), "netpollWaiters");
    private static final IntField NETPOLLWAKESIG = Mem.intField(schedt.layout(), "netpollWakeSig");
    private static final long SYSMONNOTE_OFFSET = Mem.offset(schedt.layout(), "sysmonnote");
    private static final long STOPNOTE_OFFSET = Mem.offset(schedt.layout(), "stopnote");
    private static final LongField NSPAWNEXTERN = Mem.longField(schedt.layout(), "nspawnextern");
    private static final LongField PROCRESIZETIME = Mem.longField(schedt.layout(), "procresizetime");
    private static final LongField TOTALTIME = Mem.longField(schedt.layout(), "totaltime");
    private static final LongField NODEQ = Mem.longField(schedt.layout(), "nodeq");
    private static final LongField NEXITEXTERN = Mem.longField(schedt.layout(), "nexitextern");
    private static final LongField INJECT = Mem.longField(schedt.layout(), "inject");

    private Schedt() {
    }

    /** The address of the word itself. */
    public static long lockAddress(long s) {
        return s + LOCK_OFFSET;
    }

    public static int maxmcount(long s) {
        return MAXMCOUNT.get(s);
    }

    public static void setMaxmcount(long s, int v) {
        MAXMCOUNT.set(s, v);
    }

    public static long midle(long s) {
        return MIDLE.get(s);
    }

    public static void setMidle(long s, long v) {
        MIDLE.set(s, v);
    }

    public static int nmidleOpaque(long s) {
        return NMIDLE.getOpaque(s);
    }

    public static void setNmidleOpaque(long s, int v) {
        NMIDLE.setOpaque(s, v);
    }

    public static int nmidlelocked(long s) {
        return NMIDLELOCKED.get(s);
    }

    public static void setNmidlelocked(long s, int v) {
        NMIDLELOCKED.set(s, v);
    }

    public static long mnext(long s) {
        return MNEXT.get(s);
    }

    public static void setMnext(long s, long v) {
        MNEXT.set(s, v);
    }

    public static long nmfreed(long s) {
        return NMFREED.get(s);
    }

    public static void setNmfreed(long s, long v) {
        NMFREED.set(s, v);
    }

    public static int stopwait(long s) {
        return STOPWAIT.get(s);
    }

    public static void setStopwait(long s, int v) {
        STOPWAIT.set(s, v);
    }

    public static long pidle(long s) {
        return PIDLE.get(s);
    }

    public static void setPidle(long s, long v) {
        PIDLE.set(s, v);
    }

    public static long allm(long s) {
        return ALLM.get(s);
    }

    public static void setAllm(long s, long v) {
        ALLM.set(s, v);
    }

    public static long gfree(long s) {
        return GFREE.get(s);
    }

    public static void setGfree(long s, long v) {
        GFREE.set(s, v);
    }

    public static long gfreecountOpaque(long s) {
        return GFREECOUNT.getOpaque(s);
    }

    public static void setGfreecountOpaque(long s, long v) {
        GFREECOUNT.setOpaque(s, v);
    }

    public static int gomaxprocsOpaque(long s) {
        return GOMAXPROCS.getOpaque(s);
    }

    public static void setGomaxprocsOpaque(long s, int v) {
        GOMAXPROCS.setOpaque(s, v);
    }

    public static int runqsizeAcquire(long s) {
        return RUNQSIZE.getAcquire(s);
    }

    public static int runqsizeOpaque(long s) {
        return RUNQSIZE.getOpaque(s);
    }

    public static void setRunqsizeOpaque(long s, int v) {
        RUNQSIZE.setOpaque(s, v);
    }

    public static long runqpolledOpaque(long s) {
        return RUNQPOLLED.getOpaque(s);
    }

    public static void setRunqpolledOpaque(long s, long gp) {
        RUNQPOLLED.setOpaque(s, gp);
    }

    public static int gcwaitingAcquire(long s) {
        return GCWAITING.getAcquire(s);
    }

    public static int gcwaitingVolatile(long s) {
        return GCWAITING.getVolatile(s);
    }

    public static void setGcwaitingVolatile(long s, int v) {
        GCWAITING.setVolatile(s, v);
    }

    public static int sysmonwait(long s) {
        return SYSMONWAIT.get(s);
    }

    public static int sysmonwaitAcquire(long s) {
        return SYSMONWAIT.getAcquire(s);
    }

    public static void setSysmonwaitVolatile(long s, int v) {
        SYSMONWAIT.setVolatile(s, v);
    }

    public static int closingAcquire(long s) {
        return CLOSING.getAcquire(s);
    }

    public static void setClosingVolatile(long s, int v) {
        CLOSING.setVolatile(s, v);
    }

    public static long allpAcquire(long s) {
        return ALLP.getAcquire(s);
    }

    public static void setAllpRelease(long s, long v) {
        ALLP.setRelease(s, v);
    }

    public static long idlepMaskAcquire(long s) {
        return IDLEPMASK.getAcquire(s);
    }

    public static void setIdlepMaskRelease(long s, long v) {
        IDLEPMASK.setRelease(s, v);
    }

    public static long timerpMaskAcquire(long s) {
        return TIMERPMASK.getAcquire(s);
    }

    public static void setTimerpMaskRelease(long s, long v) {
        TIMERPMASK.setRelease(s, v);
    }

    public static int npidleVolatile(long s) {
        return NPIDLE.getVolatile(s);
    }

    /** Adds and returns the new value; volatile. */
    public static int addNpidle(long s, int d) {
        return NPIDLE.getAndAdd(s, d) + d;
    }

    /** How many Ms spin, those that are on their way among them; volatile. */
    public static int nmspinningVolatile(long s) {
        return spinning(spinnersVolatile(s));
    }

    /** The whole word, for {@link #spinning}, {@link #onTheirWay} and {@link #casSpinners}; volatile. */
    public static long spinnersVolatile(long s) {
        return NMSPINNING.getVolatile(s);
    }

    /** Adds {@link #SPINS} or {@link #IS_ON_ITS_WAY}, or takes one away, and returns the new word; volatile. */
    public static long addSpinners(long s, long d) {
        return NMSPINNING.getAndAdd(s, d) + d;
    }

    public static boolean casSpinners(long s, long from, long to) {
        return NMSPINNING.compareAndSet(s, from, to);
    }

    /** How many Ms a word of spinners counts. */
    public static int spinning(long spinners) {
        return (int) spinners;
    }

    /** How many of them were woken and have not come to run. */
    public static int onTheirWay(long spinners) {
        return (int) (spinners >> 32);
    }

    public static long wokenatOpaque(long s) {
        return WOKENAT.getOpaque(s);
    }

    public static void setWokenatOpaque(long s, long v) {
        WOKENAT.setOpaque(s, v);
    }

    public static int needspinningVolatile(long s) {
        return NEEDSPINNING.getVolatile(s);
    }

    public static void setNeedspinningVolatile(long s, int v) {
        NEEDSPINNING.setVolatile(s, v);
    }

    /** How many Ms there are; under the lock. */
    public static int mcount(long s) {
        return (int) (mnext(s) - nmfreed(s));
    }

    /** Adds and returns the new value; volatile. */
    public static long addGoidgen(long s, long d) {
        return GOIDGEN.getAndAdd(s, d) + d;
    }

    /** Adds and returns the new value; volatile. */
    public static long addNjdkwait(long s, long d) {
        return NJDKWAIT.getAndAdd(s, d) + d;
    }

    public static long njdkwaitVolatile(long s) {
        return NJDKWAIT.getVolatile(s);
    }

    public static long lastpollVolatile(long s) {
        return LASTPOLL.getVolatile(s);
    }

    public static void setLastpollVolatile(long s, long v) {
        LASTPOLL.setVolatile(s, v);
    }

    public static long xchgLastpoll(long s, long v) {
        return LASTPOLL.getAndSet(s, v);
    }

    public static boolean casLastpoll(long s, long from, long to) {
        return LASTPOLL.compareAndSet(s, from, to);
    }

    public static int xchgPollingNet(long s, int v) {
        return POLLINGNET.getAndSet(s, v);
    }

    public static void setPollingNetRelease(long s, int v) {
        POLLINGNET.setRelease(s, v);
    }

    public static int netpollWaitersVolatile(long s) {
        return NETPOLLWAITERS.getVolatile(s);
    }

    /** Adds and returns the new value; volatile. */
    public static int addNetpollWaiters(long s, int d) {
        return NETPOLLWAITERS.getAndAdd(s, d) + d;
    }

    public static boolean casNetpollWakeSig(long s, int from, int to) {
        return NETPOLLWAKESIG.compareAndSet(s, from, to);
    }

    public static void setNetpollWakeSigVolatile(long s, int v) {
        NETPOLLWAKESIG.setVolatile(s, v);
    }

    public static long pollUntilVolatile(long s) {
        return POLLUNTIL.getVolatile(s);
    }

    public static void setPollUntilVolatile(long s, long v) {
        POLLUNTIL.setVolatile(s, v);
    }

    /** The address of the word itself. */
    public static long pollBreakAddress(long s) {
        return s + POLLBREAK_OFFSET;
    }

    /** The address of the word itself. */
    public static long sysmonnoteAddress(long s) {
        return s + SYSMONNOTE_OFFSET;
    }

    /** The address of the word itself. */
    public static long stopnoteAddress(long s) {
        return s + STOPNOTE_OFFSET;
    }

    public static long nspawnexternAcquire(long s) {
        return NSPAWNEXTERN.getAcquire(s);
    }

    /** Adds and returns the new value; volatile. */
    public static long addNspawnextern(long s, long d) {
        return NSPAWNEXTERN.getAndAdd(s, d) + d;
    }

    public static long procresizetime(long s) {
        return PROCRESIZETIME.get(s);
    }

    public static long procresizetimeVolatile(long s) {
        return PROCRESIZETIME.getVolatile(s);
    }

    public static void setProcresizetimeVolatile(long s, long v) {
        PROCRESIZETIME.setVolatile(s, v);
    }

    public static long nodeq(long s) {
        return NODEQ.get(s);
    }

    public static void setNodeq(long s, long v) {
        NODEQ.set(s, v);
    }

    public static long totaltime(long s) {
        return TOTALTIME.get(s);
    }

    public static void setTotaltime(long s, long v) {
        TOTALTIME.set(s, v);
    }

    public static long nexitexternAcquire(long s) {
        return NEXITEXTERN.getAcquire(s);
    }

    /** Adds and returns the new value; volatile. */
    public static long addNexitextern(long s, long d) {
        return NEXITEXTERN.getAndAdd(s, d) + d;
    }

    public static long injectAcquire(long s) {
        return INJECT.getAcquire(s);
    }

    public static long xchgInject(long s, long v) {
        return INJECT.getAndSet(s, v);
    }
}
