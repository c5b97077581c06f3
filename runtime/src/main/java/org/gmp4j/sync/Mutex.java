package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.function.Supplier;

import org.gmp4j.proc.Deferred;
import org.gmp4j.proc.Fatal;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Sema;
import org.gmp4j.proc.WaitReason;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.Throw;

/**
 * A mutual-exclusion lock. Goroutines, virtual and plain threads may use it together. It has no owner: whoever has finished
 * may unlock, another than who locked if need be, and it is not reentrant. Interrupts leave it alone. What is done before
 * an {@link #unlock} happens before the return of the next {@link #lock}. Unlocked when new.
 *
 * <p>Misuse. An unlock that throws has changed nothing, however many do so at once and whoever uses the mutex beside them: of
 * n locks taken at most n unlocks return, so that the lock is neither given out twice nor withheld. But an unlock while
 * somebody else holds the lock is none that could be told from a right one: it gives that lock back.
 *
 * <p>Fairness. In normal mode an unlock wakes who waits longest, and that one competes with newcomers, who run already and
 * often win: fast, since a lock in use changes hands without a switch. A waiter that loses stays first in line. When it has
 * waited for a millisecond it turns the mutex to starvation mode: each unlock then hands the lock to the first waiter, and
 * newcomers queue behind the last. Who gets the lock and is the last waiter, or waited for less than a millisecond,
 * turns it back.
 *
 * <p>Source: Go's {@code sync.Mutex}.
 */
public final class Mutex {
    // The state. The upper half, signed: 1 when locked, 0 when free; less when unlocked by mistake, by one for each mistake
    // that was not taken back yet. So a mistake sees that it is one, and what it takes back is its own: nobody takes the lock
    // unless this is 0. The lower half: two bits and the number of waiters. 0: free, nobody waits.
    private static final long LOCKED = 1L << 32;
    /** A waiter is awake and competes: unlock wakes no other. */
    private static final long WOKEN = 1;
    /** Starvation mode: an unlocked lock belongs to the first waiter, nobody takes it. Set only while it is locked. */
    private static final long STARVING = 1 << 1;
    private static final int WAITER_SHIFT = 2;
    private static final long WAITER = 1 << WAITER_SHIFT;

    private static final long STARVATION_NANOS = 1_000_000;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Mutex.class, "state", long.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Anyone, by CAS; by addition to unlock: half of what an uncontended pair costs are its two atomic operations. */
    private volatile long state;
    /** The waiters sleep here. */
    private final Sema sema = new Sema();

    /** An unlocked mutex. */
    public Mutex() {
    }

    /** Takes the lock, waiting for it. */
    public void lock() {
        Headroom.check(); // Or there might be none for the unlock.
        if (!STATE.compareAndSet(this, 0L, LOCKED)) {
            GStack st = GStack.enterChecked();
            lockSlow();
            GStack.exit(st);
        }
    }

    /**
     * Takes the lock if it is free, and nobody is about to have it handed over.
     *
     * @return false when it was not taken
     */
    public boolean tryLock() {
        Headroom.check();
        long s = state;
        return isFree(s) && STATE.compareAndSet(this, s, s + LOCKED);
    }

    private void lockSlow() {
        boolean waited = false;
        boolean starving = false;
        boolean awake = false; // The WOKEN bit is ours.
        long since = 0;
        int spun = 0;
        for (long s = state;; s = state) {
            if (holds(s) != 0 && (s & STARVING) == 0 && Sema.canSpin(spun)) {
                if (!awake && (s & WOKEN) == 0 && waiters(s) != 0 && STATE.compareAndSet(this, s, s | WOKEN)) {
                    awake = true; // Unlock need not wake another.
                }
                Sema.spin();
                spun++;
                continue;
            }
            if (!STATE.compareAndSet(this, s, next(s, starving, awake))) {
                continue;
            }
            if (isFree(s)) {
                return;
            }
            boolean again = waited; // Then first in line.
            if (!waited) {
                waited = true;
                since = System.nanoTime();
            }
            sema.acquire(again, WaitReason.MUTEX_LOCK);
            starving |= System.nanoTime() - since > STARVATION_NANOS;
            s = state;
            if ((s & STARVING) != 0) {
                handedOver(starving);
                return;
            }
            awake = true; // Unlock has set the bit for us.
            spun = 0;
        }
    }

    /** What one who wants the lock makes of the state: locked if it was free, else with one more waiter. */
    private static long next(long s, boolean starving, boolean awake) {
        long n = isFree(s) ? s + LOCKED : s + WAITER;
        if (starving && holds(s) == 1) {
            n |= STARVING;
        }
        if (awake) {
            if ((n & WOKEN) == 0) {
                throw Throw.of("sync: inconsistent mutex state");
            }
            n &= ~WOKEN; // We have the lock, or sleep again.
        }
        return n;
    }

    /** The upper half. */
    private static int holds(long s) {
        return (int) (s >> Integer.SIZE);
    }

    private static boolean isFree(long s) {
        return holds(s) == 0 && (s & STARVING) == 0;
    }

    private static int waiters(long s) {
        return (int) s >>> WAITER_SHIFT;
    }

    /** The lock is ours, though the state does not say so yet; others add waiters, and unlock by mistake. */
    private void handedOver(boolean starving) {
        for (;;) {
            long s = state;
            if (holds(s) != 0) {
                Thread.onSpinWait(); // A mistake, about to be taken back.
                continue;
            }
            if ((s & WOKEN) != 0 || waiters(s) == 0) {
                throw Throw.of("sync: inconsistent mutex state");
            }
            long n = s + LOCKED - WAITER;
            if (!starving || waiters(s) == 1) {
                n -= STARVING; // Not for ever: two that hand over to each other pay a switch each time.
            }
            if (STATE.compareAndSet(this, s, n)) {
                return;
            }
        }
    }

    /**
     * Gives the lock back.
     *
     * @throws IllegalStateException "sync: unlock of unlocked mutex"; in program mode that ends the program. Nothing has
     *     changed: see the class comment
     */
    public void unlock() {
        long s = (long) STATE.getAndAdd(this, -LOCKED);
        if (s != LOCKED) {
            try {
                unlockSlow(s);
            } catch (StackOverflowError e) { // Before it did anything.
                unlockLater(s, e);
            }
        }
    }

    /** Of the state before. */
    private void unlockSlow(long s) {
        if (!Headroom.enough()) {
            throw Headroom.overflow();
        }
        if (holds(s) != 1) {
            takeBack();
            throw unlockOfUnlocked();
        }
        if ((s & STARVING) != 0) {
            release(true);
        } else {
            pass(s - LOCKED);
        }
    }

    /** The same where there is no stack left for it. */
    private void unlockLater(long s, StackOverflowError e) {
        if (holds(s) != 1) {
            long now = (long) STATE.getAndAdd(this, LOCKED) + LOCKED; // As takeBack.
            if (isFree(now)) {
                boolean unused = Deferred.add(new Passing(this, now));
            }
            throw e; // A mistake, which unlockSlow would have reported.
        }
        if (Deferred.add(new Passing(this, s - LOCKED))) {
            return;
        }
        for (long now = state; holds(now) <= 0; now = state) { // Else its new owner passes it on.
            if (holds(now) == 0 && STATE.compareAndSet(this, now, now + LOCKED)) {
                throw e; // As if it had not been unlocked.
            }
        }
    }

    /** What an unlock owes after the lock is free. */
    private static final class Passing extends Deferred {
        private final Mutex m;
        private final long free;

        Passing(Mutex m, long free) {
            this.m = m;
            this.free = free;
        }

        @Override
        protected void run() {
            if ((free & STARVING) != 0) {
                m.release(true);
            } else {
                m.pass(free);
            }
        }
    }

    /**
     * The lock was free, and is again when the last of those who made this mistake has taken it back. In starvation mode it is
     * about to have its next owner: the unlock that freed it has seen to that.
     */
    private void takeBack() {
        long s = (long) STATE.getAndAdd(this, LOCKED) + LOCKED;
        if (isFree(s)) {
            pass(s); // Somebody may have begun to wait meanwhile.
        }
    }

    /** The lock is free: wakes who waits longest, unless one is awake or somebody has it. */
    private void pass(long free) {
        for (long s = free; waiters(s) != 0 && (s & WOKEN) == 0 && isFree(s); s = state) {
            if (STATE.compareAndSet(this, s, s - WAITER | WOKEN)) {
                release(false);
                return;
            }
        }
    }

    private void release(boolean handoff) {
        GStack st = GStack.enterChecked();
        sema.release(handoff);
        GStack.exit(st);
    }

    static IllegalStateException unlockOfUnlocked() {
        return Fatal.misuse("sync: unlock of unlocked mutex");
    }

    /** Whether anyone holds it. */
    boolean isLocked() {
        return holds(state) == 1;
    }

    /** Runs {@code f} with the lock held and returns its result; unlocks however it ends. */
    public <T> T with(Supplier<T> f) {
        Objects.requireNonNull(f, "with of nil func value");
        lock();
        try {
            return f.get();
        } finally {
            unlock();
        }
    }
}
