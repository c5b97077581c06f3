// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.wait;

/** Channels that are only ever closed, by their maker, as a sign to receivers. Lets packages that may not import {@code Chan} make them. */
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

    /** Called by {@code Chan} when it is initialised. */
    public static void setFactory(Factory f) {
        factory = f;
    }

    /** The factory; null until {@code Chan} is initialised. */
    public static Factory factory() {
        return factory;
    }
}
