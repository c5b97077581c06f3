// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.lang.invoke.MethodHandles;
import java.lang.ref.Reference;

import org.gmp4j.queue.Runq;
import org.gmp4j.queue.SemaRoot;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.HeapInt;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * {@code semacquire} and {@code semrelease}: a counting semaphore, on which waiters for the locks of {@code org.gmp4j.sync} sleep. It
 * starts at 0. Goroutines, the JDK's virtual threads and platform threads may wait on it ({@link Waiting}). Its methods are called inside
 * {@link GStack#enter}.
 *
 * <p>No wake-up is lost.
 *
 * <pre>
 *  waiter, under the root's lock            releaser
 *  1 nwait+1                 (full fence)   1 value+1                 (full fence)
 *  2 value above 0? take one, nwait-1, go   2 nwait 0? there is no waiter
 *  3 queue, sleep, release the lock         3 lock the root, remove the first waiter, nwait-1; wake it
 * </pre>
 *
 * Dekker's pattern: if the release reads nwait as 0, its value+1 came before the waiter's step 1, so step 2 sees it. If it
 * reads nwait above 0, it waits for the lock, under which the waiter has queued itself or taken a unit.
 *
 * <p>A waiter that is woken competes for the unit with new callers, and waits again if it gets none. With {@code handoff} the releaser
 * takes the unit for the waiter and sets the waiter's ticket to 1. Then the releaser yields, so that the waiter runs at once in the
 * releaser's time slice.
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

    private static final HeapInt<Sema> VALUE = HeapInt.of(MethodHandles.lookup(), Sema.class, "value");

    /** The number of free units. Written by any thread, by CAS and addition. */
    private volatile int value;

    /** Makes a semaphore without a unit. */
    public Sema() {
    }

    /** {@code cansemacquire}: takes a unit if there is one. Returns whether it did. */
    public boolean take() {
        for (int v = value; v != 0; v = value) {
            if (VALUE.compareAndSet(this, v, v - 1)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Takes a unit. If there is none, it waits for one.
     *
     * @param first whether to queue before the present waiters, instead of behind them
     */
    public void acquire(boolean first, WaitReason reason) {
        boolean _ = acquire(first, reason, null);
    }

    /**
     * Takes a unit. If there is none, it waits for one, and {@code e} may end the wait.
     *
     * @param first whether to queue before the present waiters, instead of behind them
     * @param e the object that may end the wait early, between its {@code begin} and its {@code finish}; null if the wait cannot end early
     * @return false when the wait ended early: no unit was taken, and none is lost
     */
    public boolean acquire(boolean first, WaitReason reason, @Nullable OfSema e) {
        if (take()) {
            return true;
        }
        SemaRoot root = SemaRoot.of(this);
        GStack st = GStack.current();
        long sg;
        while ((sg = Waiting.sudogOrNap(st)) == 0) {
            if (take()) { // The caller competes for a unit like a waiter that was woken.
                return true;
            }
        }
        boolean ended = false;
        do {
            root.lock();
            root.addNwait(1); // Comes before the read of the value: see the class comment.
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

    /** Ends a wait for a semaphore early. A release that then finds no waiter leaves its unit for the next caller of acquire. */
    public static final class OfSema extends WaitCancellation {
        private final Sema sema;
        private final SemaRoot root;

        /** Makes an object for a wait for {@code sema}. */
        public OfSema(Sema sema, Limits limits) {
            super(limits, null);
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
     * Adds a unit, and wakes a waiter if there is one.
     *
     * @param handoff whether to take the unit for the first waiter in the queue, if there is one, and to let that waiter run now
     */
    @SuppressWarnings("NullAway") // If "here" is true, st is not null.
    public void release(boolean handoff) {
        int _ = VALUE.getAndAdd(this, 1); // Comes before the read of nwait: see the class comment.
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
            return; // The waiters wait for another semaphore of this root, or another thread has removed this one's waiter.
        }
        if (Sudog.TICKET.get(sg) != 0) {
            throw Throw.of("corrupted semaphore ticket");
        }
        boolean handed = handoff && take();
        if (handed) {
            Sudog.TICKET.set(sg, 1);
        }
        GStack st = GStack.current();
        long gp = Sudog.G.get(sg); // Read before the wake, after which the sudog belongs to the waiter.
        int since = Sudog.CASEINDEX.get(sg);
        boolean here = st != null && gp != 0 && GSlots.owner(gp) == st.scheduler(); // The wake puts gp into this P's runnext.
        Waiting.wake(sg);
        Reference.reachabilityFence(this); // Until here the semaphore keeps its waiters reachable: see report.LeakSearch.
        if (since != 0 && st != null) {
            st.held(waited(since, stamp()));
        }
        if (handed && here) {
            Park.goyield(st);
        }
    }

    /** Returns the nanoTime now in µs, modulo 2³²; never 0. */
    private static int stamp() {
        return (int) (System.nanoTime() / STAMP_NANOS) | 1;
    }

    /** Returns the time between two stamps, ns. They must be less than 2³² µs (71 minutes) apart. */
    static long waited(int since, int now) {
        return Integer.toUnsignedLong(now - since) * STAMP_NANOS;
    }

    /** {@code canSpin}: returns whether to spin once more for a lock, after {@code spun} calls of {@link #spin}. */
    public static boolean canSpin(int spun) {
        if (spun >= ACTIVE_SPIN || !MULTIPROCESSOR) {
            return false;
        }
        GStack st = GStack.current();
        if (st == null) {
            return true;
        }
        // Spinning may help if the goroutine of another running M may hold the lock, and no G waits to run on this P.
        long sched = st.scheduler().sched;
        return Schedt.GOMAXPROCS.getOpaque(sched) > Schedt.NPIDLE.getVolatile(sched) + Schedt.nmspinningVolatile(sched) + 1
                && Runq.runqempty(st.pp());
    }

    /** {@code doSpin}: spins for about a microsecond. */
    public static void spin() {
        for (int i = 0; i < SPIN_PAUSES; i++) {
            Thread.onSpinWait();
        }
    }

    /** Returns the number of waiters for this semaphore and for others with the same root; for tests. */
    int nwait() {
        return SemaRoot.of(this).nwait();
    }
}
