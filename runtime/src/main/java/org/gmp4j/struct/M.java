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

    public static long lockedg(long m) {
        return (long) LOCKEDG.get(m);
    }

    public static void setLockedgOpaque(long m, long v) {
        LOCKEDG.setOpaque(m, v);
    }

    public static long lockedgOpaque(long m) {
        return (long) LOCKEDG.getOpaque(m);
    }

    public static int locks(long m) {
        return (int) LOCKS.get(m);
    }

    public static void setLocks(long m, int v) {
        LOCKS.set(m, v);
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

    public static void setIncgo(long m, int v) {
        INCGO.set(m, v);
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
}
