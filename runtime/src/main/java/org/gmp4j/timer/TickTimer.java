// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

import org.gmp4j.lock.HeapMutex;

/**
 * A timer with a channel, which may fire repeatedly. {@code ChanTimer} implements it. {@code Hchan}, whose package uses this one, sets a
 * {@link Maker} here.
 */
public abstract class TickTimer extends RuntimeTimer {
    /**
     * Makes the timer of a channel.
     *
     * @param <C> {@code Chan<Instant>}
     */
    @FunctionalInterface
    public interface Maker<C> {
        /** Makes the timer of a channel: see {@link TickTimer#of}. */
        TickTimer make(C c, long nanos, long period);
    }

    /** Written once, before there is a channel. */
    @SuppressWarnings("NullAway.Init")
    private static volatile Maker<?> maker;

    /** Makes a stopped timer. */
    protected TickTimer(HeapMutex lock) {
        super(lock);
    }

    /** Sets the maker. Called when {@code Hchan} is initialised. */
    public static void setMaker(Maker<?> m) {
        maker = m;
    }

    /**
     * Makes a timer for a channel. (The first channel is made after {@link #setMaker}.)
     *
     * @param <C> {@code Chan<Instant>}
     * @param c a channel with room for one element, which no other code has yet
     * @param nanos the ns until the timer fires
     * @param period the ns between two times at which it fires; 0 to fire once
     */
    @SuppressWarnings("unchecked")
    public static <C> TickTimer of(C c, long nanos, long period) {
        return ((Maker<C>) maker).make(c, nanos, period);
    }

    /**
     * Sets the timer to fire {@code nanos} from now and then each {@code period} ns, or only once if {@code period} is 0. Returns whether
     * it was pending. The caller is inside {@code GStack.enter}.
     */
    public abstract boolean reset(long nanos, long period);
}
