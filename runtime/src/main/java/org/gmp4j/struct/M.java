package org.gmp4j.struct;

import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.gmp.m;

/**
 * Accessors of {@code struct m} in gmp.h, which says what each field is and who may write it. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields are the thread's own.
 */
public final class M {
    private static final VarHandle CURG = Mem.field(m.layout(), "curg");
    private static final VarHandle P = Mem.field(m.layout(), "p");
    private static final VarHandle OLDP = Mem.field(m.layout(), "oldp");
    private static final VarHandle LOCKEDG = Mem.field(m.layout(), "lockedg");
    private static final VarHandle LOCKS = Mem.field(m.layout(), "locks");
    private static final VarHandle SPINNING = Mem.field(m.layout(), "spinning");
    private static final VarHandle INCGO = Mem.field(m.layout(), "incgo");
    private static final VarHandle FASTRAND = Mem.field(m.layout(), "fastrand");
    private static final VarHandle LOCKEDEXT = Mem.field(m.layout(), "lockedExt");
    private static final VarHandle LOCKEDINT = Mem.field(m.layout(), "lockedInt");
    private static final VarHandle INDEX = Mem.field(m.layout(), "index");
    private static final VarHandle NEXTP = Mem.field(m.layout(), "nextp");
    private static final VarHandle SCHEDLINK = Mem.field(m.layout(), "schedlink");
    private static final VarHandle ALLLINK = Mem.field(m.layout(), "alllink");
    private static final VarHandle FREELINK = Mem.field(m.layout(), "freelink");
    private static final VarHandle ID = Mem.field(m.layout(), "id");
    private static final VarHandle PROCID = Mem.field(m.layout(), "procid");
    private static final VarHandle CPU = Mem.field(m.layout(), "cpu");
    private static final VarHandle EXITED = Mem.field(m.layout(), "exited");
    private static final VarHandle PARK = Mem.field(m.layout(), "park");
    private static final long PARK_OFFSET = Mem.offset(m.layout(), "park");
    private static final VarHandle BLOCKED = Mem.field(m.layout(), "blocked");
    private static final VarHandle SYSCALLTICK = Mem.field(m.layout(), "syscalltick");
    private static final VarHandle SIGREQ = Mem.field(m.layout(), "sigreq");
    private static final VarHandle SIGTICK = Mem.field(m.layout(), "sigtick");
    private static final VarHandle SIGSENT = Mem.field(m.layout(), "sigsent");
    private static final VarHandle SIGPREEMPT = Mem.field(m.layout(), "sigpreempt");
    private static final VarHandle SIGHANDOFF = Mem.field(m.layout(), "sighandoff");
    private static final VarHandle SIGIDLE = Mem.field(m.layout(), "sigidle");
    private static final VarHandle SIGLOCKS = Mem.field(m.layout(), "siglocks");
    private static final VarHandle SIGLATE = Mem.field(m.layout(), "siglate");
    private static final VarHandle TAKEN = Mem.field(m.layout(), "taken");
    private static final VarHandle GATE = Mem.field(m.layout(), "gate");
    private static final long GATE_OFFSET = Mem.offset(m.layout(), "gate");

    /** {@code gate}, as in gmp.h. */
    public static final int GATE_SHUT = 0;
    public static final int GATE_OPEN = 1;
    public static final int GATE_ASKED = 2;
    public static final int GATE_TAKING = 3;

    private M() {
    }

    public static long curg(long m) {
        return (long) CURG.get(m);
    }

    public static void setCurgOpaque(long m, long v) {
        CURG.setOpaque(m, v);
    }

    public static long curgOpaque(long m) {
        return (long) CURG.getOpaque(m);
    }

    public static long p(long m) {
        return (long) P.get(m);
    }

    public static void setPOpaque(long m, long v) {
        P.setOpaque(m, v);
    }

    public static long pOpaque(long m) {
        return (long) P.getOpaque(m);
    }

    public static long oldp(long m) {
        return (long) OLDP.get(m);
    }

    public static void setOldp(long m, long v) {
        OLDP.set(m, v);
    }

    public static long oldpOpaque(long m) {
        return (long) OLDP.getOpaque(m);
    }

    public static long lockedg(long m) {
        return (long) LOCKEDG.get(m);
    }

    public static void setLockedgOpaque(long m, long v) {
        LOCKEDG.setOpaque(m, v);
    }

    public static long lockedgOpaque(long m) {
        return (long) LOCKEDG.getOpaque(m);
    }

    public static int spinning(long m) {
        return (int) SPINNING.get(m);
    }

    public static void setSpinningOpaque(long m, int v) {
        SPINNING.setOpaque(m, v);
    }

    public static int spinningOpaque(long m) {
        return (int) SPINNING.getOpaque(m);
    }

    public static int incgo(long m) {
        return (int) INCGO.get(m);
    }

    public static int incgoOpaque(long m) {
        return (int) INCGO.getOpaque(m);
    }

    public static void setIncgoOpaque(long m, int v) {
        INCGO.setOpaque(m, v);
    }

    public static long fastrand(long m) {
        return (long) FASTRAND.get(m);
    }

    public static void setFastrand(long m, long v) {
        FASTRAND.set(m, v);
    }

    public static int lockedExt(long m) {
        return (int) LOCKEDEXT.get(m);
    }

    public static void setLockedExt(long m, int v) {
        LOCKEDEXT.set(m, v);
    }

    public static int lockedInt(long m) {
        return (int) LOCKEDINT.get(m);
    }

    public static void setLockedInt(long m, int v) {
        LOCKEDINT.set(m, v);
    }

    public static int index(long m) {
        return (int) INDEX.get(m);
    }

    public static void setIndex(long m, int v) {
        INDEX.set(m, v);
    }

    public static long nextp(long m) {
        return (long) NEXTP.get(m);
    }

    public static void setNextp(long m, long v) {
        NEXTP.set(m, v);
    }

    public static long schedlink(long m) {
        return (long) SCHEDLINK.get(m);
    }

    public static void setSchedlink(long m, long v) {
        SCHEDLINK.set(m, v);
    }

    public static long alllink(long m) {
        return (long) ALLLINK.get(m);
    }

    public static void setAlllink(long m, long v) {
        ALLLINK.set(m, v);
    }

    public static long freelink(long m) {
        return (long) FREELINK.get(m);
    }

    public static void setFreelink(long m, long v) {
        FREELINK.set(m, v);
    }

    public static long id(long m) {
        return (long) ID.get(m);
    }

    public static void setId(long m, long v) {
        ID.set(m, v);
    }

    public static long procid(long m) {
        return (long) PROCID.get(m);
    }

    public static void setProcid(long m, long v) {
        PROCID.set(m, v);
    }

    public static int cpu(long m) {
        return (int) CPU.get(m);
    }

    public static void setCpu(long m, int v) {
        CPU.set(m, v);
    }

    public static int exited(long m) {
        return (int) EXITED.get(m);
    }

    public static void setExited(long m, int v) {
        EXITED.set(m, v);
    }

    /** The address of the word itself. */
    public static long parkAddress(long m) {
        return m + PARK_OFFSET;
    }

    public static int blockedOpaque(long m) {
        return (int) BLOCKED.getOpaque(m);
    }

    public static void setBlockedOpaque(long m, int v) {
        BLOCKED.setOpaque(m, v);
    }

    public static int locksOpaque(long m) {
        return (int) LOCKS.getOpaque(m);
    }

    public static int locksAcquire(long m) {
        return (int) LOCKS.getAcquire(m);
    }

    public static void setLocksOpaque(long m, int v) {
        LOCKS.setOpaque(m, v);
    }

    public static int syscalltick(long m) {
        return (int) SYSCALLTICK.get(m);
    }

    public static void setSyscalltick(long m, int v) {
        SYSCALLTICK.set(m, v);
    }

    public static void setSigreqRelease(long m, int v) {
        SIGREQ.setRelease(m, v);
    }

    public static int sigreqOpaque(long m) {
        return (int) SIGREQ.getOpaque(m);
    }

    public static void setSigtickOpaque(long m, int v) {
        SIGTICK.setOpaque(m, v);
    }

    public static long sigsentOpaque(long m) {
        return (long) SIGSENT.getOpaque(m);
    }

    public static void setSigsentOpaque(long m, long v) {
        SIGSENT.setOpaque(m, v);
    }

    public static long sigpreemptOpaque(long m) {
        return (long) SIGPREEMPT.getOpaque(m);
    }

    public static long sighandoffOpaque(long m) {
        return (long) SIGHANDOFF.getOpaque(m);
    }

    public static long sigidleOpaque(long m) {
        return (long) SIGIDLE.getOpaque(m);
    }

    public static long siglocksOpaque(long m) {
        return (long) SIGLOCKS.getOpaque(m);
    }

    public static long siglateOpaque(long m) {
        return (long) SIGLATE.getOpaque(m);
    }

    public static int takenOpaque(long m) {
        return (int) TAKEN.getOpaque(m);
    }

    public static void setTakenOpaque(long m, int v) {
        TAKEN.setOpaque(m, v);
    }

    /** The address of the word itself. */
    public static long gateAddress(long m) {
        return m + GATE_OFFSET;
    }

    public static int gateOpaque(long m) {
        return (int) GATE.getOpaque(m);
    }

    public static int gateVolatile(long m) {
        return (int) GATE.getVolatile(m);
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
