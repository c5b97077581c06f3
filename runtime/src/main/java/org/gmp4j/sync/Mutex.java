// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import org.gmp4j.Cancelable;
import org.gmp4j.report.Fatal;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Deferred;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.HeapInt;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Sema;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * A mutual-exclusion lock. Goroutines, virtual and platform threads may use it together. It has no owner: a thread may unlock a mutex that
 * another thread has locked. It is not reentrant. An interrupt ends no wait for it, except in {@link #lockInterruptibly}. In a bubble of
 * {@code Synctest} the clock does not move on during a wait without a limit of time. The actions of a thread before an {@link #unlock}
 * happen before the return of the next {@link #lock}. A new mutex is unlocked.
 *
 * <p>Misuse. An unlock that throws has changed nothing, even if several threads unlock by mistake at once while others use the mutex. If
 * the lock was taken n times, at most n unlocks return. But the mutex cannot detect an unlock by a thread that does not hold the lock, if
 * another thread holds it. Such an unlock releases the lock.
 *
 * <p>Fairness. In normal mode an unlock wakes the waiter that has waited longest. That waiter competes with new callers, which are running
 * already and often win. This is fast, because a busy lock changes hands without a switch. A waiter that loses stays first in the queue.
 * When it has waited for a millisecond, it changes the mutex to starvation mode. In that mode each unlock hands the lock to the first
 * waiter, and new callers queue behind the last. A waiter that gets the lock ends that mode if it is the last waiter, or if it waited for
 * less than a millisecond.
 *
 * <p>Source: Go's {@code sync.Mutex}.
 */
public final class Mutex {
    // The state has three bits and the number of waiters. 0 means free and without waiters. Each step checks that it is allowed before it
    // changes the state. Rejected: an unlock that subtracts before it checks, as Go's does. Such an unlock is no faster. Other threads see
    // the effect of a wrong unlock until it is undone. The thread that undoes it may have to wake a waiter, and may have no stack left for
    // that.
    private static final int LOCKED = 1;
    /** A waiter is awake and competes, so unlock wakes no other. */
    private static final int WOKEN = 1 << 1;
    /**
     * Starvation mode: an unlocked lock belongs to the first waiter, and no other thread takes it. Threads set this bit only while the lock
     * is held.
     */
    private static final int STARVING = 1 << 2;
    private static final int WAITER_SHIFT = 3;
    private static final int WAITER = 1 << WAITER_SHIFT;

    private static final String UNLOCKED = "sync: unlock of unlocked mutex";
    private static final long STARVATION_NANOS = 1_000_000;
    private static final HeapInt<Mutex> STATE = HeapInt.of(MethodHandles.lookup(), Mutex.class, "state");

    /** Any thread writes it, by CAS. */
    private volatile int state;
    /** The semaphore on which the waiters sleep. */
    private final Sema sema = new Sema();

    /** Makes an unlocked mutex. */
    public Mutex() {
    }

    /** Waits for the lock and takes it. */
    public void lock() {
        Headroom.check(); // The stack must have room for the unlock as well.
        if (!STATE.compareAndSet(this, 0, LOCKED)) {
            GStack st = GStack.enterChecked();
            boolean _ = lockSlow(null, WaitReason.MUTEX_LOCK);
            GStack.exit(st);
        }
    }

    /**
     * Waits for the lock and takes it, but an interrupt of the calling thread ends the wait.
     *
     * @throws InterruptedException when the calling thread was interrupted before or while this waits; the lock was not taken, and the
     *     interrupt status is cleared
     */
    public void lockInterruptibly() throws InterruptedException {
        boolean _ = take(Limits.INTERRUPTIBLY);
    }

    /**
     * Waits for the lock and takes it, but a cancel of {@code ctx} ends the wait. An interrupt does not.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits; the lock was not taken
     */
    public void lockUnless(Cancelable ctx) {
        boolean _ = take(Limits.until(ctx).uninterruptibly());
    }

    /**
     * Waits for the lock for at most {@code d} and takes it. If {@code d} is zero or less, it does not wait, like {@link #tryLock}. An
     * interrupt does not end the wait.
     *
     * @return false when the time was up, and the lock was not taken
     */
    public boolean lockWithin(Duration d) {
        return take(Limits.within(d).uninterruptibly());
    }

    /** Waits for the lock with limits and takes it. Returns false when the time was up. */
    boolean take(Limits limits) {
        limits.check();
        if (tryLock()) {
            return true;
        }
        if (limits.expired()) {
            return false;
        }
        GStack st = GStack.enter();
        Sema.OfSema e = new Sema.OfSema(sema, limits);
        try {
            e.begin();
            return lockSlow(e, limits.reason(WaitReason.MUTEX_LOCK)) || !e.timeUp();
        } finally {
            e.finish();
            GStack.exit(st);
        }
    }

    /**
     * Takes the lock if it is free and no unlock is handing it to a waiter.
     *
     * @return false when it was not taken
     */
    public boolean tryLock() {
        Headroom.check();
        int s = state;
        return isFree(s) && STATE.compareAndSet(this, s, s | LOCKED);
    }

    /** Waits for the lock and takes it. Returns false when {@code e}, which may be null, has ended the wait, and the lock was not taken. */
    private boolean lockSlow(Sema.@Nullable OfSema e, WaitReason reason) {
        boolean waited = false;
        boolean starving = false;
        boolean awake = false; // Whether this waiter owns the WOKEN bit.
        long since = 0;
        long from = 0; // The nanoTime up to which the metrics have counted the wait.
        int spun = 0;
        for (int s = state;; s = state) {
            if ((s & (LOCKED | STARVING)) == LOCKED && Sema.canSpin(spun)) {
                if (!awake && (s & WOKEN) == 0 && waiters(s) != 0 && STATE.compareAndSet(this, s, s | WOKEN)) {
                    awake = true; // Now unlock wakes no other waiter.
                }
                Sema.spin();
                spun++;
                continue;
            }
            if (!STATE.compareAndSet(this, s, next(s, starving, awake))) {
                continue;
            }
            if (isFree(s)) {
                return true;
            }
            boolean again = waited; // A waiter that has waited before goes to the front of the queue.
            if (!waited) {
                waited = true;
                since = System.nanoTime();
                from = since;
            }
            boolean got = sema.acquire(again, reason, e);
            long now = System.nanoTime();
            Waiting.waitedForLock(now - from);
            from = now;
            if (!got) {
                if (giveUp()) {
                    return false;
                }
                sema.acquire(true, reason); // An unlock has released a unit for this waiter, or will soon.
            }
            starving |= now - since > STARVATION_NANOS;
            s = state;
            if ((s & STARVING) != 0) {
                handedOver(starving);
                return true;
            }
            awake = true; // The unlock that released the unit has set WOKEN.
            spun = 0;
        }
    }

    /**
     * Subtracts 1 from the count of waiters in the state, for a waiter that has left the queue without a unit of the semaphore. In normal
     * mode an unlock that wakes a waiter subtracts 1 from the count and releases a unit, so the count is the number of waiters minus the
     * number of pending units. If the count is not 0, each pending unit has another waiter, and this waiter may leave. Otherwise a unit is
     * for this waiter. In starvation mode the count includes the waiter to which the lock is being handed. So this method then compares the
     * count with 1 instead of 0.
     *
     * @return false when an unlock has released a unit for this waiter, which has to take it
     */
    private boolean giveUp() {
        for (;;) {
            int s = state;
            boolean handing = (s & (LOCKED | STARVING)) == STARVING;
            if (waiters(s) <= (handing ? 1 : 0)) {
                return false;
            }
            int n = s - WAITER;
            if (waiters(n) == 0) {
                n &= ~STARVING; // No waiter is left to which the lock could be handed.
            }
            if (STATE.compareAndSet(this, s, n)) {
                return true;
            }
        }
    }

    /** Returns the state after an attempt to take the lock: locked if it was free, otherwise with one more waiter. */
    private static int next(int s, boolean starving, boolean awake) {
        int n = isFree(s) ? s | LOCKED : s + WAITER;
        if (starving && (s & LOCKED) != 0) {
            n |= STARVING;
        }
        if (awake) {
            if ((n & WOKEN) == 0) {
                throw Throw.of("sync: inconsistent mutex state");
            }
            n &= ~WOKEN; // This waiter has the lock, or sleeps again.
        }
        return n;
    }

    private static boolean isFree(int s) {
        return (s & (LOCKED | STARVING)) == 0;
    }

    private static int waiters(int s) {
        return s >>> WAITER_SHIFT;
    }

    /** Marks the lock, which was handed to this waiter, as locked. Other threads may add waiters meanwhile. */
    private void handedOver(boolean starving) {
        for (;;) {
            int s = state;
            if ((s & (LOCKED | WOKEN)) != 0 || waiters(s) == 0) {
                throw Throw.of("sync: inconsistent mutex state");
            }
            int n = s + LOCKED - WAITER;
            if (!starving || waiters(s) == 1) {
                n -= STARVING; // Starvation mode must end, because each hand-over costs a switch.
            }
            if (STATE.compareAndSet(this, s, n)) {
                return;
            }
        }
    }

    /**
     * Releases the lock.
     *
     * @throws IllegalStateException "sync: unlock of unlocked mutex", and nothing has changed; in program mode this ends the program
     */
    public void unlock() {
        if (!STATE.compareAndSet(this, LOCKED, 0) && !unlockSlow()) {
            throw unlockOfUnlocked();
        }
    }

    /** Releases the lock. Returns false when it is not locked. */
    private boolean unlockSlow() {
        if ((state & LOCKED) != 0 && !Headroom.enough()) {
            Unlocking.leave(this);
            return true;
        }
        return giveBack();
    }

    /**
     * Releases the lock. The stack must have room for that. The caller may be inside a section of the runtime. Returns false, without a
     * change, when the mutex is not locked.
     */
    boolean giveBack() {
        for (int s = state; (s & LOCKED) != 0; s = state) {
            if (STATE.compareAndSet(this, s, s & ~LOCKED)) {
                if ((s & STARVING) != 0) {
                    release(true);
                } else {
                    pass(s & ~LOCKED);
                }
                return true;
            }
        }
        return false;
    }

    /** An unlock whose caller had too little stack. The lock stays held until sysmon makes the unlock. */
    private static final class Unlocking extends Deferred {
        private final Mutex m;
        private final @Nullable GStack by = GStack.current();

        private Unlocking(Mutex m) {
            this.m = m;
        }

        /** Leaves the unlock to sysmon. Throws, and changes nothing, when no scheduler lives. */
        static void leave(Mutex m) {
            if (!Deferred.add(new Unlocking(m))) {
                throw Headroom.overflow();
            }
        }

        @Override
        protected void run() {
            if (!m.giveBack()) { // An undetected wrong unlock by another thread has released the lock.
                Fatal.misuseBy(by, UNLOCKED);
            }
        }
    }

    /**
     * Wakes the waiter that has waited longest, because the lock is free. Does nothing if a waiter is awake already, or another thread has
     * taken the lock meanwhile.
     */
    private void pass(int free) {
        for (int s = free; waiters(s) != 0 && (s & WOKEN) == 0 && isFree(s); s = state) {
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
        return Fatal.misuse(UNLOCKED);
    }

    /** Returns whether a thread holds the lock. */
    boolean isLocked() {
        return (state & LOCKED) != 0;
    }

    /** Runs {@code f} with the lock held, and then unlocks, even if {@code f} throws. */
    public void withLock(Runnable f) {
        Objects.requireNonNull(f, "with of nil func value");
        lock();
        try {
            f.run();
        } finally {
            unlock();
        }
    }

    /** Runs {@code f} with the lock held and returns its result. Unlocks even if {@code f} throws. */
    public <T extends @Nullable Object> T with(Supplier<T> f) {
        Objects.requireNonNull(f, "with of nil func value");
        lock();
        try {
            return f.get();
        } finally {
            unlock();
        }
    }
}
