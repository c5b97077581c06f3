package org.gmp4j.struct;

import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.gmp.g;

/**
 * Accessors of {@code struct g} in gmp.h, which says what each field is and who may write it. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields belong to the G's owner: the M that
 * runs it, or whoever holds it in its hands between two queues; the CAS on the status hands ownership over.
 */
public final class G {
    private static final VarHandle INDEX = Mem.field(g.layout(), "index");
    private static final VarHandle M = Mem.field(g.layout(), "m");
    private static final VarHandle SCHEDLINK = Mem.field(g.layout(), "schedlink");
    private static final VarHandle GOID = Mem.field(g.layout(), "goid");
    private static final VarHandle PREEMPT = Mem.field(g.layout(), "preempt");
    private static final VarHandle WAITREASON = Mem.field(g.layout(), "waitreason");
    private static final VarHandle SELECTDONE = Mem.field(g.layout(), "selectDone");
    private static final VarHandle WAITSINCE = Mem.field(g.layout(), "waitsince");
    private static final VarHandle PARAM = Mem.field(g.layout(), "param");
    private static final VarHandle WAITING = Mem.field(g.layout(), "waiting");
    private static final VarHandle LOCKEDM = Mem.field(g.layout(), "lockedm");
    private static final VarHandle NOCOUNT = Mem.field(g.layout(), "nocount");
    private static final VarHandle PARENTGOID = Mem.field(g.layout(), "parentGoid");
    private static final VarHandle ALLOCSEQ = Mem.field(g.layout(), "allocseq");
    private static final VarHandle HASSTACK = Mem.field(g.layout(), "hasstack");
    private static final VarHandle SLEEPWHEN = Mem.field(g.layout(), "sleepWhen");

    private G() {
    }

    public static int index(long g) {
        return (int) INDEX.get(g);
    }

    public static void setIndex(long g, int v) {
        INDEX.set(g, v);
    }

    public static long m(long g) {
        return (long) M.get(g);
    }

    public static void setM(long g, long v) {
        M.set(g, v);
    }

    public static long mOpaque(long g) {
        return (long) M.getOpaque(g);
    }

    public static long schedlink(long g) {
        return (long) SCHEDLINK.get(g);
    }

    public static void setSchedlink(long g, long v) {
        SCHEDLINK.set(g, v);
    }

    public static long goid(long g) {
        return (long) GOID.get(g);
    }

    public static void setGoid(long g, long v) {
        GOID.set(g, v);
    }

    public static int preemptOpaque(long g) {
        return (int) PREEMPT.getOpaque(g);
    }

    public static void setPreemptOpaque(long g, int v) {
        PREEMPT.setOpaque(g, v);
    }

    public static int waitreasonOpaque(long g) {
        return (int) WAITREASON.getOpaque(g);
    }

    public static void setWaitreasonOpaque(long g, int v) {
        WAITREASON.setOpaque(g, v);
    }

    public static int selectDone(long g) {
        return (int) SELECTDONE.get(g);
    }

    public static void setSelectDone(long g, int v) {
        SELECTDONE.set(g, v);
    }

    public static boolean casSelectDone(long g, int from, int to) {
        return SELECTDONE.compareAndSet(g, from, to);
    }

    public static long waitsinceOpaque(long g) {
        return (long) WAITSINCE.getOpaque(g);
    }

    public static void setWaitsinceOpaque(long g, long v) {
        WAITSINCE.setOpaque(g, v);
    }

    public static long param(long g) {
        return (long) PARAM.get(g);
    }

    public static void setParam(long g, long v) {
        PARAM.set(g, v);
    }

    public static long waiting(long g) {
        return (long) WAITING.get(g);
    }

    public static void setWaiting(long g, long v) {
        WAITING.set(g, v);
    }

    public static long lockedmOpaque(long g) {
        return (long) LOCKEDM.getOpaque(g);
    }

    public static long lockedm(long g) {
        return (long) LOCKEDM.get(g);
    }

    public static void setLockedmOpaque(long g, long v) {
        LOCKEDM.setOpaque(g, v);
    }

    public static int nocount(long g) {
        return (int) NOCOUNT.get(g);
    }

    public static void setNocount(long g, int v) {
        NOCOUNT.set(g, v);
    }

    public static long parentGoid(long g) {
        return (long) PARENTGOID.get(g);
    }

    public static void setParentGoid(long g, long v) {
        PARENTGOID.set(g, v);
    }

    public static long allocseq(long g) {
        return (long) ALLOCSEQ.get(g);
    }

    public static void setAllocseq(long g, long v) {
        ALLOCSEQ.set(g, v);
    }

    public static int hasstack(long g) {
        return (int) HASSTACK.get(g);
    }

    public static void setHasstack(long g, int v) {
        HASSTACK.set(g, v);
    }

    public static long sleepWhen(long g) {
        return (long) SLEEPWHEN.get(g);
    }

    public static void setSleepWhen(long g, long v) {
        SLEEPWHEN.set(g, v);
    }
}
