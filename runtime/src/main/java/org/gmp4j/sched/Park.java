// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import org.gmp4j.events.Ev;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.lock.WaitObject;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.base.CleanStart;
import org.gmp4j.sched.base.HiddenStacks;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Recorder;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * {@code gopark} and {@code goready}: how a goroutine waits and is woken.
 *
 * <p>Contract. Before gopark the G is queued, under a lock, where its waker will find it. The unlock function releases that
 * lock on g0, when the G is {@code _Gwaiting} and its frames are off the thread. A waker takes the lock first, so it never sees a G that
 * still runs. The thread that took the G off the wait queue calls goready, once for each park (G4).
 */
public final class Park {
    /** The unlock function of a park. */
    @FunctionalInterface
    public interface Unlock {
        /**
         * Releases the lock. Called on g0 with the G parked.
         *
         * @param gp the parked G; another M may run it as soon as the lock is free
         * @param lock the lock that was passed to gopark
         * @return false to resume the G at once
         */
        boolean unlock(long gp, Object lock);

        /**
         * Returns an object that the goroutine waits for; a waker needs a reference to one of these objects. Called by {@code LeakSearch}
         * in a stopped world.
         *
         * @param lock the lock that was passed to gopark
         * @param i the number of the object, from 0
         * @return the object; null when there are no more. Null for number 0 means that the objects are not known, and the goroutine is
         *     never reported as leaked
         */
        default @Nullable WaitObject waitsFor(@Nullable Object lock, int i) {
            return i == 0 && lock instanceof WaitObject k ? k : null;
        }
    }

    private Park() {
    }

    /**
     * Parks the calling goroutine, which is inside {@link GStack#enter}, until {@link #goready}.
     *
     * @param st the goroutine's stack
     * @param unlock called when the goroutine is parked; null for none
     * @param locks the number of ranked locks that {@code unlock} releases, for the check of G5
     */
    public static void gopark(GStack st, @Nullable Unlock unlock, @Nullable Object lock, WaitReason reason, int locks) {
        if (LockRank.CHECK) {
            LockRank.mayPark(locks);
        }
        Machine m = st.machine();
        st.parkUnlock = st.bubble != null && reason.durable() ? Bubble.parking(st, unlock) : unlock;
        st.parkLock = lock;
        m.op = Mcall.PARK;
        G.WAITREASON.setOpaque(st.gp, reason.ordinal());
        if (st.s.blockProfile.isOn()) {
            watched(st, m, reason);
        } else {
            Mcall.mcall(st, m);
        }
        st.parkLock = null;
    }

    /** Parks the goroutine, and records the wait for the block profile or a recorder. */
    private static void watched(GStack st, Machine m, WaitReason reason) {
        long since = st.s.blockProfile.rate() != 0 && reason.profiled() ? System.nanoTime() : 0;
        Object event = Recorder.waiting();
        Mcall.mcall(st, m);
        Recorder.waitOver(event, st.s, st.gp, reason);
        if (since != 0) {
            st.s.blockProfile.waited(st.labels, st.s.config.debug().system(), System.nanoTime() - since);
        }
    }

    /**
     * Makes a waiting G runnable and enqueues it. The G goes to runnext of the caller's P if the caller is an M of the G's scheduler, else
     * to the global queue. A goroutine that calls this is inside {@link GStack#enter}.
     */
    public static void goready(long gp) {
        Scheduler s = (Scheduler) GSlots.owner(gp);
        Bubble.readied(gp);
        GStatus.casgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE);
        enqueue(s, gp, true);
    }

    /** Returns whether the caller runs on an M of the scheduler, with a P. */
    public static boolean onP(Scheduler s) {
        Machine m = Machine.of();
        return m != null && m.s == s && m.pp() != 0;
    }

    /** Enqueues a woken G, which is {@code _Grunnable} and in no queue, and wakes an M if a P is idle. */
    public static void enqueue(Scheduler s, long gp, boolean next) {
        Machine m = Machine.of();
        long pp;
        if (m != null && m.s == s && (pp = m.pp()) != 0) {
            if (m.trace != null) {
                m.trace.event(Ev.UNBLOCK, 0, G.GOID.get(gp), 0);
            }
            Runq.runqput(s.sched, pp, gp, next);
        } else {
            HiddenStacks hidden = s.hidden;
            if (hidden != null) {
                hidden.woken(gp);
            }
            s.traceOutside(Ev.UNBLOCK, 0, gp);
            SchedLock.lock(s.sched);
            GlobalRunq.globrunqputahead(s.sched, gp);
            SchedLock.unlock(s.sched);
        }
        Wakep.wakep(s);
    }

    /** Locks the calling goroutine to its M ({@code LockOSThread}), or unlocks it ({@code UnlockOSThread}). */
    @SuppressWarnings("NullAway")
    public static void lockOSThread(boolean lock) {
        if (lock) {
            CleanStart.prepareForLock();
        }
        GStack st = GStack.enter();
        if (lock) {
            Threads.lockOSThread(st);
        } else {
            Threads.unlockOSThread(st);
        }
        GStack.exit(st);
    }

    /** A preemption point of user code: yields if the calling goroutine was asked to. */
    public static void preemptPoint() {
        Preempt.point();
    }

    /** {@code Gosched}: puts the calling goroutine at the tail of the global queue, behind all other runnable goroutines there. */
    public static void gosched(GStack st) {
        st.acquirem();
        Machine m = st.machine();
        m.op = Mcall.GOSCHED;
        Mcall.mcall(st, m);
        st.releasem();
    }

    /**
     * {@code goyield}: puts the calling goroutine at the end of its P's ring. The G in runnext runs next, and gets the rest of the time
     * slice.
     */
    public static void goyield(GStack st) {
        st.acquirem();
        Machine m = st.machine();
        m.op = Mcall.GOYIELD;
        Mcall.mcall(st, m);
        st.releasem();
    }
}
