// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Reference;

import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Park;
import org.gmp4j.queue.Runq;
import org.gmp4j.queue.SemaRoot;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * {@code semacquire} and {@code semrelease}: a counting semaphore, what the locks of {@code org.gmp4j.sync} sleep on. It
 * starts at 0. Goroutines, the JDK's virtual threads and plain threads wait alike ({@link Waiting}); the callers are inside
 * {@link GStack#enter}.
 *
 * <p>No wake-up is lost.
 *
 * <pre>
 *  waiter, under the root's lock            releaser
 *  1 nwait+1                 (full fence)   1 value+1                 (full fence)
 *  2 value above 0? take one, nwait-1, go   2 nwait 0? nobody to wake
 *  3 queue, sleep; gives the lock back      3 lock the root, take the first waiter out, nwait-1; wake it
 * </pre>
 *
 * Dekker's pattern: if the release reads nwait as 0, its value+1 came before the waiter's step 1, so step 2 sees it. If it
 * reads nwait above 0, it waits for the lock, under which the waiter has queued itself or taken a unit.
 *
 * <p>A waiter that is woken competes for the unit with newcomers, and waits again if it loses. With {@code handoff} the
 * releaser takes the unit for the waiter, says so in its ticket (1), and lets it run at once, in the releaser's place and time slice.
 */
public final class Sema extends SemaRoot.Key {
    private static final int ACTIVE_SPIN = 4;
    private static final int SPIN_PAUSES = 30;
    private static final long STAMP_NANOS = 1_000;
    private static final boolean MULTIPROCESSOR = Runtime.getRuntime().availableProcessors() > 1;

    private static final Park.Unlock UNLOCK = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object sema) {
            SemaRoot.of((Sema) sema).unlock();
            return true;
        }
    };

    private static final VarHandle VALUE = FieldHandle.of(MethodHandles.lookup(), Sema.class, "value", int.class);

    /** Units there are: anyone, by CAS and addition. */
    private volatile int value;

    /** Without a unit. */
    public Sema() {
    }

    /** {@code cansemacquire}: takes a unit if there is one. */
    public boolean take() {
        for (int v = value; v != 0; v = value) {
            if (VALUE.compareAndSet(this, v, v - 1)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Takes a unit, waiting for it.
     *
     * @param first before those that wait already, instead of behind them
     */
    public void acquire(boolean first, WaitReason reason) {
        boolean _ = acquire(first, reason, null);
    }

    /**
     * The same, until {@code e} ends it.
     *
     * @param e null for nothing; else between its {@code begin} and {@code finish}
     * @return false when the wait was ended: no unit was taken, and none is lost for that
     */
    public boolean acquire(boolean first, WaitReason reason, @Nullable OfSema e) {
        if (take()) {
            return true;
        }
        SemaRoot root = SemaRoot.of(this);
        GStack st = GStack.current();
        long sg;
        while ((sg = Waiting.sudogOrNap(st)) == 0) {
            if (take()) { // As a waiter that is woken late does.
                return true;
            }
        }
        boolean ended = false;
        do {
            root.lock();
            root.addNwait(1); // Before the look at the value: see the class comment.
            if (take()) {
                root.addNwait(-1);
                root.unlock();
                break;
            }
            if (e != null) {
                if (e.pending()) {
                    root.addNwait(-1);
                    root.unlock();
                    ended = true;
                    break;
                }
                e.waits(sg);
            }
            root.queue(sg, this, first);
            Sudog.CASEINDEX.set(sg, st != null && st.profilesLocks() && reason.ofLock() ? stamp() : 0);
            Waiting.park(st, sg, UNLOCK, this, reason);
            ended = e != null && e.woken();
        } while (!ended && Sudog.TICKET.get(sg) == 0 && !take());
        Waiting.release(st, sg);
        return !ended;
    }

    /** What ends a wait for a semaphore. A release that finds nobody leaves its unit, for whoever comes next. */
    public static final class OfSema extends Ending {
        private final Sema sema;
        private final SemaRoot root;

        /** Of a wait for {@code sema}. */
        public OfSema(Sema sema, Limits limits) {
            super(limits);
            this.sema = sema;
            root = SemaRoot.of(sema);
        }

        @Override
        protected void lock() {
            root.lock();
        }

        @Override
        protected void unlock() {
            root.unlock();
        }

        @Override
        protected boolean remove(long waiter) {
            boolean removed = root.remove(waiter, sema);
            if (removed) {
                root.addNwait(-1);
            }
            return removed;
        }
    }

    /**
     * Gives a unit.
     *
     * @param handoff whether to give it to the waiter that has waited longest, if there is one, and run that now
     */
    @SuppressWarnings("NullAway") // Here is where this stack is.
    public void release(boolean handoff) {
        int _ = (int) VALUE.getAndAdd(this, 1); // Before the look at nwait: see the class comment.
        SemaRoot root = SemaRoot.of(this);
        if (root.nwait() == 0) {
            return;
        }
        root.lock();
        long sg = root.dequeue(this);
        if (sg != 0) {
            root.addNwait(-1);
        }
        root.unlock();
        if (sg == 0) {
            return; // They wait for another semaphore, or somebody has woken ours.
        }
        if (Sudog.TICKET.get(sg) != 0) {
            throw Throw.of("corrupted semaphore ticket");
        }
        boolean handed = handoff && take();
        if (handed) {
            Sudog.TICKET.set(sg, 1);
        }
        GStack st = GStack.current();
        long gp = Sudog.G.get(sg); // Before the wake: then the sudog is the waiter's.
        int since = Sudog.CASEINDEX.get(sg);
        boolean here = st != null && gp != 0 && GSlots.owner(gp) == st.scheduler(); // It will stand in this P's runnext.
        Waiting.wake(sg);
        Reference.reachabilityFence(this); // Until then it keeps what waits for it: report.LeakSearch.
        if (since != 0 && st != null) {
            st.held(waited(since, stamp()));
        }
        if (handed && here) {
            Park.goyield(st);
        }
    }

    /** A time for a sudog that waits for a lock, in µs; never 0. */
    private static int stamp() {
        return (int) (System.nanoTime() / STAMP_NANOS) | 1;
    }

    /** The ns between two such times less than 71 minutes apart, 2³² µs. */
    static long waited(int since, int now) {
        return Integer.toUnsignedLong(now - since) * STAMP_NANOS;
    }

    /** {@code canSpin}: whether waiting a moment for a lock may pay, after {@code spun} such moments. */
    public static boolean canSpin(int spun) {
        if (spun >= ACTIVE_SPIN || !MULTIPROCESSOR) {
            return false;
        }
        GStack st = GStack.current();
        if (st == null) {
            return true;
        }
        long sched = st.scheduler().sched; // Another M runs, whose goroutine may hold the lock, and nothing here waits to run.
        return Schedt.GOMAXPROCS.getOpaque(sched) > Schedt.NPIDLE.getVolatile(sched) + Schedt.nmspinningVolatile(sched) + 1
                && Runq.runqempty(st.pp());
    }

    /** {@code doSpin}: about a microsecond. */
    public static void spin() {
        for (int i = 0; i < SPIN_PAUSES; i++) {
            Thread.onSpinWait();
        }
    }

    /** How many wait for this and for what shares its root. */
    int nwait() {
        return SemaRoot.of(this).nwait();
    }
}
