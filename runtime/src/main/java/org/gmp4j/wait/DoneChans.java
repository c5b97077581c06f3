// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

/**
 * Channels that are only ever closed, by their maker, as a sign to receivers. Packages beside that of channels have them by this: what it
 * takes is not public, and the class of channels, which is above this package, says here how it is done.
 */
public final class DoneChans {
    /**
     * What their maker may do.
     *
     * @param <C> {@code Chan<Void>}
     */
    public interface Maker<C> {
        /** As {@link DoneChans#keep}. */
        void keep(C c);

        /** As {@link DoneChans#close}. */
        void close(C c);
    }

    /** Written once, before there is a channel. */
    @SuppressWarnings("NullAway.Init")
    private static volatile Maker<?> maker;

    private DoneChans() {
    }

    /** From the class of channels, when it is initialised. */
    public static void setMaker(Maker<?> m) {
        maker = m;
    }

    @SuppressWarnings("unchecked")
    private static <C> Maker<C> maker() {
        return (Maker<C>) maker;
    }

    /**
     * Keeps a channel for its maker: nobody else can close it or send to it. That there is one means that the maker is set.
     *
     * @param <C> {@code Chan<Void>}
     * @param c so far known to the caller only
     * @return {@code c}
     */
    public static <C> C keep(C c) {
        DoneChans.<C>maker().keep(c);
        return c;
    }

    /**
     * Closes a channel that was kept.
     *
     * @param <C> {@code Chan<Void>}
     */
    public static <C> void close(C c) {
        DoneChans.<C>maker().close(c);
    }
}
