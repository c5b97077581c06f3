// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

/** Channels that their users only receive from, and only their maker closes: from the class that knows channels, for packages above. */
public final class DoneChans {
    /** Makes and closes them. */
    public interface Factory {
        /** An unbuffered one, a {@code Chan<Void>}. */
        Object make();

        /** Closes one. */
        void close(Object c);
    }

    private static volatile Factory factory;

    private DoneChans() {
    }

    /** From the channels' class, when it is initialised. */
    public static void setFactory(Factory f) {
        factory = f;
    }

    /** The factory; the channels' class is initialised. */
    public static Factory factory() {
        return factory;
    }
}
