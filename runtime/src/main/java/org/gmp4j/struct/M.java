// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.m;

/**
 * The fields of {@code struct m} in gmp.h, which describes each field and names its writer. A use names its access mode; {@code get} and
 * {@code set} are plain. Plain accesses are by the M's own thread, under sched.lock, or before the M's thread is started or woken.
 */
public final class M {
    // Counters for org.gmp4j.metrics:
    public static final LongField NSLEEP = Mem.longField(m.layout(), "nsleep");
    public static final LongField NSLEEPPOLL = Mem.longField(m.layout(), "nsleeppoll");

    public static final LongField CURG = Mem.longField(m.layout(), "curg");
    public static final LongField P = Mem.longField(m.layout(), "p");
    public static final LongField OLDP = Mem.longField(m.layout(), "oldp");
    public static final LongField LOCKEDG = Mem.longField(m.layout(), "lockedg");
    public static final IntField LOCKS = Mem.intField(m.layout(), "locks");
    public static final IntField SPINNING = Mem.intField(m.layout(), "spinning");
    public static final IntField INCGO = Mem.intField(m.layout(), "incgo");
    public static final LongField FASTRAND = Mem.longField(m.layout(), "fastrand");
    public static final IntField LOCKEDEXT = Mem.intField(m.layout(), "lockedExt");
    public static final IntField LOCKEDINT = Mem.intField(m.layout(), "lockedInt");
    public static final IntField INDEX = Mem.intField(m.layout(), "index");
    public static final LongField NEXTP = Mem.longField(m.layout(), "nextp");
    public static final LongField SCHEDLINK = Mem.longField(m.layout(), "schedlink");
    public static final LongField ALLLINK = Mem.longField(m.layout(), "alllink");
    public static final LongField ID = Mem.longField(m.layout(), "id");
    public static final LongField PROCID = Mem.longField(m.layout(), "procid");
    public static final IntField CPU = Mem.intField(m.layout(), "cpu");
    public static final IntField EXITED = Mem.intField(m.layout(), "exited");
    private static final long PARK_OFFSET = Mem.offset(m.layout(), "park");
    public static final IntField BLOCKED = Mem.intField(m.layout(), "blocked");
    public static final IntField SIGREQ = Mem.intField(m.layout(), "sigreq");
    public static final IntField SIGTICK = Mem.intField(m.layout(), "sigtick");
    public static final LongField SIGSENT = Mem.longField(m.layout(), "sigsent");
    public static final LongField SIGPREEMPT = Mem.longField(m.layout(), "sigpreempt");
    public static final LongField SIGHANDOFF = Mem.longField(m.layout(), "sighandoff");
    public static final LongField SIGIDLE = Mem.longField(m.layout(), "sigidle");
    public static final LongField SIGLOCKS = Mem.longField(m.layout(), "siglocks");
    public static final LongField SIGLATE = Mem.longField(m.layout(), "siglate");
    public static final IntField TAKEN = Mem.intField(m.layout(), "taken");
    public static final IntField GATE = Mem.intField(m.layout(), "gate");
    private static final long GATE_OFFSET = Mem.offset(m.layout(), "gate");

    // The values of gate, which gmp.h describes:
    public static final int GATE_SHUT = 0;
    public static final int GATE_OPEN = 1;
    public static final int GATE_ASKED = 2;
    public static final int GATE_TAKING = 3;

    private M() {
    }

    /** Returns the address of the word {@code park}. */
    public static long parkAddress(long m) {
        return m + PARK_OFFSET;
    }

    /** Returns the address of the word {@code gate}. */
    public static long gateAddress(long m) {
        return m + GATE_OFFSET;
    }

    /** Gives the M a P, and opens its gate. Called by the M's thread while {@code m.locks} is above 0. */
    public static void attachP(long m, long pp) {
        P.setOpaque(m, pp);
        GATE.setOpaque(m, GATE_OPEN);
    }

    /** Takes the P away from the M, and shuts its gate. Called by the M's thread while {@code m.locks} is above 0. */
    public static void detachP(long m) {
        P.setOpaque(m, 0L);
        GATE.setOpaque(m, GATE_SHUT);
    }
}
