// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.timer;

/** Timers with a channel. {@code ChanTimer}, which this package may not import, makes them, for packages above. */
public final class ChanTimers {
    /** Makes them. */
    public interface Factory {
        /** A timer that fires {@code nanos} from now and then each {@code period} nanoseconds, or once if that is 0. */
        RuntimeTimer make(long nanos, long period);

        /** Its channel, a {@code Chan<Instant>}. */
        Object channel(RuntimeTimer t);

        /** Sets it to fire {@code nanos} from now and then each {@code period}; true if it had not fired. */
        boolean reset(RuntimeTimer t, long nanos, long period);
    }

    private static volatile Factory factory;

    private ChanTimers() {
    }

    /** Called by the channels' class when it is initialised. */
    public static void setFactory(Factory f) {
        factory = f;
    }

    /** The factory; null until the channels' class is initialised. */
    public static Factory factory() {
        return factory;
    }
}
