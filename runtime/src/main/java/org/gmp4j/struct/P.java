// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The fields of {@code struct p} in gmp.h, which describes each field and names its writer. A use names its access mode; {@code get} and
 * {@code set} are plain. Only the M that holds the P uses the fields that are accessed plainly. When the P passes to another M, sched.lock,
 * a note or a CAS on the status orders the accesses. The ring's words are in queue.Runq, the state in PStatus.
 */
public final class P {
    public static final IntField ID = Struct.P.intField("id");
    public static final LongField LINK = Struct.P.longField("link");
    public static final LongField M = Struct.P.longField("m");
    public static final IntField SCHEDTICK = Struct.P.intField("schedtick");
    public static final IntField SYSCALLTICK = Struct.P.intField("syscalltick");
    public static final LongField GOIDCACHE = Struct.P.longField("goidcache");
    public static final LongField GOIDCACHEEND = Struct.P.longField("goidcacheend");
    public static final LongField GFREE = Struct.P.longField("gfree");
    public static final IntField GFREEN = Struct.P.intField("gfreen");
    public static final LongField SUDOGCACHE = Struct.P.longField("sudogcache");
    public static final IntField SUDOGN = Struct.P.intField("sudogn");
    public static final IntField INHERITED = Struct.P.intField("inherited");
    public static final LongField NSPAWN = Struct.P.longField("nspawn");
    public static final LongField NSTEAL = Struct.P.longField("nsteal");
    public static final LongField NSTEALTRY = Struct.P.longField("nstealtry");
    public static final LongField NSWITCH = Struct.P.longField("nswitch");
    public static final LongField NINPLACE = Struct.P.longField("ninplace");
    public static final LongField IDLESINCE = Struct.P.longField("idlesince");
    public static final LongField IDLETIME = Struct.P.longField("idletime");
    private static final long TIMERSLOCK_OFFSET = Struct.P.offset("timersLock");
    public static final IntField TIMERSLEN = Struct.P.intField("timersLen");
    public static final IntField TIMERSCAP = Struct.P.intField("timersCap");
    public static final LongField TIMERS = Struct.P.longField("timers");
    public static final LongField TIMER0WHEN = Struct.P.longField("timer0When");
    public static final LongField NEXIT = Struct.P.longField("nexit");
    public static final IntField LONGCALL = Struct.P.intField("longcall");
    public static final IntField GLOBALDUE = Struct.P.intField("globaldue");

    private P() {
    }

    /** Returns the address of the word {@code timersLock}. */
    public static long timersLockAddress(long p) {
        return p + TIMERSLOCK_OFFSET;
    }
}
