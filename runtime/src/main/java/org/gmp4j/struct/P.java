// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.p;

/**
 * Accessors of {@code struct p} in gmp.h, which says what each field is and names its writer. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields belong to the M that holds
 * the P; acquirep and releasep hand them over under sched.lock. The ring's words are in queue.Runq, the state in PStatus.
 */
public final class P {
    private static final IntField ID = Mem.intField(p.layout(), "id");
    private static final LongField LINK = Mem.longField(p.layout(), "link");
    private static final LongField M = Mem.longField(p.layout(), "m");
    private static final IntField SCHEDTICK = Mem.intField(p.layout(), "schedtick");
    private static final IntField SYSCALLTICK = Mem.intField(p.layout(), "syscalltick");
    private static final LongField GOIDCACHE = Mem.longField(p.layout(), "goidcache");
    private static final LongField GOIDCACHEEND = Mem.longField(p.layout(), "goidcacheend");
    private static final LongField GFREE = Mem.longField(p.layout(), "gfree");
    private static final IntField GFREEN = Mem.intField(p.layout(), "gfreen");
    private static final LongField SUDOGCACHE = Mem.longField(p.layout(), "sudogcache");
    private static final IntField SUDOGN = Mem.intField(p.layout(), "sudogn");
    private static final LongField NSPAWN = Mem.longField(p.layout(), "nspawn");
    private static final LongField NSTEAL = Mem.longField(p.layout(), "nsteal");
    private static final LongField NSTEALTRY = Mem.longField(p.layout(), "nstealtry");
    private static final LongField NSWITCH = Mem.longField(p.layout(), "nswitch");
    private static final LongField NINPLACE = Mem.longField(p.layout(), "ninplace");
    private static final LongField IDLESINCE = Mem.longField(p.layout(), "idlesince");
    private static final LongField IDLETIME = Mem.longField(p.layout(), "idletime");
    private static final long TIMERSLOCK_OFFSET = Mem.offset(p.layout(), "timersLock");
    private static final IntField TIMERSLEN = Mem.intField(p.layout(), "timersLen");
    private static final IntField TIMERSCAP = Mem.intField(p.layout(), "timersCap");
    private static final LongField TIMERS = Mem.longField(p.layout(), "timers");
    private static final LongField TIMER0WHEN = Mem.longField(p.layout(), "timer0When");
    private static final LongField NEXIT = Mem.longField(p.layout(), "nexit");
    private static final IntField LONGCALL = Mem.intField(p.layout(), "longcall");
    private static final IntField GLOBALDUE = Mem.intField(p.layout(), "globaldue");

    private P() {
    }

    public static int id(long p) {
        return ID.get(p);
    }

    public static void setId(long p, int v) {
        ID.set(p, v);
    }

    public static long link(long p) {
        return LINK.get(p);
    }

    public static void setLink(long p, long v) {
        LINK.set(p, v);
    }

    public static long m(long p) {
        return M.get(p);
    }

    public static void setMOpaque(long p, long v) {
        M.setOpaque(p, v);
    }

    public static long mOpaque(long p) {
        return M.getOpaque(p);
    }

    public static int schedtick(long p) {
        return SCHEDTICK.get(p);
    }

    public static void setSchedtickOpaque(long p, int v) {
        SCHEDTICK.setOpaque(p, v);
    }

    public static int schedtickOpaque(long p) {
        return SCHEDTICK.getOpaque(p);
    }

    public static void setSyscalltick(long p, int v) {
        SYSCALLTICK.set(p, v);
    }

    public static long goidcache(long p) {
        return GOIDCACHE.get(p);
    }

    public static void setGoidcache(long p, long v) {
        GOIDCACHE.set(p, v);
    }

    public static long goidcacheend(long p) {
        return GOIDCACHEEND.get(p);
    }

    public static void setGoidcacheend(long p, long v) {
        GOIDCACHEEND.set(p, v);
    }

    public static long gfree(long p) {
        return GFREE.get(p);
    }

    public static void setGfree(long p, long v) {
        GFREE.set(p, v);
    }

    public static int gfreen(long p) {
        return GFREEN.get(p);
    }

    public static void setGfreen(long p, int v) {
        GFREEN.set(p, v);
    }

    public static int gfreenOpaque(long p) {
        return GFREEN.getOpaque(p);
    }

    public static long sudogcache(long p) {
        return SUDOGCACHE.get(p);
    }

    public static void setSudogcache(long p, long v) {
        SUDOGCACHE.set(p, v);
    }

    public static int sudogn(long p) {
        return SUDOGN.get(p);
    }

    public static void setSudogn(long p, int v) {
        SUDOGN.set(p, v);
    }

    public static long nspawn(long p) {
        return NSPAWN.get(p);
    }

    public static long nspawnAcquire(long p) {
        return NSPAWN.getAcquire(p);
    }

    public static void setNspawnRelease(long p, long v) {
        NSPAWN.setRelease(p, v);
    }

    public static long nstealOpaque(long p) {
        return NSTEAL.getOpaque(p);
    }

    public static void setNstealOpaque(long p, long v) {
        NSTEAL.setOpaque(p, v);
    }

    public static long nstealtryOpaque(long p) {
        return NSTEALTRY.getOpaque(p);
    }

    public static void setNstealtryOpaque(long p, long v) {
        NSTEALTRY.setOpaque(p, v);
    }

    public static long nswitchOpaque(long p) {
        return NSWITCH.getOpaque(p);
    }

    public static void setNswitchOpaque(long p, long v) {
        NSWITCH.setOpaque(p, v);
    }

    public static long ninplaceOpaque(long p) {
        return NINPLACE.getOpaque(p);
    }

    public static void setNinplaceOpaque(long p, long v) {
        NINPLACE.setOpaque(p, v);
    }

    public static long idlesince(long p) {
        return IDLESINCE.get(p);
    }

    public static void setIdlesince(long p, long v) {
        IDLESINCE.set(p, v);
    }

    public static long idletimeOpaque(long p) {
        return IDLETIME.getOpaque(p);
    }

    public static void setIdletimeOpaque(long p, long v) {
        IDLETIME.setOpaque(p, v);
    }

    /** The address of the word itself. */
    public static long timersLockAddress(long p) {
        return p + TIMERSLOCK_OFFSET;
    }

    public static int timersLenOpaque(long p) {
        return TIMERSLEN.getOpaque(p);
    }

    public static void setTimersLenOpaque(long p, int v) {
        TIMERSLEN.setOpaque(p, v);
    }

    public static int timersCap(long p) {
        return TIMERSCAP.get(p);
    }

    public static void setTimersCap(long p, int v) {
        TIMERSCAP.set(p, v);
    }

    public static long timers(long p) {
        return TIMERS.get(p);
    }

    public static void setTimers(long p, long v) {
        TIMERS.set(p, v);
    }

    public static long timer0WhenAcquire(long p) {
        return TIMER0WHEN.getAcquire(p);
    }

    public static void setTimer0WhenRelease(long p, long v) {
        TIMER0WHEN.setRelease(p, v);
    }

    public static long nexit(long p) {
        return NEXIT.get(p);
    }

    public static long nexitAcquire(long p) {
        return NEXIT.getAcquire(p);
    }

    public static void setNexitRelease(long p, long v) {
        NEXIT.setRelease(p, v);
    }

    public static int syscalltickOpaque(long p) {
        return SYSCALLTICK.getOpaque(p);
    }

    public static int longcallOpaque(long p) {
        return LONGCALL.getOpaque(p);
    }

    public static void setLongcallOpaque(long p, int v) {
        LONGCALL.setOpaque(p, v);
    }

    public static int globaldueOpaque(long p) {
        return GLOBALDUE.getOpaque(p);
    }

    public static void setGlobaldueOpaque(long p, int v) {
        GLOBALDUE.setOpaque(p, v);
    }
}
