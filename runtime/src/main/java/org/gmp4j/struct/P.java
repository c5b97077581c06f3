package org.gmp4j.struct;

import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.gmp.p;

/**
 * Accessors of {@code struct p} in gmp.h, which says what each field is and who may write it. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields belong to the M that holds
 * the P; acquirep and releasep hand them over under sched.lock. The ring's words are in queue.Runq, the state in PStatus.
 */
public final class P {
    private static final VarHandle ID = Mem.field(p.layout(), "id");
    private static final VarHandle LINK = Mem.field(p.layout(), "link");
    private static final VarHandle M = Mem.field(p.layout(), "m");
    private static final VarHandle SCHEDTICK = Mem.field(p.layout(), "schedtick");
    private static final VarHandle SYSCALLTICK = Mem.field(p.layout(), "syscalltick");
    private static final VarHandle GOIDCACHE = Mem.field(p.layout(), "goidcache");
    private static final VarHandle GOIDCACHEEND = Mem.field(p.layout(), "goidcacheend");
    private static final VarHandle GFREE = Mem.field(p.layout(), "gfree");
    private static final VarHandle GFREEN = Mem.field(p.layout(), "gfreen");
    private static final VarHandle SUDOGCACHE = Mem.field(p.layout(), "sudogcache");
    private static final VarHandle SUDOGN = Mem.field(p.layout(), "sudogn");
    private static final VarHandle NSPAWN = Mem.field(p.layout(), "nspawn");
    private static final VarHandle NSTEAL = Mem.field(p.layout(), "nsteal");
    private static final VarHandle NSTEALTRY = Mem.field(p.layout(), "nstealtry");
    private static final VarHandle NSWITCH = Mem.field(p.layout(), "nswitch");
    private static final VarHandle NINPLACE = Mem.field(p.layout(), "ninplace");
    private static final VarHandle IDLESINCE = Mem.field(p.layout(), "idlesince");
    private static final VarHandle IDLETIME = Mem.field(p.layout(), "idletime");
    private static final VarHandle TIMERSLOCK = Mem.field(p.layout(), "timersLock");
    private static final long TIMERSLOCK_OFFSET = Mem.offset(p.layout(), "timersLock");
    private static final VarHandle TIMERSLEN = Mem.field(p.layout(), "timersLen");
    private static final VarHandle TIMERSCAP = Mem.field(p.layout(), "timersCap");
    private static final VarHandle TIMERS = Mem.field(p.layout(), "timers");
    private static final VarHandle TIMER0WHEN = Mem.field(p.layout(), "timer0When");
    private static final VarHandle NEXIT = Mem.field(p.layout(), "nexit");

    private P() {
    }

    public static int id(long p) {
        return (int) ID.get(p);
    }

    public static void setId(long p, int v) {
        ID.set(p, v);
    }

    public static long link(long p) {
        return (long) LINK.get(p);
    }

    public static void setLink(long p, long v) {
        LINK.set(p, v);
    }

    public static long m(long p) {
        return (long) M.get(p);
    }

    public static void setMOpaque(long p, long v) {
        M.setOpaque(p, v);
    }

    public static long mOpaque(long p) {
        return (long) M.getOpaque(p);
    }

    public static int schedtick(long p) {
        return (int) SCHEDTICK.get(p);
    }

    public static void setSchedtickOpaque(long p, int v) {
        SCHEDTICK.setOpaque(p, v);
    }

    public static int schedtickOpaque(long p) {
        return (int) SCHEDTICK.getOpaque(p);
    }

    public static int syscalltick(long p) {
        return (int) SYSCALLTICK.get(p);
    }

    public static void setSyscalltick(long p, int v) {
        SYSCALLTICK.set(p, v);
    }

    public static long goidcache(long p) {
        return (long) GOIDCACHE.get(p);
    }

    public static void setGoidcache(long p, long v) {
        GOIDCACHE.set(p, v);
    }

    public static long goidcacheend(long p) {
        return (long) GOIDCACHEEND.get(p);
    }

    public static void setGoidcacheend(long p, long v) {
        GOIDCACHEEND.set(p, v);
    }

    public static long gfree(long p) {
        return (long) GFREE.get(p);
    }

    public static void setGfree(long p, long v) {
        GFREE.set(p, v);
    }

    public static int gfreen(long p) {
        return (int) GFREEN.get(p);
    }

    public static void setGfreen(long p, int v) {
        GFREEN.set(p, v);
    }

    public static int gfreenOpaque(long p) {
        return (int) GFREEN.getOpaque(p);
    }

    public static long sudogcache(long p) {
        return (long) SUDOGCACHE.get(p);
    }

    public static void setSudogcache(long p, long v) {
        SUDOGCACHE.set(p, v);
    }

    public static int sudogn(long p) {
        return (int) SUDOGN.get(p);
    }

    public static void setSudogn(long p, int v) {
        SUDOGN.set(p, v);
    }

    public static long nspawn(long p) {
        return (long) NSPAWN.get(p);
    }

    public static long nspawnAcquire(long p) {
        return (long) NSPAWN.getAcquire(p);
    }

    public static void setNspawnRelease(long p, long v) {
        NSPAWN.setRelease(p, v);
    }

    public static long nstealOpaque(long p) {
        return (long) NSTEAL.getOpaque(p);
    }

    public static void setNstealOpaque(long p, long v) {
        NSTEAL.setOpaque(p, v);
    }

    public static long nstealtryOpaque(long p) {
        return (long) NSTEALTRY.getOpaque(p);
    }

    public static void setNstealtryOpaque(long p, long v) {
        NSTEALTRY.setOpaque(p, v);
    }

    public static long nswitchOpaque(long p) {
        return (long) NSWITCH.getOpaque(p);
    }

    public static void setNswitchOpaque(long p, long v) {
        NSWITCH.setOpaque(p, v);
    }

    public static long ninplaceOpaque(long p) {
        return (long) NINPLACE.getOpaque(p);
    }

    public static void setNinplaceOpaque(long p, long v) {
        NINPLACE.setOpaque(p, v);
    }

    public static long idlesince(long p) {
        return (long) IDLESINCE.get(p);
    }

    public static void setIdlesince(long p, long v) {
        IDLESINCE.set(p, v);
    }

    public static long idletimeOpaque(long p) {
        return (long) IDLETIME.getOpaque(p);
    }

    public static void setIdletimeOpaque(long p, long v) {
        IDLETIME.setOpaque(p, v);
    }

    /** The address of the word itself. */
    public static long timersLockAddress(long p) {
        return p + TIMERSLOCK_OFFSET;
    }

    public static int timersLenOpaque(long p) {
        return (int) TIMERSLEN.getOpaque(p);
    }

    public static void setTimersLenOpaque(long p, int v) {
        TIMERSLEN.setOpaque(p, v);
    }

    public static int timersCap(long p) {
        return (int) TIMERSCAP.get(p);
    }

    public static void setTimersCap(long p, int v) {
        TIMERSCAP.set(p, v);
    }

    public static long timers(long p) {
        return (long) TIMERS.get(p);
    }

    public static void setTimers(long p, long v) {
        TIMERS.set(p, v);
    }

    public static long timer0WhenAcquire(long p) {
        return (long) TIMER0WHEN.getAcquire(p);
    }

    public static void setTimer0WhenRelease(long p, long v) {
        TIMER0WHEN.setRelease(p, v);
    }

    public static long nexit(long p) {
        return (long) NEXIT.get(p);
    }

    public static long nexitAcquire(long p) {
        return (long) NEXIT.getAcquire(p);
    }

    public static void setNexitRelease(long p, long v) {
        NEXIT.setRelease(p, v);
    }

    public static int syscalltickOpaque(long p) {
        return (int) SYSCALLTICK.getOpaque(p);
    }
}
