// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.p;

/**
 * The fields of {@code struct p} in gmp.h, which describes each field and names its writer. A use names its access mode; {@code get} and
 * {@code set} are plain. Only the M that holds the P uses the fields that are accessed plainly. When the P passes to another M, sched.lock,
 * a note or a CAS on the status orders the accesses. The ring's words are in queue.Runq, the state in PStatus.
 */
public final class P {
    public static final IntField ID = Mem.intField(p.layout(), "id");
    public static final LongField LINK = Mem.longField(p.layout(), "link");
    public static final LongField M = Mem.longField(p.layout(), "m");
    public static final IntField SCHEDTICK = Mem.intField(p.layout(), "schedtick");
    public static final IntField SYSCALLTICK = Mem.intField(p.layout(), "syscalltick");
    public static final LongField GOIDCACHE = Mem.longField(p.layout(), "goidcache");
    public static final LongField GOIDCACHEEND = Mem.longField(p.layout(), "goidcacheend");
    public static final LongField GFREE = Mem.longField(p.layout(), "gfree");
    public static final IntField GFREEN = Mem.intField(p.layout(), "gfreen");
    public static final LongField SUDOGCACHE = Mem.longField(p.layout(), "sudogcache");
    public static final IntField SUDOGN = Mem.intField(p.layout(), "sudogn");
    public static final IntField INHERITED = Mem.intField(p.layout(), "inherited");
    public static final LongField NSPAWN = Mem.longField(p.layout(), "nspawn");
    public static final LongField NSTEAL = Mem.longField(p.layout(), "nsteal");
    public static final LongField NSTEALTRY = Mem.longField(p.layout(), "nstealtry");
    public static final LongField NSWITCH = Mem.longField(p.layout(), "nswitch");
    public static final LongField NINPLACE = Mem.longField(p.layout(), "ninplace");
    public static final LongField IDLESINCE = Mem.longField(p.layout(), "idlesince");
    public static final LongField IDLETIME = Mem.longField(p.layout(), "idletime");
    private static final long TIMERSLOCK_OFFSET = Mem.offset(p.layout(), "timersLock");
    public static final IntField TIMERSLEN = Mem.intField(p.layout(), "timersLen");
    public static final IntField TIMERSCAP = Mem.intField(p.layout(), "timersCap");
    public static final LongField TIMERS = Mem.longField(p.layout(), "timers");
    public static final LongField TIMER0WHEN = Mem.longField(p.layout(), "timer0When");
    public static final LongField NEXIT = Mem.longField(p.layout(), "nexit");
    public static final IntField LONGCALL = Mem.intField(p.layout(), "longcall");
    public static final IntField GLOBALDUE = Mem.intField(p.layout(), "globaldue");

    private P() {
    }

    /** Returns the address of the word {@code timersLock}. */
    public static long timersLockAddress(long p) {
        return p + TIMERSLOCK_OFFSET;
    }
}
