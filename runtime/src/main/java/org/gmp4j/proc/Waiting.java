package org.gmp4j.proc;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.Note;
import org.gmp4j.queue.SudogCache;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.SudogSlots;

/**
 * Waiting on a heap object (a channel, a wait group), for goroutines and for threads that are not Ms alike.
 *
 * <p>The waiter holds the object's lock, queues a sudog and waits; the lock is given back when it is parked. The waker
 * takes the sudog off the queue under the lock, fills it, and calls {@link #wake} after the lock is free. Between the
 * dequeue and the wake the sudog belongs to the waker, after it to the waiter again, which releases it. The value in the
 * sudog is ordered by the wake: the CAS on the G's status, or the note of a thread.
 */
public final class Waiting {
    private static final Park.Unlock UNLOCK = (gp, lock) -> {
        ((HeapMutex) lock).unlock();
        return true;
    };

    /** So long after its wait has ended a thread may do what readies a goroutine: it need not begin its next wait first. */
    private static final long GRACE_NANOS = 1_000_000_000;

    /** Threads that are not Ms, asleep in {@link #await}: they may be woken from outside, so they hold off checkdead. */
    private static final AtomicInteger THREADS = new AtomicInteger();
    /** When one of them last left, by nanoTime; written before THREADS. */
    private static volatile long left = System.nanoTime() - GRACE_NANOS;

    /** Those of them that are virtual threads of the JDK's scheduler, by sudog: they wait without their carrier. */
    private static final ConcurrentHashMap<Long, Thread> VIRTUAL = new ConcurrentHashMap<>();

    private Waiting() {
    }

    /**
     * Waits on {@code q}; the caller holds {@code lock}, which is free afterwards, and is inside
     * {@link GStack#enter}.
     *
     * @param elem what the waker takes, or null
     * @return the sudog, woken: read its element and success, then {@link #release} it
     */
    public static long await(WaitQ q, HeapMutex lock, Object elem, WaitReason reason) {
        long sg = sudog();
        if (elem != null) {
            SudogSlots.setElem(sg, elem);
        }
        q.enqueue(sg);
        park(sg, UNLOCK, lock, reason);
        return sg;
    }

    /** A sudog of the calling goroutine or thread, which is inside {@link GStack#enter}: queue it, then {@link #park}. */
    static long sudog() {
        GStack st = GStack.current();
        long sg = SudogCache.acquire(st == null ? 0 : st.machine().pp());
        if (st != null) {
            Sudog.setG(sg, st.gp);
        }
        return sg;
    }

    /**
     * Waits; {@code sg} is where a waker finds it, under a lock that {@code unlock} gives back. Afterwards it may be queued
     * and wait again.
     */
    static void park(long sg, Park.Unlock unlock, Object lock, WaitReason reason) {
        GStack st = GStack.current();
        if (st != null) {
            Park.gopark(st, unlock, lock, reason, 1);
        } else {
            awaitThread(sg, unlock, lock);
        }
    }

    private static void awaitThread(long sg, Park.Unlock unlock, Object lock) {
        long note = Sudog.threadAddress(sg);
        Note.clear(note);
        int unused = THREADS.incrementAndGet();
        if (Thread.currentThread().isVirtual()) {
            VIRTUAL.put(sg, Thread.currentThread());
            boolean always = unlock.unlock(0, lock);
            parkUntilWoken(note);
            VIRTUAL.remove(sg);
        } else {
            boolean always = unlock.unlock(0, lock);
            Note.sleep(note);
        }
        left = System.nanoTime();
        unused = THREADS.decrementAndGet();
    }

    /** An interrupt does not end the wait; it is there again afterwards. */
    private static void parkUntilWoken(long note) {
        boolean interrupted = false;
        while (!Note.woken(note)) {
            LockSupport.park();
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Wakes a waiter that was taken off its queue; the lock is not held. */
    public static void wake(long sg) {
        long gp = Sudog.g(sg);
        if (gp != 0) {
            GStack st = GStack.enter();
            Park.goready(gp);
            GStack.exit(st);
        } else {
            Thread virtual = VIRTUAL.get(sg); // Afterwards the sudog is its waiter's.
            Note.wakeup(Sudog.threadAddress(sg));
            if (virtual != null) {
                JdkThreads.pin(); // The JDK's scheduler takes locks.
                LockSupport.unpark(virtual);
                JdkThreads.unpin();
            }
        }
    }

    /** Gives a woken sudog back. */
    public static void release(long sg) {
        GStack st = GStack.enter();
        SudogCache.release(st == null ? 0 : st.machine().pp(), sg);
        GStack.exit(st);
    }

    /** Blocks the calling goroutine, or thread, for ever. */
    public static void forever(WaitReason reason) {
        GStack unused = GStack.enter();
        await(new WaitQ(), locked(), null, reason);
        throw new IllegalStateException("woken from a wait without end");
    }

    private static HeapMutex locked() {
        HeapMutex lock = new HeapMutex(org.gmp4j.lock.LockRank.SEMA);
        lock.lock();
        return lock;
    }

    /** Whether threads that are not Ms wait, or did a moment ago. */
    static boolean threads() {
        return THREADS.get() > 0 || System.nanoTime() - left < GRACE_NANOS;
    }
}
