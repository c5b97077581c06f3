// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The counters of {@code struct pstat} in gmp.h, which describes each of them. The struct is a part of {@code struct p}, and the methods
 * take the address of the P. The M that holds the P writes a counter, by {@link LongField#addOpaque}. Any thread reads it.
 */
public final class PStat {
    public static final LongField NLOCAL = counter("nlocal");
    public static final LongField NSTEALFAIL = counter("nstealfail");
    public static final LongField NSTEALOK = counter("nstealok");
    public static final LongField NOVERFLOW = counter("noverflow");
    public static final LongField NGLOBAL = counter("nglobal");
    public static final LongField NARRIVED = counter("narrived");
    public static final LongField NPOLLED = counter("npolled");
    public static final LongField NSPIN = counter("nspin");
    public static final LongField NNAP = counter("nnap");
    public static final LongField NPREEMPT = counter("npreempt");
    public static final LongField NPOINT = counter("npoint");
    public static final LongField NTIMER = counter("ntimer");
    public static final LongField MUTEXWAIT = counter("mutexwait");
    public static final Buckets LATENCY = Struct.P.buckets("stat.latency");
    public static final Buckets WAKEUP = Struct.P.buckets("stat.wakeup");
    private static final LongField STOLENFROM = counter("stolenfrom");

    private PStat() {
    }

    private static LongField counter(String name) {
        return Struct.P.longField("stat." + name);
    }

    /** Counts a steal of {@code n} Gs by {@code thief} from {@code victim}. */
    public static void stole(long thief, long victim, int n) {
        NSTEALOK.addOpaque(thief, 1);
        P.NSTEAL.addOpaque(thief, n);
        long at = STOLENFROM.getOpaque(thief) + ((long) P.ID.get(victim) << 3);
        Mem.LONG.addOpaque(at, n);
    }

    /** Sets the address of the P's counters of stolen Gs, one for each victim. Called while no M holds the P. */
    public static void setStolenFrom(long p, long address) {
        STOLENFROM.setOpaque(p, address);
    }

    /** Returns how many Gs {@code thief} has stolen from the P with the id {@code victim}, for which it must have a counter. */
    public static long stolenFrom(long thief, int victim) {
        return Mem.LONG.getOpaque(STOLENFROM.getOpaque(thief) + ((long) victim << 3));
    }
}
