// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.time.Duration;
import java.util.Objects;

import org.gmp4j.Cancelable;
import org.gmp4j.sched.Bubble;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.timer.TimeBubble;
import org.jspecify.annotations.Nullable;

/**
 * The reasons that may end a wait early.
 *
 * @param interrupts the effect of an interrupt of the waiting thread
 * @param nanos the longest duration of the wait, ns; {@link #NO_LIMIT} for no limit
 * @param ctx ends the wait when it is cancelled; null for none
 */
public record Limits(Interrupts interrupts, long nanos, @Nullable Cancelable ctx) {
    /** The effects that an interrupt of the waiting thread may have. */
    public enum Interrupts {
        /** It does not end the wait, and is still pending afterwards. */
        IGNORED,
        /** It ends the wait of a virtual thread of a Gmp, by a WaitInterruptedException. It does not end the waits of other threads. */
        BY_DEFAULT,
        /** It ends the wait of any thread, by an InterruptedException. */
        ALWAYS
    }

    /** The value of {@link #nanos} without a limit of time. */
    public static final long NO_LIMIT = -1;
    /** The limits of the methods that have no limit of time, no context, and no "interruptibly" in their name. */
    public static final Limits DEFAULT = new Limits(Interrupts.BY_DEFAULT, NO_LIMIT, null);
    /** The limits of the methods with "interruptibly" in their name. */
    public static final Limits INTERRUPTIBLY = new Limits(Interrupts.ALWAYS, NO_LIMIT, null);

    /** Returns limits for a wait of at most {@code d}. A negative {@code d} counts as 0. */
    public static Limits within(Duration d) {
        return new Limits(Interrupts.BY_DEFAULT, Math.max(0, RuntimeTimer.nanos(d)), null);
    }

    /** Returns limits for a wait that ends when {@code ctx} is cancelled. */
    public static Limits until(Cancelable ctx) {
        return new Limits(Interrupts.BY_DEFAULT, NO_LIMIT, Objects.requireNonNull(ctx, "ctx"));
    }

    /** Returns these limits, but interrupts are ignored. */
    public Limits uninterruptibly() {
        return new Limits(Interrupts.IGNORED, nanos, ctx);
    }

    /** Returns these limits, but an interrupt ends the wait of any thread. */
    public Limits interruptibly() {
        return new Limits(Interrupts.ALWAYS, nanos, ctx);
    }

    /** Returns whether there is no time to wait at all. */
    public boolean expired() {
        return nanos == 0;
    }

    /** Returns whether there is a limit of time. */
    public boolean timed() {
        return nanos != NO_LIMIT;
    }

    /** Returns the nanoTime of the caller's clock, which is its bubble's clock, or outside of bubbles the machine's. */
    public static long now() {
        TimeBubble b = TimeBubble.current();
        return b == null ? System.nanoTime() : b.now();
    }

    /** Returns these limits for the rest of a wait that began at {@code since}. */
    public Limits left(long since) {
        return timed() ? new Limits(interrupts, Math.max(0, nanos - (now() - since)), ctx) : this;
    }

    /**
     * Returns the wait reason of a goroutine that waits with these limits. In a bubble, a wait with a limit of time gets a durable reason,
     * so that the bubble's clock moves on. This holds even if an event outside of the bubble may end the wait. Any other wait gets
     * {@code reason}.
     */
    public WaitReason reason(WaitReason reason) {
        return timed() && Bubble.current() != null ? WaitReason.SEMACQUIRE : reason;
    }

    /**
     * Throws {@code ctx.err()} if the context is cancelled. Else, if {@link #interrupts} is {@link Interrupts#ALWAYS}, clears the interrupt
     * status and throws an InterruptedException. Else it returns. Called after an interrupt or the context has ended an operation with
     * these limits.
     */
    public void ended() {
        throwIfCancelled();
        if (interrupts == Interrupts.ALWAYS) {
            boolean _ = Thread.interrupted();
            throw WaitCancellation.<RuntimeException>sneaky(new InterruptedException());
        }
    }

    /**
     * Throws an exception if an interrupt or the context would end a wait at once. Called before the operation is tried. An interrupt
     * counts here only for {@link Interrupts#ALWAYS}. By default it counts only when the operation has to wait.
     */
    public void check() {
        if (interrupts == Interrupts.ALWAYS && Thread.interrupted()) {
            throw WaitCancellation.<RuntimeException>sneaky(new InterruptedException());
        }
        throwIfCancelled();
    }

    private void throwIfCancelled() {
        RuntimeException cancelled = ctx == null ? null : ctx.err();
        if (cancelled != null) {
            throw cancelled;
        }
    }
}
