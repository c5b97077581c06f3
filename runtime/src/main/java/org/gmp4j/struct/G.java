// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.ffi.gmp.g;

/**
 * Accessors of {@code struct g} in gmp.h, which says what each field is and names its writer. Static methods over an address;
 * the access mode is in the name, none means plain. Plain fields belong to the G's owner: the M that
 * runs it, or whoever holds it in its hands between two queues; the CAS on the status hands ownership over.
 */
public final class G {
    private static final IntField INDEX = Mem.intField(g.layout(), "index");
    private static final LongField M = Mem.longField(g.layout(), "m");
    private static final LongField SCHEDLINK = Mem.longField(g.layout(), "schedlink");
    private static final LongField GOID = Mem.longField(g.layout(), "goid");
    private static final IntField PREEMPT = Mem.intField(g.layout(), "preempt");
    private static final IntField WAITREASON = Mem.intField(g.layout(), "waitreason");
    private static final IntField SELECTDONE = Mem.intField(g.layout(), "selectDone");
    private static final LongField WAITSINCE = Mem.longField(g.layout(), "waitsince");
    private static final LongField PARAM = Mem.longField(g.layout(), "param");
    private static final LongField LOCKEDM = Mem.longField(g.layout(), "lockedm");
    private static final LongField PARENTGOID = Mem.longField(g.layout(), "parentGoid");
    private static final LongField ALLOCSEQ = Mem.longField(g.layout(), "allocseq");
    private static final IntField HASSTACK = Mem.intField(g.layout(), "hasstack");
    private static final LongField SLEEPWHEN = Mem.longField(g.layout(), "sleepWhen");

    private G() {
    }

    public static int index(long g) {
        return INDEX.get(g);
    }

    public static void setIndex(long g, int v) {
        INDEX.set(g, v);
    }

    public static long m(long g) {
        return M.get(g);
    }

    public static void setM(long g, long v) {
        M.set(g, v);
    }

    public static long mOpaque(long g) {
        return M.getOpaque(g);
    }

    public static long schedlink(long g) {
        return SCHEDLINK.get(g);
    }

    public static void setSchedlink(long g, long v) {
        SCHEDLINK.set(g, v);
    }

    public static long goid(long g) {
        return GOID.get(g);
    }

    public static void setGoid(long g, long v) {
        GOID.set(g, v);
    }

    public static int preemptOpaque(long g) {
        return PREEMPT.getOpaque(g);
    }

    public static void setPreemptOpaque(long g, int v) {
        PREEMPT.setOpaque(g, v);
    }

    public static int waitreasonOpaque(long g) {
        return WAITREASON.getOpaque(g);
    }

    public static void setWaitreasonOpaque(long g, int v) {
        WAITREASON.setOpaque(g, v);
    }

    public static void setSelectDone(long g, int v) {
        SELECTDONE.set(g, v);
    }

    public static boolean casSelectDone(long g, int from, int to) {
        return SELECTDONE.compareAndSet(g, from, to);
    }

    public static long waitsinceOpaque(long g) {
        return WAITSINCE.getOpaque(g);
    }

    public static void setWaitsinceOpaque(long g, long v) {
        WAITSINCE.setOpaque(g, v);
    }

    public static long param(long g) {
        return PARAM.get(g);
    }

    public static void setParam(long g, long v) {
        PARAM.set(g, v);
    }

    public static long lockedmOpaque(long g) {
        return LOCKEDM.getOpaque(g);
    }

    public static long lockedm(long g) {
        return LOCKEDM.get(g);
    }

    public static void setLockedmOpaque(long g, long v) {
        LOCKEDM.setOpaque(g, v);
    }

    public static long parentGoid(long g) {
        return PARENTGOID.get(g);
    }

    public static void setParentGoid(long g, long v) {
        PARENTGOID.set(g, v);
    }

    public static long allocseq(long g) {
        return ALLOCSEQ.get(g);
    }

    public static void setAllocseq(long g, long v) {
        ALLOCSEQ.set(g, v);
    }

    public static int hasstack(long g) {
        return HASSTACK.get(g);
    }

    public static void setHasstack(long g, int v) {
        HASSTACK.set(g, v);
    }

    public static long sleepWhen(long g) {
        return SLEEPWHEN.get(g);
    }

    public static void setSleepWhen(long g, long v) {
        SLEEPWHEN.set(g, v);
    }
}
