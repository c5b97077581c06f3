// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * The fields of {@code struct m} in gmp.h, which describes each field and names its writer. A use names its access mode; {@code get} and
 * {@code set} are plain. Plain accesses are by the M's own thread, under sched.lock, or before the M's thread is started or woken.
 */
public final class M {
    // Counters for org.gmp4j.metrics:
    public static final LongField NSLEEP = Struct.M.longField("nsleep");
    public static final LongField NSLEEPPOLL = Struct.M.longField("nsleeppoll");

    public static final LongField CURG = Struct.M.longField("curg");
    public static final LongField P = Struct.M.longField("p");
    public static final LongField OLDP = Struct.M.longField("oldp");
    public static final LongField LOCKEDG = Struct.M.longField("lockedg");
    public static final IntField LOCKS = Struct.M.intField("locks");
    public static final IntField SPINNING = Struct.M.intField("spinning");
    public static final IntField INCGO = Struct.M.intField("incgo");
    public static final LongField FASTRAND = Struct.M.longField("fastrand");
    public static final IntField LOCKEDEXT = Struct.M.intField("lockedExt");
    public static final IntField LOCKEDINT = Struct.M.intField("lockedInt");
    public static final IntField INDEX = Struct.M.intField("index");
    public static final LongField NEXTP = Struct.M.longField("nextp");
    public static final LongField SCHEDLINK = Struct.M.longField("schedlink");
    public static final LongField ALLLINK = Struct.M.longField("alllink");
    public static final LongField ID = Struct.M.longField("id");
    public static final LongField PROCID = Struct.M.longField("procid");
    public static final IntField CPU = Struct.M.intField("cpu");
    public static final IntField EXITED = Struct.M.intField("exited");
    private static final long PARK_OFFSET = Struct.M.offset("park");
    public static final IntField BLOCKED = Struct.M.intField("blocked");
    public static final IntField SIGREQ = Struct.M.intField("sigreq");
    public static final IntField SIGTICK = Struct.M.intField("sigtick");
    public static final LongField SIGSENT = Struct.M.longField("sigsent");
    public static final LongField SIGPREEMPT = Struct.M.longField("sigpreempt");
    public static final LongField SIGHANDOFF = Struct.M.longField("sighandoff");
    public static final LongField SIGIDLE = Struct.M.longField("sigidle");
    public static final LongField SIGLOCKS = Struct.M.longField("siglocks");
    public static final LongField SIGLATE = Struct.M.longField("siglate");
    public static final IntField TAKEN = Struct.M.intField("taken");
    public static final IntField GATE = Struct.M.intField("gate");
    private static final long GATE_OFFSET = Struct.M.offset("gate");

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
