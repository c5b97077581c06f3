// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.ref.Reference;
import java.time.Duration;

import org.gmp4j.Cancelable;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * A weighted semaphore: a request is for a number of its units. Requests are served in their order. While a large request waits, small
 * requests behind it wait too, so that the large one cannot starve. Thread-safe. Goroutines, virtual threads and platform threads may use
 * it. An interrupt ends only the waits of virtual threads of a {@code Gmp} ({@link WaitInterruptedException}), and the waits of all threads
 * in {@link #acquireInterruptibly}. In a bubble of {@code Synctest} the clock moves on during a wait. The actions of a thread before a
 * {@link #release} happen before the return of every {@link #acquire} that takes its units later. Source: Go's
 * {@code golang.org/x/sync/semaphore}.
 */
public final class Semaphore {
    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    /** The waiters, each with its weight. The lock guards them and {@code held}. */
    private final WaitQ waiters = new WaitQ();
    private final long size;
    private long held;

    /**
     * Makes a semaphore whose units are all free.
     *
     * @throws IllegalArgumentException when {@code size} is negative
     */
    public Semaphore(long size) {
        this.size = notNegative(size, "size");
    }

    private static long notNegative(long n, String what) {
        if (n < 0) {
            throw new IllegalArgumentException("semaphore: the " + what + " is " + n + ": use 0 or more");
        }
        return n;
    }

    /**
     * Waits for {@code n} units and takes them. A request for more than the size waits for ever, and does not delay other requests.
     *
     * @throws IllegalArgumentException when {@code n} is negative
     * @throws WaitInterruptedException when the caller is a virtual thread of a {@code Gmp} that is interrupted while it waits;
     *     nothing was taken
     */
    public void acquire(long n) {
        notNegative(n, "weight");
        if (n > size) {
            Waiting.forever(WaitReason.SEMACQUIRE);
        }
        GStack st = GStack.enter();
        try {
            lock.lock();
            if (fits(n)) {
                held += n;
                lock.unlock();
            } else if (WaitCancellation.byDefault(st)) {
                lock.unlock();
                boolean _ = await(st, n, Limits.DEFAULT);
            } else {
                long sg = Waiting.sudogOrUnlock(st, lock);
                Sudog.LONG_ELEM.set(sg, n);
                Waiting.await(st, sg, waiters, lock, WaitReason.SEMACQUIRE);
                Waiting.release(st, sg);
            }
        } finally {
            GStack.exit(st);
        }
    }

    /**
     * Like {@link #acquire(long)}, this waits for {@code n} units, but an interrupt of the calling thread ends the wait.
     *
     * @throws IllegalArgumentException when {@code n} is negative
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; nothing was taken, and the interrupt
     *     status is cleared
     */
    public void acquireInterruptibly(long n) throws InterruptedException {
        boolean _ = acquire(n, Limits.INTERRUPTIBLY);
    }

    /**
     * Waits for {@code n} units for at most {@code d} and takes them.
     *
     * @return false when the time was up, and nothing was taken
     * @throws IllegalArgumentException when {@code n} is negative
     * @throws WaitInterruptedException as {@link #acquire(long)}
     */
    public boolean acquireWithin(long n, Duration d) {
        return acquire(n, Limits.within(d));
    }

    /**
     * Waits for {@code n} units and takes them, but a cancel of {@code ctx} ends the wait. A request for more than the size waits for that
     * cancel.
     *
     * @throws IllegalArgumentException when {@code n} is negative
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before, during or just after the wait; nothing was taken
     * @throws WaitInterruptedException as {@link #acquire(long)}
     */
    public void acquire(Cancelable ctx, long n) {
        boolean _ = acquire(n, Limits.until(ctx));
        RuntimeException cancelled = ctx.err();
        if (cancelled != null) {
            release(n);
            throw cancelled;
        }
    }

    private boolean acquire(long n, Limits limits) {
        notNegative(n, "weight");
        GStack.checkAll();
        limits.check();
        if (tryAcquire(n)) {
            return true;
        }
        if (limits.expired()) {
            return false;
        }
        GStack st = GStack.enter();
        try {
            return await(st, n, limits);
        } finally {
            GStack.exit(st);
        }
    }

    /**
     * Waits for {@code n} units. Called inside {@link GStack#enter}. Returns false when the time was up. Each request for more than the
     * size has a queue of its own, so that it does not delay others.
     */
    private boolean await(@Nullable GStack st, long n, Limits limits) {
        WaitQ q = n > size ? new WaitQ() : waiters;
        GivingUp e = new GivingUp(this, q, limits);
        try {
            e.begin();
            lock.lock();
            boolean ended = true;
            if (fits(n)) {
                held += n;
                lock.unlock();
                ended = false;
            } else if (e.pending()) {
                lock.unlock();
            } else {
                long sg = Waiting.sudogOrUnlock(st, lock);
                Sudog.LONG_ELEM.set(sg, n);
                ended = e.await(st, sg, q, lock, WaitReason.SEMACQUIRE);
                Waiting.release(st, sg);
            }
            return !ended || !e.timeUp();
        } finally {
            e.finish();
        }
    }

    /** Ends a wait early. After that the requests of later waiters may fit. */
    private static final class GivingUp extends WaitCancellation {
        private final Semaphore of;
        private final WaitQ q;
        /** The list of waiters whose requests fit now, linked by waitlink. */
        private long first;

        GivingUp(Semaphore of, WaitQ q, Limits limits) {
            super(limits, of.lock);
            this.of = of;
            this.q = q;
        }

        @Override
        protected boolean remove(long waiter) {
            boolean removed = q.remove(waiter);
            if (removed) {
                first = of.admit();
            }
            return removed;
        }

        @Override
        protected void ready(long waiter) {
            wakeAll(first);
            Reference.reachabilityFence(of); // See Hchan.wake.
            super.ready(waiter);
        }
    }

    /**
     * Takes {@code n} units if that needs no wait.
     *
     * @return false when nothing was taken
     * @throws IllegalArgumentException when {@code n} is negative
     */
    public boolean tryAcquire(long n) {
        notNegative(n, "weight");
        GStack st = GStack.enter();
        lock.lock();
        boolean fits = fits(n);
        if (fits) {
            held += n;
        }
        lock.unlock();
        GStack.exit(st);
        return fits;
    }

    private boolean fits(long n) {
        return n <= size - held && waiters.isEmpty();
    }

    /**
     * Releases {@code n} units. The semaphore has no owners, so a thread may release units that another thread has taken.
     *
     * @throws IllegalArgumentException when {@code n} is negative
     * @throws IllegalStateException "semaphore: released more than held"; then nothing was released
     */
    public void release(long n) {
        notNegative(n, "weight");
        GStack st = GStack.enterToGive();
        lock.lock();
        boolean ok = n <= held;
        long first = 0;
        if (ok) {
            held -= n;
            first = admit();
        }
        lock.unlock();
        wakeAll(first);
        Reference.reachabilityFence(lock); // See Hchan.wake.
        GStack.exit(st);
        if (!ok) {
            throw new IllegalStateException("semaphore: released more than held");
        }
    }

    /**
     * Removes the waiters whose requests fit now, up to the first whose request does not, and takes their units. Returns their list, linked
     * by waitlink. The caller holds the lock.
     */
    private long admit() {
        long first = 0;
        long last = 0;
        for (long sg = waiters.first(); sg != 0; sg = waiters.first()) {
            long n = Sudog.LONG_ELEM.get(sg);
            if (n > size - held) {
                break;
            }
            held += n;
            long _ = waiters.dequeue();
            Sudog.WAITLINK.set(sg, 0);
            if (last == 0) {
                first = sg;
            } else {
                Sudog.WAITLINK.set(last, sg);
            }
            last = sg;
        }
        return first;
    }

    private static void wakeAll(long list) {
        long next = list;
        while (next != 0) {
            long sg = next;
            next = Sudog.WAITLINK.get(sg); // Read before the wake, after which another waiter may use the sudog.
            Waiting.ready(sg);
        }
    }

    /** Returns how many units are taken. */
    long held() {
        GStack st = GStack.enter();
        lock.lock();
        long n = held;
        lock.unlock();
        GStack.exit(st);
        return n;
    }
}
