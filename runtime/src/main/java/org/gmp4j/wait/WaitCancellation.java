// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.gmp4j.WaitInterruptedException;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.sched.Bubble;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.jdk.InterruptHook;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.timer.RuntimeTimer;
import org.jspecify.annotations.Nullable;

/**
 * Ends one wait early: by an interrupt, a limit of time, or a cancelled context ({@link Limits}). There is one object for each operation
 * that has to wait.
 *
 * <p>Protocol. The waiter calls {@link #begin}, then takes the lock of the object on which it waits, and tries its operation once more. If
 * it still has to wait and no reason is {@link #pending}, it records its sudog in this object ({@link #waits}), queues the sudog and parks.
 * A thread that ends the wait takes the same lock and records the reason. If the sudog is queued, that thread removes it from the queue and
 * wakes the waiter.
 *
 * <p>No element is lost or delivered twice. The waker and the thread that ends the wait compete for the sudog, under the lock that guards
 * the queue. The thread that removes the sudog wins. If the waker wins, it passes its element in the same critical section. The wait has
 * then succeeded, and the interrupt stays pending for the next wait. If the thread that ends the wait wins, the waiter is no longer in the
 * queue, so the element goes to another waiter or stays where it is.
 *
 * <p>An end that comes too early or too late does no harm. The waiter and the thread that ends the wait take the same lock. So a reason
 * that is recorded before the waiter has queued its sudog prevents the wait. A woken waiter takes the lock again, clears this object's
 * reference to the sudog ({@link #woken}), and only then releases the sudog. So a thread that is late to end the wait finds no sudog.
 *
 * <p>{@link InterruptHook} reports interrupts.
 */
public abstract class WaitCancellation implements Runnable, InterruptHook.Told {
    private static final int TIME = 1;
    private static final int INTERRUPT = 2;
    private static final int CANCEL = 3;

    /** The limits of the wait. */
    protected final Limits limits;
    /** The lock of the object on which the caller waits; null in a subclass with its own {@link #lock()} and {@link #unlock()}. */
    private final @Nullable HeapMutex lock;
    /** Written only by the waiter; null when interrupts do not end the wait, and after {@link #finish}. */
    private @Nullable InterruptHook hook;
    private @Nullable Limit limit;
    private @Nullable BooleanSupplier registration;

    // The lock of the object on which the caller waits guards the fields below.
    /** The first reason to end the wait; 0 while there is none. */
    private int pending;
    /** The waiter's sudog from {@link #waits} until {@link #woken}; otherwise 0. */
    private long sg;
    /** Whether {@link #end} removed the sudog from its queue. */
    private boolean out;

    /** Makes an object for one wait of the calling thread, on an object that {@code lock} guards. */
    protected WaitCancellation(Limits limits, @Nullable HeapMutex lock) {
        this.limits = limits;
        this.lock = lock;
    }

    /** Returns whether an interrupt ends waits with {@link Limits#DEFAULT} of the caller, whose stack is {@code st}. */
    public static boolean byDefault(@Nullable GStack st) {
        return st != null && st.endsByInterrupt();
    }

    /** Takes the lock of the object on which the caller waits. */
    @SuppressWarnings("NullAway") // A subclass without a HeapMutex overrides this method and the next one.
    protected void lock() {
        lock.lock();
    }

    /** Releases the lock. */
    @SuppressWarnings("NullAway")
    protected void unlock() {
        lock.unlock();
    }

    /** Removes a sudog from its queue. Returns false if a waker has removed it. Called under the lock. */
    protected abstract boolean remove(long waiter);

    /** Wakes a waiter that {@link #remove} has removed. Called without the lock. */
    protected void ready(long waiter) {
        Waiting.ready(waiter);
    }

    /**
     * Begins to record reasons to end the wait, until {@link #finish}, which must follow. Called without locks, inside
     * {@link GStack#enter}. If it throws, for lack of memory, it has undone all, and {@link #finish} need not follow.
     */
    public final void begin() {
        boolean begun = false;
        try {
            if (limits.timed()) {
                limit = new Limit(this);
                limit.set(limits.nanos());
            }
            if (limits.ctx() != null) {
                registration = limits.ctx().whenCancelled(this);
            }
            if (limits.interrupts() == Limits.Interrupts.ALWAYS
                    || limits.interrupts() == Limits.Interrupts.BY_DEFAULT && byDefault(GStack.current())) {
                hook = InterruptHook.mine(); // Last, because a user's whenCancelled might wait, and would need the thread's only hook.
                hook.on(this);
            }
            begun = true;
            setEndable(hook != null || limit != null || registration != null);
        } finally {
            if (!begun) {
                finish();
            }
        }
    }

    /**
     * Begins as {@link #begin} does, for a wait that an event outside of all bubbles ends. During such a wait a bubble's clock does not
     * advance, so a limit of time goes by the machine's clock.
     */
    public final void beginOutside() {
        if (limits.timed() && Bubble.current() != null) {
            Object _ = Bubble.outside(new Begun(this));
        } else {
            begin();
        }
    }

    /** Begins a cancellation. */
    private record Begun(WaitCancellation e) implements Supplier<WaitCancellation> {
        @Override
        public WaitCancellation get() {
            e.begin();
            return e;
        }
    }

    /** Ends the recording of reasons. A reason that comes later has no effect. Called without locks; a second call does nothing. */
    public final void finish() {
        if (hook != null) {
            hook.off();
            hook = null;
        }
        if (limit != null) {
            boolean _ = limit.stop();
            limit = null;
        }
        if (registration != null) {
            boolean _ = registration.getAsBoolean();
            registration = null;
        }
        setEndable(false);
    }

    private static void setEndable(boolean endable) {
        GStack st = GStack.current();
        if (st != null) {
            st.setEndable(endable);
        }
    }

    /** Returns whether there is a reason to end the wait. Called under the lock. */
    public final boolean pending() {
        return pending != 0;
    }

    /**
     * Records the sudog with which the caller is queued, or is about to be queued. Called under the lock, which is released once the caller
     * has parked.
     */
    public final void waits(long waiter) {
        sg = waiter;
    }

    /** Clears the recorded sudog after the park. Returns true when the wait ended early, false when a waker removed the sudog. */
    public final boolean woken() {
        lock();
        boolean ended = wokenLocked();
        unlock();
        return ended;
    }

    /** Clears the recorded sudog, and returns whether the wait ended early: see {@link #woken}. Called under the lock. */
    public final boolean wokenLocked() {
        sg = 0;
        return out;
    }

    /** Waits as {@link Waiting#await} does. Returns true when the wait ended early. The caller releases the sudog. */
    public final boolean await(@Nullable GStack st, long waiter, WaitQ q, HeapMutex lock, WaitReason reason) {
        waits(waiter);
        Waiting.await(st, waiter, q, lock, reason);
        return woken();
    }

    /** Returns true if the time was up, and throws the exception of any other reason. Called after a wait that ended early. */
    @SuppressWarnings("NullAway") // If a context has ended the wait, it is not null.
    public final boolean timeUp() {
        switch (pending) { // Written once, under the lock, and the waiter has held the lock after that.
            case TIME -> {
                return true;
            }
            case CANCEL -> throw limits.ctx().err();
            default -> {
                if (limits.interrupts() == Limits.Interrupts.ALWAYS) {
                    boolean _ = Thread.interrupted();
                    throw WaitCancellation.<RuntimeException>sneaky(new InterruptedException());
                }
                throw new WaitInterruptedException();
            }
        }
    }

    /** Ends the wait because the context is cancelled. This object is itself the callback of {@code whenCancelled}. */
    @Override
    public final void run() {
        end(CANCEL);
    }

    /** Ends the wait because the thread is interrupted. */
    @Override
    public final void interrupted() {
        end(INTERRUPT);
    }

    /** Returns whether the time was up. Called after a wait that ended early. */
    public final boolean byTime() {
        return pending == TIME;
    }

    /** Returns whether the context was cancelled. Called after a wait that ended early. */
    public final boolean byContext() {
        return pending == CANCEL;
    }

    private void end(int why) {
        GStack st = GStack.enterChecked();
        long waiter = 0;
        lock();
        if (pending == 0) {
            pending = why;
        }
        if (sg != 0 && !out && remove(sg)) {
            out = true;
            waiter = sg;
        }
        unlock();
        if (waiter != 0) {
            ready(waiter);
        }
        GStack.exit(st);
    }

    @SuppressWarnings("unchecked")
    static <E extends Throwable> E sneaky(Throwable t) throws E {
        throw (E) t;
    }

    /** Ends a wait in a queue that one lock guards, by taking the sudog out of the queue and waking the waiter. */
    public static final class OfQueue extends WaitCancellation {
        private final WaitQ q;

        /** Makes an object for a wait in {@code q}, which {@code lock} guards. */
        public OfQueue(Limits limits, HeapMutex lock, WaitQ q) {
            super(limits, lock);
            this.q = q;
        }

        @Override
        protected boolean remove(long waiter) {
            return q.remove(waiter);
        }
    }

    /** The timer of a limit of time. No thread holds its lock together with the lock of the object on which the waiter waits. */
    private static final class Limit extends RuntimeTimer {
        private final WaitCancellation of;

        Limit(WaitCancellation of) {
            super(new HeapMutex(LockRank.SEMA));
            this.of = of;
        }

        void set(long nanos) {
            lock.lock();
            try {
                when = in(nanos);
                arm();
            } finally {
                lock.unlock();
            }
        }

        @Override
        protected void look(long now) {
            boolean fires = when != 0 && now >= when;
            try {
                if (fires) {
                    when = 0;
                    disarm();
                } else if (when != 0) {
                    arm();
                }
            } finally { // Runs also when there was no memory for the next alarm.
                lock.unlock();
            }
            if (fires) {
                of.end(TIME);
            }
        }
    }
}
