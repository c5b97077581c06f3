package org.gmp4j.sync;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.proc.Waiting;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.Sudog;
import org.gmp4j.struct.SudogSlots;

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
        GStack st = GStack.enter();
        lock.lock();
        if (n > size) {
            lock.unlock();
            Waiting.forever(WaitReason.SEMACQUIRE);
        } else if (fits(n)) {
            held += n;
            lock.unlock();
        } else {
            Waiting.release(Waiting.await(waiters, lock, n, WaitReason.SEMACQUIRE));
        }
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
     * @throws IllegalStateException "semaphore: released more than held"
     */
    public void release(long n) {
        notNegative(n, "weight");
        GStack st = GStack.enter();
        lock.lock();
        boolean ok = n <= held;
        long first = 0;
        if (ok) {
            held -= n;
            first = admit();
        }
        lock.unlock();
        while (first != 0) {
            long sg = first;
            first = Sudog.waitlink(sg); // Before the wake: the waiter may give the sudog to another.
            Waiting.wake(sg);
        }
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
            long n = (Long) SudogSlots.elem(sg);
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
