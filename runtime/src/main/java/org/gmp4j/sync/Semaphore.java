// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.util.function.BooleanSupplier;

import org.gmp4j.context.Context;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.Sudog;
import org.gmp4j.wait.Waiting;

/**
 * A weighted semaphore: callers hold shares of a size. First come, first served: while a large request waits, small ones
 * behind it wait too, so it cannot starve. Thread-safe, from goroutines and plain threads; interrupts leave it alone. What
 * is done before a {@link #release} happens before the return of the {@link #acquire} it lets through. Source: Go's
 * {@code golang.org/x/sync/semaphore}.
 */
public final class Semaphore {
    private final HeapMutex lock = new HeapMutex(LockRank.SEMA);
    /** By weight; under the lock. */
    private final WaitQ waiters = new WaitQ();
    private final long size;
    private long held;

    /**
     * A semaphore with nothing taken.
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
     * Takes {@code n}, waiting for them. More than the size will never be free: that waits for ever, and holds nobody else
     * up.
     *
     * @throws IllegalArgumentException when {@code n} is negative
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
            } else {
                long sg = Waiting.sudogOrUnlock(st, lock);
                Sudog.setLongElem(sg, n);
                Waiting.await(st, sg, waiters, lock, WaitReason.SEMACQUIRE);
                Waiting.release(st, sg);
            }
        } finally {
            GStack.exit(st);
        }
    }

    /**
     * Takes {@code n}, waiting for them until {@code ctx} is cancelled. More than the size waits until then.
     *
     * @throws IllegalArgumentException when {@code n} is negative
     * @throws Exception what {@code ctx.err()} gives, also when it was cancelled before; then nothing was taken
     */
    public void acquire(Context ctx, long n) throws Exception {
        notNegative(n, "weight");
        GStack.checkAll();
        Exception cancelled = ctx.err();
        if (cancelled == null && !tryAcquire(n)) {
            Patience w = new Patience(n > size ? new WaitQ() : waiters);
            BooleanSupplier stop = ctx.afterFunc(new GivingUp(this, w));
            boolean taken;
            try {
                taken = await(w, n);
            } finally { // There may be no memory to wait.
                boolean unused = stop.getAsBoolean();
            }
            cancelled = ctx.err();
            if (taken && cancelled != null) {
                release(n);
            }
        }
        if (cancelled != null) {
            throw cancelled;
        }
    }

    /**
     * A wait that may be given up. Whoever takes its sudog off the queue ends it. The waiter forgets the sudog under the lock
     * before it gives it back, so that nobody who is late looks at one that is somebody else's.
     */
    private static final class Patience {
        /** That of all, or one of its own for what is never free. */
        private final WaitQ q;
        /** The rest under the lock: the sudog while it is queued, or about to be seen woken; 0 before and after. */
        private long sg;
        private boolean givenUp;

        Patience(WaitQ q) {
            this.q = q;
        }
    }

    /** Waits; false when it was given up. */
    private boolean await(Patience w, long n) {
        GStack st = GStack.enter();
        try {
            lock.lock();
            boolean taken = !w.givenUp && fits(n);
            if (taken) {
                held += n;
            }
            if (taken || w.givenUp) {
                lock.unlock();
            } else {
                long sg = Waiting.sudogOrUnlock(st, lock);
                Sudog.setLongElem(sg, n);
                w.sg = sg;
                Waiting.await(st, sg, w.q, lock, WaitReason.SEMACQUIRE);
                lock.lock();
                w.sg = 0;
                taken = !w.givenUp;
                lock.unlock();
                Waiting.release(st, sg);
            }
            return taken;
        } finally {
            GStack.exit(st);
        }
    }

    /** A class: a lambda would be linked when memory may be short. */
    private record GivingUp(Semaphore of, Patience w) implements Runnable {
        @Override
        public void run() {
            of.giveUp(w);
        }
    }

    private void giveUp(Patience w) {
        GStack st = GStack.enter();
        lock.lock();
        long sg = w.sg;
        long first = 0;
        if (sg == 0) {
            w.givenUp = true; // It has not begun; or it has ended, and nobody asks.
        } else if (w.q.remove(sg)) {
            w.givenUp = true;
            first = admit(); // Who waited behind it may fit.
            Sudog.setWaitlink(sg, first);
            first = sg;
        }
        lock.unlock();
        wakeAll(first);
        GStack.exit(st);
    }

    /**
     * Takes {@code n} if that needs no waiting.
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
     * Gives {@code n} back.
     *
     * @throws IllegalArgumentException when {@code n} is negative
     * @throws IllegalStateException "semaphore: released more than held"; then nothing was released. There are no owners: what
     *     others hold can be released
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
        GStack.exit(st);
        if (!ok) {
            throw new IllegalStateException("semaphore: released more than held");
        }
    }

    /** Takes the waiters out for whom there is room now, up to the first for whom there is none; linked by waitlink. */
    private long admit() {
        long first = 0;
        long last = 0;
        for (long sg = waiters.first(); sg != 0; sg = waiters.first()) {
            long n = Sudog.longElem(sg);
            if (n > size - held) {
                break;
            }
            held += n;
            long unused = waiters.dequeue();
            Sudog.setWaitlink(sg, 0);
            if (last == 0) {
                first = sg;
            } else {
                Sudog.setWaitlink(last, sg);
            }
            last = sg;
        }
        return first;
    }

    private static void wakeAll(long list) {
        long next = list;
        while (next != 0) {
            long sg = next;
            next = Sudog.waitlink(sg); // Before the wake: the waiter may give the sudog to another.
            Waiting.ready(sg);
        }
    }

    /** How much is taken. */
    long held() {
        GStack st = GStack.enter();
        lock.lock();
        long n = held;
        lock.unlock();
        GStack.exit(st);
        return n;
    }
}
