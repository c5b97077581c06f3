// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.util.function.BooleanSupplier;

import org.gmp4j.WaitInterruptedException;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.InterruptHook;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.timer.RuntimeTimer;
import org.jspecify.annotations.Nullable;

/**
 * What ends one wait early: an interrupt, a limit of time, a cancelled context ({@link Limits}). There is one object for each
 * operation that really has to wait; one that can go on at once needs none.
 *
 * <p>Protocol. The waiter calls {@link #begin}, then takes the lock of what it waits for and tries once more. If it still has to wait
 * and nothing is {@link #pending}, it says with which sudog ({@link #waits}), queues that and parks. Whoever ends the wait takes the
 * same lock and notes the reason; if the sudog is queued, it takes it out of the queue and wakes the waiter.
 *
 * <p>No element is lost or delivered twice: the waker and whoever ends the wait race for the sudog, under the one lock that guards
 * the queue, and the one that takes it out wins. If the waker wins, it hands its element over in the same critical section; the wait
 * has succeeded, and the interrupt stays pending for the next wait. If the other wins, nothing of the waiter is left in the queue, so
 * the element goes to another waiter or stays where it is.
 *
 * <p>Too early or too late does no harm: a reason that is noted before the waiter has queued itself keeps it from doing so, as both
 * hold the lock. Once woken, the waiter takes the lock again and says that it waits no more ({@link #woken}), and only then gives the
 * sudog back; so whoever comes late to end the wait finds no sudog, and touches none that has another user by now.
 *
 * <p>Interrupts are reported by {@link InterruptHook}.
 */
public abstract class Ending implements Runnable, InterruptHook.Told {
    private static final int TIME = 1;
    private static final int INTERRUPT = 2;
    private static final int CANCEL = 3;

    private final Limits limits;
    /** Written by the waiter alone; null when interrupts do not count, and after {@link #finish}. */
    private @Nullable InterruptHook hook;
    private @Nullable Limit limit;
    private @Nullable BooleanSupplier registration;

    // The fields below are under the lock of what is waited for.
    /** The first reason to end the wait; 0 while there is none. */
    private int pending;
    /** The waiter's sudog while it is queued; 0 before and after. */
    private long sg;
    /** Whether the sudog was taken out by {@link #end}. */
    private boolean out;

    /** For one wait of the calling thread. */
    protected Ending(Limits limits) {
        this.limits = limits;
    }

    /** Whether an interrupt ends the waits of the caller, whose stack is {@code st}, though nobody asked for that. */
    public static boolean byDefault(@Nullable GStack st) {
        return st != null && st.endsByInterrupt();
    }

    /** Takes the lock of what is waited for. */
    protected abstract void lock();

    /** Gives it back. */
    protected abstract void unlock();

    /** Under the lock: takes a sudog out of its queue; false when a waker has it. */
    protected abstract boolean remove(long waiter);

    /** After one was taken out, without the lock. */
    protected void removed() {
    }

    /** Wakes a waiter that was taken out. */
    protected void ready(long waiter) {
        Waiting.ready(waiter);
    }

    /**
     * From here on reasons to end the wait are noted, until {@link #finish}, which must follow. Called without locks, inside
     * {@link GStack#enter}; when it throws, for want of memory, nothing is left behind.
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
                hook = InterruptHook.mine(); // Last: a thread has one, and a context that is not ours may wait before.
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

    /** The wait may not be ended any more; whoever tries later does no harm. Called without locks; repeated it does nothing. */
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

    /** Under the lock: whether the waiter must not wait any more. */
    public final boolean pending() {
        return pending != 0;
    }

    /** Under the lock: the caller is queued, or about to be, with this sudog; it parks before the lock is free. */
    public final void waits(long waiter) {
        sg = waiter;
    }

    /** After the park: the wait is over. True when it was ended early, false when a waker took the sudog. */
    public final boolean woken() {
        lock();
        boolean ended = wokenLocked();
        unlock();
        return ended;
    }

    /** The same under the lock. */
    public final boolean wokenLocked() {
        sg = 0;
        return out;
    }

    /** As {@link Waiting#await}; true when the wait was ended early. The caller gives the sudog back. */
    public final boolean await(@Nullable GStack st, long waiter, WaitQ q, HeapMutex lock, WaitReason reason) {
        waits(waiter);
        Waiting.await(st, waiter, q, lock, reason);
        return woken();
    }

    /**
     * After a wait that was ended early: throws what the reason calls for.
     *
     * @return true when the time was up
     */
    @SuppressWarnings("NullAway") // A context that ends it is there.
    public final boolean timeUp() {
        switch (pending) { // Written under the lock that the waiter has held since, and once.
            case TIME -> {
                return true;
            }
            case CANCEL -> throw limits.ctx().err();
            default -> {
                if (limits.interrupts() == Limits.Interrupts.ALWAYS) {
                    boolean _ = Thread.interrupted();
                    throw Ending.<RuntimeException>sneaky(new InterruptedException());
                }
                throw new WaitInterruptedException();
            }
        }
    }

    /** The context is cancelled. (A method, as a lambda would be a class that is made when there may be no memory.) */
    @Override
    public final void run() {
        end(CANCEL);
    }

    /** The thread is interrupted. */
    @Override
    public final void interrupted() {
        end(INTERRUPT);
    }

    /** After a wait that was ended early: whether the time was up. */
    public final boolean byTime() {
        return pending == TIME;
    }

    /** After a wait that was ended early: whether the context was cancelled. */
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
            removed();
            ready(waiter);
        }
        GStack.exit(st);
    }

    @SuppressWarnings("unchecked")
    static <E extends Throwable> E sneaky(Throwable t) throws E {
        throw (E) t;
    }

    /** For a wait in a queue with a lock of its own, where nothing else is to be done. */
    public static final class OfQueue extends Ending {
        private final HeapMutex lock;
        private final WaitQ q;

        /** Of a wait in {@code q}, which {@code lock} guards. */
        public OfQueue(Limits limits, HeapMutex lock, WaitQ q) {
            super(limits);
            this.lock = lock;
            this.q = q;
        }

        @Override
        protected void lock() {
            lock.lock();
        }

        @Override
        protected void unlock() {
            lock.unlock();
        }

        @Override
        protected boolean remove(long waiter) {
            return q.remove(waiter);
        }
    }

    /** A limit of time. Its lock is never held together with that of what is waited for. */
    private static final class Limit extends RuntimeTimer {
        private final Ending of;

        Limit(Ending of) {
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
            } finally { // Also when there was no memory for the next alarm.
                lock.unlock();
            }
            if (fires) {
                of.end(TIME);
            }
        }

        @Override
        public boolean stop() {
            lock.lock();
            boolean live = when != 0;
            when = 0;
            disarm();
            lock.unlock();
            return live;
        }

        @Override
        public boolean reset(long nanos) {
            throw new UnsupportedOperationException();
        }
    }
}
