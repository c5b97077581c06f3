// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

/**
 * Channels on which no element is ever sent, and which their maker closes as a signal to the receivers. Other packages use them through
 * this class, because the channel's own methods for that are not public. The class of channels, which uses this package, sets a
 * {@link Maker} here.
 */
public final class DoneChans {
    /**
     * The operations on such channels, as the class of channels implements them.
     *
     * @param <C> {@code Chan<Void>}
     */
    public interface Maker<C> {
        /** Reserves a channel for its maker: see {@link DoneChans#keep}. */
        void keep(C c);

        /** Closes a reserved channel: see {@link DoneChans#close}. */
        void close(C c);
    }

    /** Written once, before there is a channel. */
    @SuppressWarnings("NullAway.Init")
    private static volatile Maker<?> maker;

    private DoneChans() {
    }

    /** Sets the implementation. Called by the class of channels when it is initialised. */
    public static void setMaker(Maker<?> m) {
        maker = m;
    }

    @SuppressWarnings("unchecked")
    private static <C> Maker<C> maker() {
        return (Maker<C>) maker;
    }

    /**
     * Reserves a channel for its maker: afterwards no other code can close it or send to it. (The first channel is made after
     * {@link #setMaker}.)
     *
     * @param <C> {@code Chan<Void>}
     * @param c a channel that no other code has yet
     * @return {@code c}
     */
    public static <C> C keep(C c) {
        DoneChans.<C>maker().keep(c);
        return c;
    }

    /**
     * Closes a reserved channel.
     *
     * @param <C> {@code Chan<Void>}
     */
    public static <C> void close(C c) {
        DoneChans.<C>maker().close(c);
    }
}
