// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.invoke.VarHandle;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;

import org.gmp4j.events.Ev;
import org.gmp4j.events.Names;
import org.gmp4j.events.Tracer;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GFree;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.Collected;
import org.gmp4j.sched.base.Gcount;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.TraceEvents;
import org.gmp4j.stack.StackRef;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.gmp4j.struct.Schedt;
import org.jspecify.annotations.Nullable;

/**
 * {@code newproc}: the start of a goroutine. {@link Goexit0} ends it, and {@link Gcount} counts the goroutines that live.
 *
 * <p>A fresh G is a struct and a function. It gets a stack when it first runs.
 */
public final class Newproc {
    private static final int GOID_BATCH = 16;

    /** The number of slots that the start of a thread frees while sysmon is behind. It is above 1, so that the queue gets shorter. */
    private static final int FREED_AT_START = 2;

    private Newproc() {
    }

    /**
     * {@code go fn()}: starts a goroutine, from any thread.
     *
     * @throws IllegalStateException when the scheduler is closed
     */
    public static void newproc(Scheduler s, Runnable fn) {
        int site = s.tracer == null ? 0 : TraceEvents.site(s, fn);
        String place = s.places == null ? null : place(s.places, fn);
        GStack st = GStack.enter();
        try {
            Map<String, String> labels = st == null ? null : st.labels;
            if (labels != null || place != null) {
                fn = new Labelled(labels, place, fn);
            }
            Machine m = Machine.of();
            long pp;
            if (m == null || m.s != s || (pp = m.pp()) == 0) {
                if (!newprocExternal(s, fn, null, site, null)) {
                    throw new IllegalStateException("go on a closed Gmp");
                }
            } else {
                newproc1(s, m, pp, fresh(s, pp, fn), 1, site, null);
            }
        } finally {
            GStack.exit(st);
        }
    }

    /** Returns the name of the place at which the caller starts a goroutine; null if there is no memory for it. */
    public static @Nullable String place(Names places, Runnable fn) {
        try {
            return places.name(places.site(fn));
        } catch (OutOfMemoryError e) {
            return null;
        }
    }

    /**
     * Starts a goroutine from a timer. A timer is not a goroutine and does not keep the scheduler open, so the scheduler may be closed
     * before or during this call. Therefore this method first counts the new goroutine and then reads closing, with a fence in between. A
     * close first sets closing and then reads the counts. Either this call finds the scheduler closing, or close finds the new goroutine.
     *
     * @return false when the scheduler is closing; then nothing was started
     */
    public static boolean newprocTimer(Scheduler s, Runnable fn) {
        // The stack is not checked, because a cancel that has cancelled some of a context's children must not fail.
        GStack st = GStack.enterChecked();
        try {
            Machine m = Machine.of();
            long pp;
            if (m == null || m.s != s || (pp = m.pp()) == 0) {
                return newprocExternal(s, fn, null, 0, null);
            }
            P.NSPAWN.setRelease(pp, P.NSPAWN.get(pp) + 1);
            VarHandle.fullFence();
            if (Schedt.CLOSING.getAcquire(s.sched) != 0 && !insideOf(s)) {
                P.NEXIT.setRelease(pp, P.NEXIT.get(pp) + 1);
                return false;
            }
            long gp;
            try {
                gp = fresh(s, pp, fn);
            } catch (Throwable t) { // There was no memory. The goroutine was counted, but never began.
                P.NEXIT.setRelease(pp, P.NEXIT.get(pp) + 1);
                throw t;
            }
            newproc1(s, m, pp, gp, 0, 0, null);
            return true;
        } finally {
            GStack.exit(st);
        }
    }

    private static long fresh(Scheduler s, long pp, Runnable fn) {
        long gp = slot(s, pp);
        GSlots.setFn(gp, fn);
        return gp;
    }

    private static long slot(Scheduler s, long pp) {
        long gp = GFree.gfget(s.sched, pp);
        return gp == 0 ? s.slots.malg() : gp;
    }

    private static void newproc1(Scheduler s, Machine m, long pp, long gp, int count, int site, byte @Nullable [] name) {
        init(gp, goid(s, pp), M.CURG.get(m.mp));
        if (m.trace != null) {
            if (name != null) {
                m.trace.text(Ev.NAME, G.GOID.get(gp), name);
            }
            m.trace.event(Ev.CREATE, 0, G.GOID.get(gp), site);
        }
        P.NSPAWN.setRelease(pp, P.NSPAWN.get(pp) + count);
        Runq.runqput(s.sched, pp, gp, true);
        Wakep.wakep(s);
    }

    /**
     * Frees some slots of collected threads while sysmon is behind. Called before a thread is started, by a caller in no section of the
     * runtime. Sysmon frees up to {@link Collected#AT_ONCE} slots in a scan. A program may drop more threads than that, and their
     * references would fill a small heap.
     */
    public static void help(Collected collected) {
        for (int i = 0; collected.any() && i < FREED_AT_START; i++) {
            StackRef ref = (StackRef) collected.queue.poll(); // Not in the section, because poll takes a lock of the JDK.
            if (ref == null) {
                return;
            }
            GStack caller = GStack.enterChecked();
            try {
                collected.free(ref);
            } finally {
                GStack.exit(caller);
            }
        }
    }

    /**
     * Makes a G with the stack of a started virtual thread of scheduler {@code s}. If the caller is a goroutine of this scheduler, it is
     * inside {@link GStack#enter}, and the G goes to runnext, like a G that {@code go} starts.
     *
     * @param site the number that the place of the start has in the trace; 0 for none
     */
    public static void adopt(Scheduler s, GStack st, int site) {
        byte[] name = TraceEvents.name(s, st);
        if (insideOf(s)) {
            Machine m = GStack.mine().machine();
            long pp = m.pp();
            long gp = slot(s, pp);
            give(gp, st);
            newproc1(s, m, pp, gp, 1, site, name);
        } else if (!newprocExternal(s, null, st, site, name)) { // A start on g0 comes here too, where the scheduler may be closing.
            throw new RejectedExecutionException("start of a thread on a closed Gmp");
        }
    }

    /**
     * Starts a goroutine through the global queue, for a caller that has no P of this scheduler. Returns false when the scheduler is
     * closing.
     */
    private static boolean newprocExternal(Scheduler s, @Nullable Runnable fn, @Nullable GStack st, int site,
            byte @Nullable [] name) {
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.CLOSING.getAcquire(sched) != 0 && !insideOf(s)) {
            SchedLock.unlock(sched);
            return false;
        }
        long _ = Schedt.addNspawnextern(sched, 1); // Under the lock: a close sees this count, or this method has seen the close.
        long gp = GFree.getGlobal(sched);
        if (gp == 0) {
            s.waitsForOutside(1); // The G is in no queue yet, and no M runs it. Without this call checkdead might report a deadlock.
            SchedLock.unlock(sched);
            try {
                gp = s.slots.malg();
            } catch (Throwable t) { // There was no memory. The goroutine was counted, but never began.
                long _ = Schedt.addNexitextern(sched, 1);
                s.waitsForOutside(-1);
                throw t;
            }
            SchedLock.lock(sched);
            s.waitsForOutside(-1);
        }
        if (st == null) {
            GSlots.setFn(gp, fn);
        } else {
            give(gp, st);
        }
        init(gp, Schedt.addGoidgen(sched, 1), 0);
        Tracer t = s.tracer;
        if (t != null) {
            if (name != null) {
                t.text(null, Ev.NAME, G.GOID.get(gp), name);
            }
            t.outside(Ev.CREATE, 0, G.GOID.get(gp), site);
        }
        GlobalRunq.globrunqputarrived(sched, gp);
        SchedLock.unlock(sched);
        Wakep.wakep(s);
        return true;
    }

    /** Returns whether the caller is a goroutine of scheduler {@code s}. If it is, the scheduler cannot end during the call. */
    private static boolean insideOf(Scheduler s) {
        GStack st = GStack.current();
        return st != null && st.s == s;
    }

    private static void init(long gp, long goid, long parent) {
        G.PREEMPT.setOpaque(gp, 0); // The last goroutine of this slot may have ended before it yielded to a request.
        G.GOID.set(gp, goid);
        G.PARENTGOID.set(gp, parent == 0 ? 0 : G.GOID.get(parent));
        G.ALLOCSEQ.set(gp, G.ALLOCSEQ.get(gp) + 1);
        GStatus.casgstatus(gp, GStatus.GDEAD, GStatus.GRUNNABLE); // Releases these writes to the CAS in Schedule.begin.
    }

    private static long goid(Scheduler s, long pp) {
        long id = P.GOIDCACHE.get(pp);
        if (id == P.GOIDCACHEEND.get(pp)) {
            id = Schedt.addGoidgen(s.sched, GOID_BATCH) - GOID_BATCH + 1;
            P.GOIDCACHEEND.set(pp, id + GOID_BATCH);
        }
        P.GOIDCACHE.set(pp, id + 1);
        return id;
    }

    /** Gives a G its stack. */
    static void give(long gp, GStack st) {
        st.gp = gp;
        GSlots.setStack(gp, st);
        G.HASSTACK.set(gp, 1);
    }
}
