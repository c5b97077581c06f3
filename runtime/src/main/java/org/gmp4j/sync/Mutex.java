// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import org.gmp4j.Cancelable;
import org.gmp4j.proc.Deferred;
import org.gmp4j.proc.GStack;
import org.gmp4j.report.Fatal;
import org.gmp4j.stack.Headroom;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.Throw;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Sema;
import org.gmp4j.wait.Waiting;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A mutual-exclusion lock. Goroutines, virtual and plain threads may use it together. It has no owner: another
 * thread than the one that locked may unlock. It is not reentrant. Interrupts leave it alone, but for
 * {@link #lockInterruptibly}. In a bubble of {@code Synctest} the clock does not move on while one waits without a limit of time.
 * What is done before an {@link #unlock} happens before the return of the next {@link #lock}. Unlocked when new.
 *
 * <p>Misuse. An unlock that throws has changed nothing, however many do so at once and whatever else is done with the mutex meanwhile: for
 * n locks that were taken at most n unlocks return, so that the lock is neither given out twice nor withheld. But an unlock while
 * another thread holds the lock cannot be told from a right one: it gives that lock back.
 *
 * <p>Fairness. In normal mode an unlock wakes the waiter that has waited longest. That one competes with newcomers, which run already
 * and often win. This is fast, since a lock in use changes hands without a switch. A waiter that loses stays first in line. When it
 * has waited for a millisecond it turns the mutex to starvation mode: each unlock then hands the lock to the first waiter, and
 * newcomers queue behind the last. A waiter that gets the lock turns the mode back if it is the last one, or if it waited for less
 * than a millisecond.
 *
 * <p>Source: Go's {@code sync.Mutex}.
 */
@NullMarked
public final class Mutex {
    // The state: three bits and the number of waiters. 0: free, nobody waits. Each step checks that it is right before it
    // changes anything. Rejected: an unlock that subtracts before it looks, as Go's does. It is no faster, others see
    // a mistake until it is taken back, and the one that takes it back may owe a wake-up for which it has no stack left.
    private static final int LOCKED = 1;
    /** A waiter is awake and competes: unlock wakes no other. */
    private static final int WOKEN = 1 << 1;
    /** Starvation mode: an unlocked lock belongs to the first waiter, nobody takes it. Set only while it is locked. */
    private static final int STARVING = 1 << 2;
    private static final int WAITER_SHIFT = 3;
    private static final int WAITER = 1 << WAITER_SHIFT;

    private static final String UNLOCKED = "sync: unlock of unlocked mutex";
    private static final long STARVATION_NANOS = 1_000_000;
    private static final VarHandle STATE = FieldHandle.of(MethodHandles.lookup(), Mutex.class, "state", int.class);

    /** Anyone, by CAS. */
    private volatile int state;
    /** The waiters sleep here. */
    private final Sema sema = new Sema();

    /** An unlocked mutex. */
    public Mutex() {
    }

    /**
     * Takes the lock, waiting for it.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public void lock() {
        Headroom.check(); // Or there might be no room for the unlock.
        if (!STATE.compareAndSet(this, 0, LOCKED)) {
            GStack st = GStack.enterChecked();
            boolean _ = lockSlow(null, WaitReason.MUTEX_LOCK);
            GStack.exit(st);
        }
    }

    /**
     * Takes the lock, waiting for it until an interrupt of the calling thread ends that.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     *
     * @throws InterruptedException when it was interrupted before or while this waits; the lock was not taken, and the interrupt
     *     status is cleared
     */
    public void lockInterruptibly() throws InterruptedException {
        boolean _ = take(Limits.INTERRUPTIBLY);
    }

    /**
     * Takes the lock, waiting for it until {@code ctx} is cancelled. Interrupts leave it alone.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits; the lock was not taken
     */
    public void lockUnless(Cancelable ctx) {
        boolean _ = take(Limits.until(ctx).uninterruptibly());
    }

    /**
     * Takes the lock, waiting for it for at most {@code d}; zero or less is {@link #tryLock}. Interrupts leave it alone.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     *
     * @return false when the time was up, and the lock was not taken
     */
    public boolean lockWithin(Duration d) {
        return take(Limits.within(d).uninterruptibly());
    }

    /** With limits; false when the time was up. */
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
     * Takes the lock if it is free, and nobody is about to have it handed over.
     *
     * @return false when it was not taken
     */
    public boolean tryLock() {
        Headroom.check();
        int s = state;
        return isFree(s) && STATE.compareAndSet(this, s, s | LOCKED);
    }

    /** False when {@code e}, null for nothing, has ended the wait, and nothing was taken. */
    private boolean lockSlow(Sema.@Nullable OfSema e, WaitReason reason) {
        boolean waited = false;
        boolean starving = false;
        boolean awake = false; // The WOKEN bit is ours.
        long since = 0;
        long from = 0; // When the time began that was not counted yet.
        int spun = 0;
        for (int s = state;; s = state) {
            if ((s & (LOCKED | STARVING)) == LOCKED && Sema.canSpin(spun)) {
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
                return true;
            }
            boolean again = waited; // Then first in line.
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
                sema.acquire(true, reason); // It comes, or is there: the wait ends as if by it.
            }
            starving |= now - since > STARVATION_NANOS;
            s = state;
            if ((s & STARVING) != 0) {
                handedOver(starving);
                return true;
            }
            awake = true; // Unlock has set the bit for us.
            spun = 0;
        }
    }

    /**
     * A waiter that is in no queue any more, and has no unit, is counted out. Waiters in the state and units on their way are as many
     * as wait, in normal mode: an unlock that wakes one counts it out. In starvation mode the one that the lock is handed to
     * is still counted. So while others are counted, one of them gets what is on its way, and this one may leave; else it was meant.
     *
     * @return false when the unlock of somebody has counted on this waiter: it has to take the unit
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
                n &= ~STARVING; // Nobody is left to hand over to.
            }
            if (STATE.compareAndSet(this, s, n)) {
                return true;
            }
        }
    }

    /** The state after a thread has asked for the lock: locked if it was free, else with one more waiter. */
    private static int next(int s, boolean starving, boolean awake) {
        int n = isFree(s) ? s | LOCKED : s + WAITER;
        if (starving && (s & LOCKED) != 0) {
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

    private static boolean isFree(int s) {
        return (s & (LOCKED | STARVING)) == 0;
    }

    private static int waiters(int s) {
        return s >>> WAITER_SHIFT;
    }

    /** The lock is ours, though the state does not say so yet; others add waiters. */
    private void handedOver(boolean starving) {
        for (;;) {
            int s = state;
            if ((s & (LOCKED | WOKEN)) != 0 || waiters(s) == 0) {
                throw Throw.of("sync: inconsistent mutex state");
            }
            int n = s + LOCKED - WAITER;
            if (!starving || waiters(s) == 1) {
                n -= STARVING; // Starvation mode must end: two that hand over to each other pay a switch each time.
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
        if (!STATE.compareAndSet(this, LOCKED, 0) && !unlockSlow()) {
            throw unlockOfUnlocked();
        }
    }

    /** False when it is not locked. */
    private boolean unlockSlow() {
        if ((state & LOCKED) != 0 && !Headroom.enough()) {
            Unlocking.leave(this);
            return true;
        }
        return giveBack();
    }

    /** An unlock where there is room on the stack, also inside another section; false, and nothing has changed, when it is not locked. */
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

    /** An unlock for which there was no stack left: until sysmon has done it the lock is held. */
    private static final class Unlocking extends Deferred {
        private final Mutex m;
        private final @Nullable GStack by = GStack.current();

        private Unlocking(Mutex m) {
            this.m = m;
        }

        /** Has sysmon do it; throws, and nothing has changed, when no scheduler lives. */
        static void leave(Mutex m) {
            if (!Deferred.add(new Unlocking(m))) {
                throw Headroom.overflow();
            }
        }

        @Override
        protected void run() {
            if (!m.giveBack()) { // Another has unlocked it by mistake meanwhile, and was let through.
                Fatal.misuseBy(by, UNLOCKED);
            }
        }
    }

    /** The lock is free: wakes the one that has waited longest, unless a waiter is awake already or the lock has been taken. */
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

    /** Whether anyone holds it. */
    boolean isLocked() {
        return (state & LOCKED) != 0;
    }

    /**
     * Runs {@code f} with the lock held; unlocks however it ends.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
    public void withLock(Runnable f) {
        Objects.requireNonNull(f, "with of nil func value");
        lock();
        try {
            f.run();
        } finally {
            unlock();
        }
    }

    /**
     * Runs {@code f} with the lock held and returns its result; unlocks however it ends.
     *
     * <p>For threads, interrupts and bubbles see {@linkplain org.gmp4j##locks the package}.
     */
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
