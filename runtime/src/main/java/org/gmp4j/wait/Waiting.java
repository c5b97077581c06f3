// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.Note;
import org.gmp4j.queue.SudogCache;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.sched.base.Outside;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.SudogSlots;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * Waits of goroutines, and of threads that are not Ms, on objects of the Java heap (a channel, a wait group).
 *
 * <p>The waiter holds the object's lock, queues a sudog and parks, after which the lock is released. The waker removes the sudog from the
 * queue under the lock, fills it, and calls {@link #wake} after the lock is free. Between the dequeue and the wake the sudog belongs to the
 * waker. After the wake it belongs to the waiter again, which releases it. The wake orders the accesses to the value in the sudog, by the
 * CAS on the G's status or the note of a thread.
 */
public final class Waiting {
    /** Releases a HeapMutex once the caller is parked. */
    static final Park.Unlock UNLOCK = new Park.Unlock() {
        @Override
        public boolean unlock(long gp, Object lock) {
            ((HeapMutex) lock).unlock();
            return true;
        }
    };

    /** The address of a futex word that never changes. */
    private static final long NAP = Memory.map(Mem.LINE);
    private static final long NAP_NANOS = 1_000_000;

    private Waiting() {
    }

    /**
     * Returns a sudog for the caller, which is inside {@link GStack#enter}.
     *
     * @param st the caller's stack; null for a thread that is not a goroutine
     * @throws OutOfMemoryError when there is no memory for a sudog; nothing has changed
     */
    public static long sudog(@Nullable GStack st) {
        return SudogCache.acquire(st == null ? 0 : st.pp());
    }

    /** Returns a sudog for a caller that holds {@code lock}: see {@link #sudog}. If there is no memory, it releases the lock and throws. */
    public static long sudogOrUnlock(@Nullable GStack st, HeapMutex lock) {
        try {
            return sudog(st);
        } catch (OutOfMemoryError e) {
            lock.unlock();
            throw e;
        }
    }

    /**
     * Returns a sudog for a caller that already counts as a waiter and cannot undo that: see {@link #sudog}. If there is no memory, sleeps
     * for a millisecond instead, and the caller checks again whether it has to wait.
     *
     * @return the sudog, or 0 when this has slept; the caller may have another P then
     */
    public static long sudogOrNap(@Nullable GStack st) {
        try {
            return sudog(st);
        } catch (OutOfMemoryError e) {
            int _ = Futex.await(NAP, 0, NAP_NANOS); // The M keeps its P, because other goroutines would find no memory either.
            if (st != null) {
                Park.gosched(st);
            }
            return 0;
        }
    }

    /**
     * Waits on {@code q} with a sudog of {@link #sudog}. Called inside {@link GStack#enter} and under {@code lock}, which this releases.
     * After the wait the caller reads the sudog's element and success, then {@link #release}s the sudog.
     */
    public static void await(@Nullable GStack st, long sg, WaitQ q, HeapMutex lock, WaitReason reason) {
        q.enqueue(sg);
        park(st, sg, UNLOCK, lock, reason);
    }

    /**
     * Parks the caller until {@code sg} is woken. The caller has queued the sudog under a lock, which {@code unlock} releases. Afterwards
     * the sudog may be queued again for another wait. A thread that is not a goroutine waits even if {@code unlock} returns false.
     */
    public static void park(@Nullable GStack st, long sg, Park.Unlock unlock, Object lock, WaitReason reason) {
        if (st != null) {
            Sudog.G.set(sg, st.gp());
            Park.gopark(st, unlock, lock, reason, 1);
        } else {
            Note.clear(Sudog.threadAddress(sg));
            awaitThread(sg, unlock, lock);
        }
    }

    private static void awaitThread(long sg, Park.Unlock unlock, Object lock) {
        long note = Sudog.threadAddress(sg);
        Outside.begins();
        if (Thread.currentThread().isVirtual()) { // A virtual thread on the JDK's scheduler: it unmounts from its carrier to wait.
            SudogSlots.setThread(sg, Thread.currentThread());
            boolean _ = unlock.unlock(0, lock);
            parkUntilWoken(note);
            SudogSlots.setThread(sg, null);
        } else {
            boolean _ = unlock.unlock(0, lock);
            Note.sleep(note);
        }
        Outside.ends();
    }

    /** Adds to the time that goroutines waited for locks, if the caller is a goroutine. Called inside {@link GStack#enter}. */
    public static void waitedForLock(long nanos) {
        GStack st = GStack.current();
        if (st != null) {
            PStat.MUTEXWAIT.addOpaque(st.pp(), nanos);
        }
    }

    // In a select one waiter has a sudog on each channel. WaitQ describes which waker gets the waiter.

    /**
     * Returns the waiter in a select: the goroutine, or a sudog that stands for the thread.
     *
     * @param st the caller's stack, inside {@link GStack#enter}; null for a thread that is not an M
     */
    public static long selector(@Nullable GStack st) {
        if (st != null) {
            return st.gp();
        }
        long who = sudog(null);
        Note.clear(Sudog.threadAddress(who));
        return who;
    }

    /** Returns a sudog for a case of a select; {@code who} is its {@link #selector}. */
    public static long selectSudog(@Nullable GStack st, long who) {
        long sg = sudog(st);
        Sudog.G.set(sg, who);
        Sudog.ISSELECT.set(sg, st != null ? Sudog.SELECT : Sudog.SELECT_THREAD);
        return sg;
    }

    /**
     * Waits until one of the select's sudogs is woken. All sudogs are queued, and the caller holds the locks of all queues.
     *
     * @param unlock releases the locks, once the waiter is parked
     * @param locks the argument of {@code unlock}
     * @param count the number of the locks
     * @param reason the wait reason for tracebacks
     * @return the sudog that was woken
     */
    public static long awaitSelect(@Nullable GStack st, long who, Park.Unlock unlock, Object locks, int count, WaitReason reason) {
        if (st != null) {
            Park.gopark(st, unlock, locks, reason, count);
            return G.PARAM.get(who);
        }
        awaitThread(who, unlock, locks);
        return Sudog.NEXT.get(who);
    }

    /** Prepares the select for its next wait. Called with all locks held, before the sudogs that were not woken are removed. */
    public static void reopenSelect(@Nullable GStack st, long who) {
        if (st != null) {
            G.SELECTDONE.set(who, 0);
        } else {
            Sudog.TICKET.set(who, 0);
        }
    }

    /** Releases the waiter of {@link #selector}. No sudog of the select is queued any more. */
    public static void releaseSelector(@Nullable GStack st, long who) {
        if (st == null) {
            SudogCache.release(0, who);
        }
    }

    /**
     * Parks a virtual thread of the JDK's scheduler until its note is woken. An interrupt does not end the wait, and is pending afterwards.
     */
    private static void parkUntilWoken(long note) {
        boolean interrupted = false;
        while (!Note.woken(note)) {
            try {
                LockSupport.park();
            } catch (OutOfMemoryError e) { // There is no memory to unmount. The sudog is queued, so the carrier waits.
                boolean _ = Note.sleep(note, NAP_NANOS);
            }
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Wakes a waiter that was removed from its queue. The lock is not held. */
    public static void wake(long sg) {
        GStack st = GStack.enterChecked();
        ready(sg);
        GStack.exit(st);
    }

    /** Wakes a waiter that was removed from its queue. Called inside {@link GStack#enter}. */
    public static void ready(long sg) {
        long who = Sudog.G.get(sg);
        if (Sudog.ISSELECT.get(sg) == Sudog.SELECT_THREAD) {
            Sudog.NEXT.set(who, sg);
            wakeThread(who);
        } else if (who != 0) {
            G.PARAM.set(who, sg); // A select reads it after the wake. The CAS on the status orders write and read.
            Park.goready(who);
        } else {
            wakeThread(sg);
        }
    }

    private static void wakeThread(long sg) {
        Thread virtual = SudogSlots.thread(sg); // Read before the wakeup, after which the sudog belongs to the waiter.
        Note.wakeup(Sudog.threadAddress(sg));
        if (virtual != null) {
            JdkThreads.pin(); // The JDK's scheduler takes locks.
            try {
                LockSupport.unpark(virtual);
            } finally {
                JdkThreads.unpin();
            }
        }
    }

    /** Releases a sudog that was woken. */
    public static void release(long sg) {
        GStack st = GStack.enterChecked();
        release(st, sg);
        GStack.exit(st);
    }

    /** Releases a sudog that was woken. Called inside {@link GStack#enter}. */
    public static void release(@Nullable GStack st, long sg) {
        SudogCache.release(st == null ? 0 : st.pp(), sg);
    }

    /** Blocks the calling goroutine or thread for ever. An interrupt may end the wait: see {@link Limits#DEFAULT}. */
    public static void forever(WaitReason reason) {
        boolean _ = rest(Limits.DEFAULT, reason);
        throw new IllegalStateException("woken from a wait without end");
    }

    /**
     * Sleeps until one of the limits ends it.
     *
     * @return true when the time was up; for any other reason it throws
     */
    public static boolean rest(Limits limits, WaitReason reason) {
        limits.check();
        WaitQ q = new WaitQ();
        HeapMutex lock = new HeapMutex(LockRank.SEMA);
        WaitCancellation e = new WaitCancellation.OfQueue(limits, lock, q);
        GStack st = GStack.enter();
        try {
            e.begin();
            lock.lock();
            if (e.pending()) {
                lock.unlock();
            } else {
                long sg = sudogOrUnlock(st, lock);
                boolean _ = e.await(st, sg, q, lock, reason);
                release(st, sg);
            }
            return e.timeUp();
        } finally { // Runs also when there was no memory for the wait.
            e.finish();
            GStack.exit(st);
        }
    }
}
