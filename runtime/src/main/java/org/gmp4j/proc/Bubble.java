// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.WaitReason;
import org.jspecify.annotations.Nullable;

/**
 * Goroutines with a clock of their own, which moves on when all of them wait for each other ({@code syncGroup}): see
 * {@code org.gmp4j.synctest}. This counts those that do not wait; the clock is a floor above.
 *
 * <p>A goroutine counts from its birth until its deferred work is done, but not while it waits {@link WaitReason#durable durably}.
 * It is counted out on g0, after the unlock, so that its park is complete when the count falls to 0; its waker counts it in
 * before it is runnable. In between the count is too high by one, never too low.
 */
public abstract class Bubble {
    /** Whether there ever was a bubble. Not volatile: a thread that meets a goroutine of a bubble has seen this written. */
    private static boolean any;

    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger living = new AtomicInteger();

    /** An empty bubble. */
    protected Bubble() {
        any = true;
    }

    /** The bubble of the calling goroutine; null for none, and outside goroutines. */
    public static @Nullable Bubble current() {
        if (!any) {
            return null;
        }
        GStack st = GStack.current();
        return st == null ? null : st.bubble;
    }

    /** Runs {@code f} as if the calling goroutine were in no bubble: to make something shared, which the first user happens to make. */
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
     * Refuses everybody but this bubble's goroutines.
     *
     * @throws IllegalStateException with {@code misuse}
     */
    public final void check(String misuse) {
        if (current() != this) {
            throw new IllegalStateException(misuse);
        }
    }

    /** Called when all goroutines wait, or none is left; on any thread, without locks, and possibly late. */
    protected abstract void idle();

    /** A goroutine ends with an exception; it still counts. */
    protected abstract void failed(Throwable t);

    /** Whether all goroutines wait. */
    protected final boolean isIdle() {
        return running.get() == 0;
    }

    /** How many goroutines live. */
    protected final int living() {
        return living.get();
    }

    /** {@code fn} as a goroutine of this bubble, which counts from now on. */
    public final Runnable wrap(Runnable fn) {
        GStack.checkAll(); // Once counted it must be started.
        Runnable member = new Member(this, fn);
        int _ = living.incrementAndGet();
        var _ = running.incrementAndGet();
        return member;
    }

    /** What a goroutine of a bubble runs; {@link Ends} counts it out. */
    record Member(Bubble bubble, Runnable fn) implements Runnable {
        @Override
        public void run() {
            fn.run();
        }
    }

    /** Undoes {@link #wrap}: it could not be started. */
    public final void unwrap() {
        ended();
    }

    /** Counts out a goroutine that has ended, after its end was reported. */
    final void ended() {
        int left = living.decrementAndGet();
        stops();
    }

    private void stops() {
        if (running.decrementAndGet() == 0) {
            idle();
        }
    }

    /** Gives the lock back as the goroutine wanted, and counts it out. */
    private static final Park.Unlock PARKED = new Park.Unlock() {
        @Override
        @SuppressWarnings("NullAway") // It has a stack, and is in the bubble.
        public boolean unlock(long gp, @Nullable Object lock) {
            GStack st = (GStack) GSlots.stack(gp);
            Bubble b = st.bubble; // Once the lock is free the goroutine may run, and end.
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

    /** The unlock function of a goroutine that is about to park, which also counts it out. Makes no object: the caller holds locks. */
    static Park.Unlock parking(GStack st, Park.@Nullable Unlock unlock) {
        st.durable = true; // Before the lock is free: its waker looks.
        st.unlock = unlock;
        return PARKED;
    }

    /** Counts in a goroutine that is about to be readied. */
    @SuppressWarnings("NullAway") // Durable are waits in a bubble.
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
