// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.m;

/**
 * Accessors of {@code struct m} in gmp.h, which says what each field is and names its writer. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields are the thread's own.
 */
public final class M {
    /** Counters for {@code org.gmp4j.metrics}. */
    public static final LongField NSLEEP = Mem.longField(m.layout(), "nsleep");
    public static final LongField NSLEEPPOLL = Mem.longField(m.layout(), "nsleeppoll");

    private static final LongField CURG = Mem.longField(m.layout(), "curg");
    private static final LongField P = Mem.longField(m.layout(), "p");
    private static final LongField OLDP = Mem.longField(m.layout(), "oldp");
    private static final LongField LOCKEDG = Mem.longField(m.layout(), "lockedg");
    private static final IntField LOCKS = Mem.intField(m.layout(), "locks");
    private static final IntField SPINNING = Mem.intField(m.layout(), "spinning");
    private static final IntField INCGO = Mem.intField(m.layout(), "incgo");
    private static final LongField FASTRAND = Mem.longField(m.layout(), "fastrand");
    private static final IntField LOCKEDEXT = Mem.intField(m.layout(), "lockedExt");
    private static final IntField LOCKEDINT = Mem.intField(m.layout(), "lockedInt");
    private static final IntField INDEX = Mem.intField(m.layout(), "index");
    private static final LongField NEXTP = Mem.longField(m.layout(), "nextp");
    private static final LongField SCHEDLINK = Mem.longField(m.layout(), "schedlink");
    private static final LongField ALLLINK = Mem.longField(m.layout(), "alllink");
    private static final LongField ID = Mem.longField(m.layout(), "id");
    private static final LongField PROCID = Mem.longField(m.layout(), "procid");
    private static final IntField CPU = Mem.intField(m.layout(), "cpu");
    private static final IntField EXITED = Mem.intField(m.layout(), "exited");
    private static final long PARK_OFFSET = Mem.offset(m.layout(), "park");
    private static final IntField BLOCKED = Mem.intField(m.layout(), "blocked");
    private static final IntField SIGREQ = Mem.intField(m.layout(), "sigreq");
    private static final IntField SIGTICK = Mem.intField(m.layout(), "sigtick");
    private static final LongField SIGSENT = Mem.longField(m.layout(), "sigsent");
    private static final LongField SIGPREEMPT = Mem.longField(m.layout(), "sigpreempt");
    private static final LongField SIGHANDOFF = Mem.longField(m.layout(), "sighandoff");
    private static final LongField SIGIDLE = Mem.longField(m.layout(), "sigidle");
    private static final LongField SIGLOCKS = Mem.longField(m.layout(), "siglocks");
    private static final LongField SIGLATE = Mem.longField(m.layout(), "siglate");
    private static final IntField TAKEN = Mem.intField(m.layout(), "taken");
    private static final IntField GATE = Mem.intField(m.layout(), "gate");
    private static final long GATE_OFFSET = Mem.offset(m.layout(), "gate");

    /** {@code gate}, as in gmp.h. */
    public static final int GATE_SHUT = 0;
    public static final int GATE_OPEN = 1;
    public static final int GATE_ASKED = 2;
    public static final int GATE_TAKING = 3;

    private M() {
    }

    public static long curg(long m) {
        return CURG.get(m);
    }

    public static void setCurgOpaque(long m, long v) {
        CURG.setOpaque(m, v);
    }

    public static long curgOpaque(long m) {
        return CURG.getOpaque(m);
    }

    public static long p(long m) {
        return P.get(m);
    }

    public static void setPOpaque(long m, long v) {
        P.setOpaque(m, v);
    }

    public static long pOpaque(long m) {
        return P.getOpaque(m);
    }

    public static long oldp(long m) {
        return OLDP.get(m);
    }

    public static void setOldp(long m, long v) {
        OLDP.set(m, v);
    }

    public static long oldpOpaque(long m) {
        return OLDP.getOpaque(m);
    }

    public static long lockedg(long m) {
        return LOCKEDG.get(m);
    }

    public static void setLockedgOpaque(long m, long v) {
        LOCKEDG.setOpaque(m, v);
    }

    public static long lockedgOpaque(long m) {
        return LOCKEDG.getOpaque(m);
    }

    public static int spinning(long m) {
        return SPINNING.get(m);
    }

    public static void setSpinningOpaque(long m, int v) {
        SPINNING.setOpaque(m, v);
    }

    public static int spinningOpaque(long m) {
        return SPINNING.getOpaque(m);
    }

    public static int incgo(long m) {
        return INCGO.get(m);
    }

    public static int incgoOpaque(long m) {
        return INCGO.getOpaque(m);
    }

    public static void setIncgoOpaque(long m, int v) {
        INCGO.setOpaque(m, v);
    }

    public static long fastrand(long m) {
        return FASTRAND.get(m);
    }

    public static void setFastrand(long m, long v) {
        FASTRAND.set(m, v);
    }

    public static int lockedExt(long m) {
        return LOCKEDEXT.get(m);
    }

    public static void setLockedExt(long m, int v) {
        LOCKEDEXT.set(m, v);
    }

    public static int lockedInt(long m) {
        return LOCKEDINT.get(m);
    }

    public static void setLockedInt(long m, int v) {
        LOCKEDINT.set(m, v);
    }

    public static int index(long m) {
        return INDEX.get(m);
    }

    public static void setIndex(long m, int v) {
        INDEX.set(m, v);
    }

    public static long nextp(long m) {
        return NEXTP.get(m);
    }

    public static void setNextp(long m, long v) {
        NEXTP.set(m, v);
    }

    public static long schedlink(long m) {
        return SCHEDLINK.get(m);
    }

    public static void setSchedlink(long m, long v) {
        SCHEDLINK.set(m, v);
    }

    public static void setAlllink(long m, long v) {
        ALLLINK.set(m, v);
    }

    public static long id(long m) {
        return ID.get(m);
    }

    public static void setId(long m, long v) {
        ID.set(m, v);
    }

    public static long procid(long m) {
        return PROCID.get(m);
    }

    public static void setProcid(long m, long v) {
        PROCID.set(m, v);
    }

    public static int cpu(long m) {
        return CPU.get(m);
    }

    public static void setCpu(long m, int v) {
        CPU.set(m, v);
    }

    public static int exited(long m) {
        return EXITED.get(m);
    }

    public static void setExited(long m, int v) {
        EXITED.set(m, v);
    }

    /** The address of the word itself. */
    public static long parkAddress(long m) {
        return m + PARK_OFFSET;
    }

    public static int blockedOpaque(long m) {
        return BLOCKED.getOpaque(m);
    }

    public static void setBlockedOpaque(long m, int v) {
        BLOCKED.setOpaque(m, v);
    }

    public static int locksOpaque(long m) {
        return LOCKS.getOpaque(m);
    }

    public static int locksAcquire(long m) {
        return LOCKS.getAcquire(m);
    }

    public static void setLocksOpaque(long m, int v) {
        LOCKS.setOpaque(m, v);
    }

    public static void setSigreqRelease(long m, int v) {
        SIGREQ.setRelease(m, v);
    }

    public static int sigreqOpaque(long m) {
        return SIGREQ.getOpaque(m);
    }

    public static void setSigtickOpaque(long m, int v) {
        SIGTICK.setOpaque(m, v);
    }

    public static long sigsentOpaque(long m) {
        return SIGSENT.getOpaque(m);
    }

    public static void setSigsentOpaque(long m, long v) {
        SIGSENT.setOpaque(m, v);
    }

    public static long sigpreemptOpaque(long m) {
        return SIGPREEMPT.getOpaque(m);
    }

    public static long sighandoffOpaque(long m) {
        return SIGHANDOFF.getOpaque(m);
    }

    public static long sigidleOpaque(long m) {
        return SIGIDLE.getOpaque(m);
    }

    public static long siglocksOpaque(long m) {
        return SIGLOCKS.getOpaque(m);
    }

    public static long siglateOpaque(long m) {
        return SIGLATE.getOpaque(m);
    }

    public static int takenOpaque(long m) {
        return TAKEN.getOpaque(m);
    }

    public static void setTakenOpaque(long m, int v) {
        TAKEN.setOpaque(m, v);
    }

    /** The address of the word itself. */
    public static long gateAddress(long m) {
        return m + GATE_OFFSET;
    }

    public static int gateOpaque(long m) {
        return GATE.getOpaque(m);
    }

    public static int gateVolatile(long m) {
        return GATE.getVolatile(m);
    }

    public static boolean casGate(long m, int from, int to) {
        return GATE.compareAndSet(m, from, to);
    }

    public static void setGateRelease(long m, int v) {
        GATE.setRelease(m, v);
    }

    /** The thread itself, with locks raised: gets a P, and the gate with it. */
    public static void attachP(long m, long pp) {
        P.setOpaque(m, pp);
        GATE.setOpaque(m, GATE_OPEN);
    }

    /** The thread itself, with locks raised: has no P any more. */
    public static void detachP(long m) {
        P.setOpaque(m, 0L);
        GATE.setOpaque(m, GATE_SHUT);
    }
}
