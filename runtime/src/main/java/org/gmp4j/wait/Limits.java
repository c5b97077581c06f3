// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

import java.time.Duration;
import java.util.Objects;

import org.gmp4j.Cancelable;
import org.gmp4j.proc.Bubble;
import org.gmp4j.struct.WaitReason;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.timer.TimeBubble;
import org.jspecify.annotations.Nullable;

/**
 * What may end a wait before what is waited for has come.
 *
 * @param interrupts whether an interrupt of the waiting thread does
 * @param nanos how long it lasts at most; {@link #NO_LIMIT} for ever
 * @param ctx ends it when it is cancelled; null for none
 */
public record Limits(Interrupts interrupts, long nanos, @Nullable Cancelable ctx) {
    /** What an interrupt of the waiting thread does. */
    public enum Interrupts {
        /** Nothing; it is there afterwards. */
        IGNORED,
        /** Ends the wait of a virtual thread of a Gmp, by a WaitInterruptedException; nothing to others. */
        BY_DEFAULT,
        /** Ends the wait of any thread, by an InterruptedException. */
        ALWAYS
    }

    /** Of {@link #nanos}. */
    public static final long NO_LIMIT = -1;
    /** Of a plain wait. */
    public static final Limits DEFAULT = new Limits(Interrupts.BY_DEFAULT, NO_LIMIT, null);
    /** Of the forms that say so in their name. */
    public static final Limits INTERRUPTIBLY = new Limits(Interrupts.ALWAYS, NO_LIMIT, null);

    /** At most {@code d}; less than 0 is 0. */
    public static Limits within(Duration d) {
        return new Limits(Interrupts.BY_DEFAULT, Math.max(0, RuntimeTimer.nanos(d)), null);
    }

    /** Until {@code ctx} is cancelled. */
    public static Limits until(Cancelable ctx) {
        return new Limits(Interrupts.BY_DEFAULT, NO_LIMIT, Objects.requireNonNull(ctx, "ctx"));
    }

    /** The same, whatever interrupts come. */
    public Limits uninterruptibly() {
        return new Limits(Interrupts.IGNORED, nanos, ctx);
    }

    /** The same, ended by interrupts of all threads. */
    public Limits interruptibly() {
        return new Limits(Interrupts.ALWAYS, nanos, ctx);
    }

    /** Whether there is no time to wait at all. */
    public boolean expired() {
        return nanos == 0;
    }

    /** Whether there is a time limit. */
    public boolean timed() {
        return nanos != NO_LIMIT;
    }

    /** The nanoTime of the clock that the caller's limits go by. */
    public static long now() {
        TimeBubble b = TimeBubble.current();
        return b == null ? System.nanoTime() : b.now();
    }

    /** What is left of these for a second wait, after one that began at {@code since}. */
    public Limits left(long since) {
        return timed() ? new Limits(interrupts, Math.max(0, nanos - (now() - since)), ctx) : this;
    }

    /**
     * The wait reason of a goroutine with these limits: {@code reason}, but for a wait with a limit of time in a bubble one with which the
     * bubble's clock moves on, even if {@code reason} is for waits that something outside of the bubble may end.
     */
    public WaitReason reason(WaitReason reason) {
        return timed() && Bubble.current() != null ? WaitReason.SEMACQUIRE : reason;
    }

    /**
     * After an interrupt or the context has ended something with these limits: throws {@code ctx.err()}, or an InterruptedException,
     * with the status cleared, if interrupts end it on all threads. Else it returns.
     */
    public void ended() {
        RuntimeException cancelled = ctx == null ? null : ctx.err();
        if (cancelled != null) {
            throw cancelled;
        }
        if (interrupts == Interrupts.ALWAYS) {
            boolean _ = Thread.interrupted();
            throw Ending.<RuntimeException>sneaky(new InterruptedException());
        }
    }

    /**
     * Before anything is tried: throws what has ended the wait already. An interrupt counts here only for {@link Interrupts#ALWAYS}; by
     * default it does when there is something to wait for.
     */
    public void check() {
        if (interrupts == Interrupts.ALWAYS && Thread.interrupted()) {
            throw Ending.<RuntimeException>sneaky(new InterruptedException());
        }
        RuntimeException cancelled = ctx == null ? null : ctx.err();
        if (cancelled != null) {
            throw cancelled;
        }
    }
}
