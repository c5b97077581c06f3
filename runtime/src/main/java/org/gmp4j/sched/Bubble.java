// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * Goroutines with a clock of their own, which advances when all of them wait for each other ({@code syncGroup}): see
 * {@code org.gmp4j.synctest}. This class counts the goroutines that do not wait. The subclass has the clock.
 *
 * <p>A goroutine counts from its start until its deferred work is done, except while it waits {@link WaitReason#durable durably}. When a
 * goroutine parks, its M subtracts it from the count on g0, after the unlock. So the park is complete when the count falls to 0. The waker
 * adds the goroutine again before it makes the goroutine runnable. So the count may be too high for a moment, but never too low.
 */
public abstract class Bubble {
    /** Whether there ever was a bubble. It need not be volatile, because a thread that reaches a goroutine of a bubble sees this store. */
    private static boolean any;

    /** The number of goroutines that do not wait. */
    private final AtomicInteger running = new AtomicInteger();
    /** The number of goroutines. */
    private final AtomicInteger living = new AtomicInteger();

    /** Makes an empty bubble. */
    protected Bubble() {
        any = true;
    }

    /** Returns the bubble of the calling goroutine; null for none, and outside goroutines. */
    public static @Nullable Bubble current() {
        if (!any) {
            return null;
        }
        GStack st = GStack.current();
        return st == null ? null : st.bubble;
    }

    /** Runs {@code f} as if the calling goroutine were in no bubble, for example to make a shared object at its first use. */
    public static <T> T outside(Supplier<T> f) {
        Bubble b = current();
        if (b == null) {
            return f.get();
        }
        GStack st = GStack.mine();
        st.bubble = null;
        try {
            return f.get();
        } finally {
            st.bubble = b;
        }
    }

    /**
     * Checks that the caller is one of this bubble's goroutines.
     *
     * @throws IllegalStateException with the message {@code misuse} if it is not
     */
    public final void check(String misuse) {
        if (current() != this) {
            throw new IllegalStateException(misuse);
        }
    }

    /** Called when all goroutines wait, or none is left: on any thread, without locks, and possibly late. */
    protected abstract void idle();

    /** Called when a goroutine ends with an exception. The goroutine still counts. */
    protected abstract void failed(Throwable t);

    /** Returns whether all goroutines wait. */
    protected final boolean isIdle() {
        return running.get() == 0;
    }

    /** Returns the number of living goroutines. */
    protected final int living() {
        return living.get();
    }

    /** Returns the function for a goroutine of this bubble that runs {@code fn}. The goroutine counts at once; the caller must start it. */
    public final Runnable wrap(Runnable fn) {
        GStack.checkAll(); // Checks the stack now, because a goroutine that was counted must be started.
        Runnable member = new Member(this, fn);
        int _ = living.incrementAndGet();
        var _ = running.incrementAndGet();
        return member;
    }

    /** The function of a goroutine of a bubble. {@link GoroutineExit} calls {@link #ended} for it. */
    record Member(Bubble bubble, Runnable fn) implements Runnable {
        @Override
        public void run() {
            fn.run();
        }
    }

    /** Undoes {@link #wrap} for a goroutine that could not be started. */
    public final void unwrap() {
        ended();
    }

    /** Removes a goroutine that has ended from the counts. Called after its end was reported. */
    final void ended() {
        int _ = living.decrementAndGet();
        stops();
    }

    private void stops() {
        if (running.decrementAndGet() == 0) {
            idle();
        }
    }

    /** The unlock function of members. It calls the unlock function of the goroutine's wait, and subtracts the goroutine from the count. */
    private static final Park.Unlock PARKED = new Park.Unlock() {
        @Override
        @SuppressWarnings("NullAway") // The goroutine has a stack and a bubble.
        public boolean unlock(long gp, @Nullable Object lock) {
            GStack st = (GStack) GSlots.stack(gp);
            Bubble b = st.bubble; // Read now: once the lock is free the goroutine may run, and end.
            Park.Unlock unlock = st.unlock;
            st.unlock = null;
            if (unlock != null && !unlock.unlock(gp, lock)) {
                st.durable = false;
                return false;
            }
            b.stops();
            return true;
        }
    };

    /**
     * Returns the unlock function for a goroutine that is about to park. The function also subtracts the goroutine from the count.
     * Allocates nothing, because the caller holds locks.
     */
    static Park.Unlock parking(GStack st, Park.@Nullable Unlock unlock) {
        st.durable = true; // Set before the lock is free, because the waker reads it.
        st.unlock = unlock;
        return PARKED;
    }

    /** Counts as running a goroutine that is about to be readied, if its bubble counts it as waiting. */
    @SuppressWarnings("NullAway") // Only a wait in a bubble is durable.
    static void readied(long gp) {
        if (any) {
            GStack st = (GStack) GSlots.stack(gp);
            if (st != null && st.durable) {
                st.durable = false;
                int _ = st.bubble.running.incrementAndGet();
            }
        }
    }
}
