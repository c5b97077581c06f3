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
 * <p>Fairness. In normal mode an unlock wakes who waits longest, and that one competes with newcomers, who run already and
 * often win: fast, since a lock in use changes hands without a switch. A waiter that loses stays first in line. When it has
 * waited for a millisecond it turns the mutex to starvation mode: each unlock then hands the lock to the first waiter, and
 * newcomers queue behind the last. Who gets the lock and is the last waiter, or waited for less than a millisecond,
 * turns it back.
 *
 * <p>Source: Go's {@code sync.Mutex}.
 */
public final class Mutex {
    // The state: three bits and, between them, the number of waiters. 0: free, nobody waits.
    /** The highest bit: adding it changes that and nothing else, even if it was not as whoever adds it thought. */
    private static final int LOCKED = 1 << 31;
    /** A waiter is awake and competes: unlock wakes no other. */
    private static final int WOKEN = 1;
    /** Starvation mode: an unlocked lock belongs to the first waiter, nobody takes it. */
    private static final int STARVING = 1 << 1;
    private static final int WAITER_SHIFT = 2;
    private static final int WAITER = 1 << WAITER_SHIFT;

    private static final long STARVATION_NANOS = 1_000_000;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Mutex.class, "state", int.class).withInvokeExactBehavior();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Anyone, by CAS; by addition to unlock: half of what an uncontended pair costs are its two atomic operations. */
    private volatile int state;
    /** The waiters sleep here. */
    private final Sema sema = new Sema();

    /** An unlocked mutex. */
    public Mutex() {
    }

    /** Takes the lock, waiting for it. */
    public void lock() {
        Headroom.check(); // Or there might be none for the unlock.
        if (!STATE.compareAndSet(this, 0, LOCKED)) {
            GStack st = GStack.enter();
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
        int s = state;
        return (s & (LOCKED | STARVING)) == 0 && STATE.compareAndSet(this, s, s | LOCKED);
    }

    private void lockSlow() {
        boolean waited = false;
        boolean starving = false;
        boolean awake = false; // The WOKEN bit is ours.
        long since = 0;
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
            if ((s & (LOCKED | STARVING)) == 0) {
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
    private static int next(int s, boolean starving, boolean awake) {
        int n = s;
        if ((s & STARVING) == 0) {
            n |= LOCKED;
        }
        if ((s & (LOCKED | STARVING)) != 0) {
            n += WAITER;
        }
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

    private static int waiters(int s) {
        return (s & ~LOCKED) >>> WAITER_SHIFT;
    }

    /** The lock is ours, though the state does not say so yet; others add waiters, and unlock by mistake. */
    private void handedOver(boolean starving) {
        for (;;) {
            int s = state;
            if ((s & LOCKED) != 0) {
                Thread.onSpinWait(); // A mistake, about to be taken back.
                continue;
            }
            if ((s & WOKEN) != 0 || waiters(s) == 0) {
                throw Throw.of("sync: inconsistent mutex state");
            }
            int n = (s | LOCKED) - WAITER;
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
     * @throws IllegalStateException "sync: unlock of unlocked mutex"; in program mode that ends the program. The mutex is as it
     *     was; but of two such mistakes at the same moment one may go unnoticed and the other take the lock from its owner
     */
    public void unlock() {
        int s = (int) STATE.getAndAdd(this, LOCKED);
        if (s != LOCKED) {
            try {
                unlockSlow(s ^ LOCKED);
            } catch (StackOverflowError e) { // Before it was passed on.
                if ((s & LOCKED) == 0) {
                    throw e; // A mistake, which unlockSlow would have reported.
                }
                boolean left = Deferred.add(new Passing(this, s ^ LOCKED));
                for (int now = state; !left && (now & LOCKED) == 0; now = state) { // Else its new owner passes it on.
                    if (STATE.compareAndSet(this, now, now | LOCKED)) {
                        throw e; // As if it had not been unlocked.
                    }
                }
            }
        }
    }

    /** An unlock for which there was no stack left, after the lock is free. */
    private static final class Passing extends Deferred {
        private final Mutex m;
        private final int s;

        Passing(Mutex m, int s) {
            this.m = m;
            this.s = s;
        }

        @Override
        protected void run() {
            m.pass(s);
        }
    }

    private void unlockSlow(int s) {
        if ((s & LOCKED) != 0) {
            takeBack((s & STARVING) != 0);
            throw unlockOfUnlocked();
        }
        pass(s);
    }

    /** The lock was free, and for a moment seemed not to be. If it is free again already another unlock has passed it on. */
    private void takeBack(boolean handedOver) {
        for (int s = state; (s & LOCKED) != 0; s = state) {
            if (STATE.compareAndSet(this, s, s ^ LOCKED)) {
                if (!handedOver) { // Else it has its next owner, who wakes the others.
                    pass(s ^ LOCKED); // Somebody may have begun to wait meanwhile.
                }
                return;
            }
        }
    }

    /** The lock is free: hands it over, or wakes who waits longest, unless one is awake or somebody has it. */
    private void pass(int s) {
        if (!Headroom.enough()) {
            throw Headroom.overflow();
        }
        if ((s & STARVING) != 0) {
            release(true);
            return;
        }
        for (; waiters(s) != 0 && (s & (LOCKED | WOKEN | STARVING)) == 0; s = state) {
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
        return (state & LOCKED) != 0;
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
