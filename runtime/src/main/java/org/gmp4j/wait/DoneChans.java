// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

/**
 * Channels on which no element is ever sent, and which the code that made them closes as a signal to the receivers. Other packages reserve
 * and close them through this class, because these methods of {@code Hchan} are not public. {@code Hchan}, whose package uses this one,
 * sets the {@link Operations} here.
 */
public final class DoneChans {
    /** The operations on such channels. {@code Hchan} implements them. */
    public interface Operations {
        /** Reserves a channel: see {@link DoneChans#keep}. */
        void keep(Object c);

        /** Closes a reserved channel: see {@link DoneChans#close}. */
        void close(Object c);
    }

    /** Written once, before there is a channel. */
    @SuppressWarnings("NullAway.Init")
    private static volatile Operations operations;

    private DoneChans() {
    }

    /** Sets the operations. Called when {@code Hchan} is initialised. */
    public static void setOperations(Operations o) {
        operations = o;
    }

    /**
     * Reserves a channel: afterwards it can be closed only by {@link #close}, and no code can send to it. (The first channel is made after
     * {@link #setOperations}.)
     *
     * @param <C> {@code Chan<Void>}
     * @param c a channel that no other code has yet
     * @return {@code c}
     */
    public static <C> C keep(C c) {
        operations.keep(c);
        return c;
    }

    /** Closes a reserved channel. */
    public static void close(Object c) {
        operations.close(c);
    }
}
