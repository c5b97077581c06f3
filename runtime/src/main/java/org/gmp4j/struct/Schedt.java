package org.gmp4j.struct;

import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.gmp.schedt;

/**
 * Accessors of {@code struct schedt} in gmp.h, which says what each field is and who may write it. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields are under
 * sched.lock. The global queue is in queue.GlobalRunq, the idle lists and masks in queue.Idle.
 */
public final class Schedt {
    /** sysmonwait: who enters a system call wakes sysmon. */
    public static final int SYSMON_RESTS = 1;
    /** sysmonwait: so does who takes a P. */
    public static final int SYSMON_SLEEPS = 2;

    private static final VarHandle LOCK = Mem.field(schedt.layout(), "lock");
    private static final long LOCK_OFFSET = Mem.offset(schedt.layout(), "lock");
    private static final VarHandle MAXMCOUNT = Mem.field(schedt.layout(), "maxmcount");
    private static final VarHandle MIDLE = Mem.field(schedt.layout(), "midle");
    private static final VarHandle NMIDLE = Mem.field(schedt.layout(), "nmidle");
    private static final VarHandle NMIDLELOCKED = Mem.field(schedt.layout(), "nmidlelocked");
    private static final VarHandle MNEXT = Mem.field(schedt.layout(), "mnext");
    private static final VarHandle NMFREED = Mem.field(schedt.layout(), "nmfreed");
    private static final VarHandle NMSYS = Mem.field(schedt.layout(), "nmsys");
    private static final VarHandle STOPWAIT = Mem.field(schedt.layout(), "stopwait");
    private static final VarHandle PIDLE = Mem.field(schedt.layout(), "pidle");
    private static final VarHandle ALLM = Mem.field(schedt.layout(), "allm");
    private static final VarHandle GFREE = Mem.field(schedt.layout(), "gfree");
    private static final VarHandle GFREECOUNT = Mem.field(schedt.layout(), "gfreecount");
    private static final VarHandle GOMAXPROCS = Mem.field(schedt.layout(), "gomaxprocs");
    private static final VarHandle RUNQSIZE = Mem.field(schedt.layout(), "runqsize");
    private static final VarHandle GCWAITING = Mem.field(schedt.layout(), "gcwaiting");
    private static final VarHandle SYSMONWAIT = Mem.field(schedt.layout(), "sysmonwait");
    private static final VarHandle CLOSING = Mem.field(schedt.layout(), "closing");
    private static final VarHandle DEAD = Mem.field(schedt.layout(), "dead");
    private static final VarHandle ALLP = Mem.field(schedt.layout(), "allp");
    private static final VarHandle IDLEPMASK = Mem.field(schedt.layout(), "idlepMask");
    private static final VarHandle TIMERPMASK = Mem.field(schedt.layout(), "timerpMask");
    private static final VarHandle NPIDLE = Mem.field(schedt.layout(), "npidle");
    private static final VarHandle NMSPINNING = Mem.field(schedt.layout(), "nmspinning");
    private static final VarHandle NEEDSPINNING = Mem.field(schedt.layout(), "needspinning");
    private static final VarHandle GOIDGEN = Mem.field(schedt.layout(), "goidgen");
    private static final VarHandle NGSYS = Mem.field(schedt.layout(), "ngsys");
    private static final VarHandle ALLGLEN = Mem.field(schedt.layout(), "allglen");
    private static final VarHandle NJDKWAIT = Mem.field(schedt.layout(), "njdkwait");
    private static final VarHandle LASTPOLL = Mem.field(schedt.layout(), "lastpoll");
    private static final VarHandle POLLUNTIL = Mem.field(schedt.layout(), "pollUntil");
    private static final VarHandle POLLBREAK = Mem.field(schedt.layout(), "pollBreak");
    private static final long POLLBREAK_OFFSET = Mem.offset(schedt.layout(), "pollBreak");
    private static final VarHandle POLLINGNET = Mem.field(schedt.layout(), "pollingNet");
    private static final VarHandle NETPOLLWAITERS = Mem.field(schedt.layout(), "netpollWaiters");
    private static final VarHandle NETPOLLWAKESIG = Mem.field(schedt.layout(), "netpollWakeSig");
    private static final VarHandle SYSMONNOTE = Mem.field(schedt.layout(), "sysmonnote");
    private static final long SYSMONNOTE_OFFSET = Mem.offset(schedt.layout(), "sysmonnote");
    private static final VarHandle STOPNOTE = Mem.field(schedt.layout(), "stopnote");
    private static final long STOPNOTE_OFFSET = Mem.offset(schedt.layout(), "stopnote");
    private static final VarHandle SYSMONLOCK = Mem.field(schedt.layout(), "sysmonlock");
    private static final long SYSMONLOCK_OFFSET = Mem.offset(schedt.layout(), "sysmonlock");
    private static final VarHandle NSPAWNEXTERN = Mem.field(schedt.layout(), "nspawnextern");
    private static final VarHandle PROCRESIZETIME = Mem.field(schedt.layout(), "procresizetime");
    private static final VarHandle TOTALTIME = Mem.field(schedt.layout(), "totaltime");
    private static final VarHandle NEXITEXTERN = Mem.field(schedt.layout(), "nexitextern");
    private static final VarHandle INJECT = Mem.field(schedt.layout(), "inject");

    private Schedt() {
    }

    /** The address of the word itself. */
    public static long lockAddress(long s) {
        return s + LOCK_OFFSET;
    }

    public static int maxmcount(long s) {
        return (int) MAXMCOUNT.get(s);
    }

    public static void setMaxmcount(long s, int v) {
        MAXMCOUNT.set(s, v);
    }

    public static long midle(long s) {
        return (long) MIDLE.get(s);
    }

    public static void setMidle(long s, long v) {
        MIDLE.set(s, v);
    }

    public static int nmidleOpaque(long s) {
        return (int) NMIDLE.getOpaque(s);
    }

    public static void setNmidleOpaque(long s, int v) {
        NMIDLE.setOpaque(s, v);
    }

    public static int nmidlelocked(long s) {
        return (int) NMIDLELOCKED.get(s);
    }

    public static void setNmidlelocked(long s, int v) {
        NMIDLELOCKED.set(s, v);
    }

    public static long mnext(long s) {
        return (long) MNEXT.get(s);
    }

    public static void setMnext(long s, long v) {
        MNEXT.set(s, v);
    }

    public static long nmfreed(long s) {
        return (long) NMFREED.get(s);
    }

    public static void setNmfreed(long s, long v) {
        NMFREED.set(s, v);
    }

    public static int nmsys(long s) {
        return (int) NMSYS.get(s);
    }

    public static void setNmsys(long s, int v) {
        NMSYS.set(s, v);
    }

    public static int stopwait(long s) {
        return (int) STOPWAIT.get(s);
    }

    public static void setStopwait(long s, int v) {
        STOPWAIT.set(s, v);
    }

    public static long pidle(long s) {
        return (long) PIDLE.get(s);
    }

    public static void setPidle(long s, long v) {
        PIDLE.set(s, v);
    }

    public static long allm(long s) {
        return (long) ALLM.get(s);
    }

    public static void setAllm(long s, long v) {
        ALLM.set(s, v);
    }

    public static long allmOpaque(long s) {
        return (long) ALLM.getOpaque(s);
    }

    public static long gfree(long s) {
        return (long) GFREE.get(s);
    }

    public static void setGfree(long s, long v) {
        GFREE.set(s, v);
    }

    public static long gfreecountOpaque(long s) {
        return (long) GFREECOUNT.getOpaque(s);
    }

    public static void setGfreecountOpaque(long s, long v) {
        GFREECOUNT.setOpaque(s, v);
    }

    public static int gomaxprocsOpaque(long s) {
        return (int) GOMAXPROCS.getOpaque(s);
    }

    public static void setGomaxprocsOpaque(long s, int v) {
        GOMAXPROCS.setOpaque(s, v);
    }

    public static int runqsizeAcquire(long s) {
        return (int) RUNQSIZE.getAcquire(s);
    }

    public static int runqsizeOpaque(long s) {
        return (int) RUNQSIZE.getOpaque(s);
    }

    public static void setRunqsizeOpaque(long s, int v) {
        RUNQSIZE.setOpaque(s, v);
    }

    public static int gcwaitingAcquire(long s) {
        return (int) GCWAITING.getAcquire(s);
    }

    public static int gcwaitingVolatile(long s) {
        return (int) GCWAITING.getVolatile(s);
    }

    public static void setGcwaitingVolatile(long s, int v) {
        GCWAITING.setVolatile(s, v);
    }

    public static int sysmonwait(long s) {
        return (int) SYSMONWAIT.get(s);
    }

    public static void setSysmonwait(long s, int v) {
        SYSMONWAIT.set(s, v);
    }

    public static int sysmonwaitAcquire(long s) {
        return (int) SYSMONWAIT.getAcquire(s);
    }

    public static void setSysmonwaitVolatile(long s, int v) {
        SYSMONWAIT.setVolatile(s, v);
    }

    public static int closingAcquire(long s) {
        return (int) CLOSING.getAcquire(s);
    }

    public static void setClosingVolatile(long s, int v) {
        CLOSING.setVolatile(s, v);
    }

    public static int deadAcquire(long s) {
        return (int) DEAD.getAcquire(s);
    }

    public static void setDeadVolatile(long s, int v) {
        DEAD.setVolatile(s, v);
    }

    public static long allpAcquire(long s) {
        return (long) ALLP.getAcquire(s);
    }

    public static void setAllpRelease(long s, long v) {
        ALLP.setRelease(s, v);
    }

    public static long idlepMaskAcquire(long s) {
        return (long) IDLEPMASK.getAcquire(s);
    }

    public static void setIdlepMaskRelease(long s, long v) {
        IDLEPMASK.setRelease(s, v);
    }

    public static long timerpMaskAcquire(long s) {
        return (long) TIMERPMASK.getAcquire(s);
    }

    public static void setTimerpMaskRelease(long s, long v) {
        TIMERPMASK.setRelease(s, v);
    }

    public static int npidleVolatile(long s) {
        return (int) NPIDLE.getVolatile(s);
    }

    /** Adds and returns the new value; volatile. */
    public static int addNpidle(long s, int d) {
        return (int) NPIDLE.getAndAdd(s, d) + d;
    }

    public static int nmspinningVolatile(long s) {
        return (int) NMSPINNING.getVolatile(s);
    }

    /** Adds and returns the new value; volatile. */
    public static int addNmspinning(long s, int d) {
        return (int) NMSPINNING.getAndAdd(s, d) + d;
    }

    public static boolean casNmspinning(long s, int from, int to) {
        return NMSPINNING.compareAndSet(s, from, to);
    }

    public static int needspinningVolatile(long s) {
        return (int) NEEDSPINNING.getVolatile(s);
    }

    public static void setNeedspinningVolatile(long s, int v) {
        NEEDSPINNING.setVolatile(s, v);
    }

    public static int xchgNeedspinning(long s, int v) {
        return (int) NEEDSPINNING.getAndSet(s, v);
    }

    /** Adds and returns the new value; volatile. */
    public static long addGoidgen(long s, long d) {
        return (long) GOIDGEN.getAndAdd(s, d) + d;
    }

    public static long goidgenOpaque(long s) {
        return (long) GOIDGEN.getOpaque(s);
    }

    /** Adds and returns the new value; volatile. */
    public static long addNgsys(long s, long d) {
        return (long) NGSYS.getAndAdd(s, d) + d;
    }

    public static long ngsysOpaque(long s) {
        return (long) NGSYS.getOpaque(s);
    }

    /** Adds and returns the new value; volatile. */
    public static long addAllglen(long s, long d) {
        return (long) ALLGLEN.getAndAdd(s, d) + d;
    }

    public static long allglenOpaque(long s) {
        return (long) ALLGLEN.getOpaque(s);
    }

    /** Adds and returns the new value; volatile. */
    public static long addNjdkwait(long s, long d) {
        return (long) NJDKWAIT.getAndAdd(s, d) + d;
    }

    public static long njdkwaitVolatile(long s) {
        return (long) NJDKWAIT.getVolatile(s);
    }

    public static long lastpollVolatile(long s) {
        return (long) LASTPOLL.getVolatile(s);
    }

    public static void setLastpollVolatile(long s, long v) {
        LASTPOLL.setVolatile(s, v);
    }

    public static long xchgLastpoll(long s, long v) {
        return (long) LASTPOLL.getAndSet(s, v);
    }

    public static boolean casLastpoll(long s, long from, long to) {
        return LASTPOLL.compareAndSet(s, from, to);
    }

    public static int xchgPollingNet(long s, int v) {
        return (int) POLLINGNET.getAndSet(s, v);
    }

    public static void setPollingNetRelease(long s, int v) {
        POLLINGNET.setRelease(s, v);
    }

    public static int netpollWaitersVolatile(long s) {
        return (int) NETPOLLWAITERS.getVolatile(s);
    }

    /** Adds and returns the new value; volatile. */
    public static int addNetpollWaiters(long s, int d) {
        return (int) NETPOLLWAITERS.getAndAdd(s, d) + d;
    }

    public static boolean casNetpollWakeSig(long s, int from, int to) {
        return NETPOLLWAKESIG.compareAndSet(s, from, to);
    }

    public static void setNetpollWakeSigVolatile(long s, int v) {
        NETPOLLWAKESIG.setVolatile(s, v);
    }

    public static long pollUntilVolatile(long s) {
        return (long) POLLUNTIL.getVolatile(s);
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

    /** The address of the word itself. */
    public static long sysmonlockAddress(long s) {
        return s + SYSMONLOCK_OFFSET;
    }

    public static long nspawnexternAcquire(long s) {
        return (long) NSPAWNEXTERN.getAcquire(s);
    }

    /** Adds and returns the new value; volatile. */
    public static long addNspawnextern(long s, long d) {
        return (long) NSPAWNEXTERN.getAndAdd(s, d) + d;
    }

    public static long procresizetime(long s) {
        return (long) PROCRESIZETIME.get(s);
    }

    public static long procresizetimeVolatile(long s) {
        return (long) PROCRESIZETIME.getVolatile(s);
    }

    public static void setProcresizetimeVolatile(long s, long v) {
        PROCRESIZETIME.setVolatile(s, v);
    }

    public static long totaltime(long s) {
        return (long) TOTALTIME.get(s);
    }

    public static void setTotaltime(long s, long v) {
        TOTALTIME.set(s, v);
    }

    public static long nexitexternAcquire(long s) {
        return (long) NEXITEXTERN.getAcquire(s);
    }

    /** Adds and returns the new value; volatile. */
    public static long addNexitextern(long s, long d) {
        return (long) NEXITEXTERN.getAndAdd(s, d) + d;
    }

    public static long injectAcquire(long s) {
        return (long) INJECT.getAcquire(s);
    }

    public static long xchgInject(long s, long v) {
        return (long) INJECT.getAndSet(s, v);
    }
}
