// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import org.gmp4j.lock.HeapMutex;

/**
 * A timer with a channel, which may fire again and again. Channels are above this package: {@code ChanTimer} beside them is the timer,
 * and the class of channels says here how to make one.
 */
public abstract class TickTimer extends RuntimeTimer {
    /**
     * Gives a channel its timer.
     *
     * @param <C> {@code Chan<Instant>}
     */
    @FunctionalInterface
    public interface Maker<C> {
        /** As {@link TickTimer#of}. */
        TickTimer make(C c, long nanos, long period);
    }

    /** Written once, before there is a channel. */
    @SuppressWarnings("NullAway.Init")
    private static volatile Maker<?> maker;

    /** A stopped timer. */
    protected TickTimer(HeapMutex lock) {
        super(lock);
    }

    /** From the class of channels, when it is initialised. */
    public static void setMaker(Maker<?> m) {
        maker = m;
    }

    /**
     * A timer for a channel; that there is one means that the maker is set.
     *
     * @param <C> {@code Chan<Instant>}
     * @param c a channel with room for one element, so far known to the caller only
     * @param nanos when the timer fires, from now
     * @param period nanoseconds between two times after that; 0 when it fires once
     */
    @SuppressWarnings("unchecked")
    public static <C> TickTimer of(C c, long nanos, long period) {
        return ((Maker<C>) maker).make(c, nanos, period);
    }

    /**
     * Sets it to fire {@code nanos} from now and then each {@code period}, or once if that is 0; true if it had not fired. The caller is
     * inside {@code GStack.enter}.
     */
    public abstract boolean reset(long nanos, long period);
}
