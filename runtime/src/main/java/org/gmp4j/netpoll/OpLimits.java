// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import org.gmp4j.wait.Limits;
import org.gmp4j.wait.WaitCancellation;

/**
 * The limits of one operation, which may end it early. The time counts from the beginning of the operation, over all of its waits. It
 * counts by the machine's clock, even in a bubble. Immutable.
 */
final class OpLimits {
    /** The limits of a plain operation. */
    static final OpLimits PLAIN = new OpLimits(Limits.DEFAULT);

    private final Limits limits;
    /** The nanoTime of the beginning; 0 without a limit of time. */
    private final long since;

    private OpLimits(Limits limits) {
        this.limits = limits;
        since = limits.timed() ? System.nanoTime() : 0;
    }

    /** Returns the limits of an operation that begins now. */
    static OpLimits of(Limits limits) {
        return limits == Limits.DEFAULT ? PLAIN : new OpLimits(limits);
    }

    /** Returns whether there is no time left to wait. */
    boolean expired() {
        return limits.timed() && System.nanoTime() - since >= limits.nanos();
    }

    /** Returns the limits of the operation's next wait, with the time that is left. */
    Limits left() {
        return limits.timed() ? new Limits(limits.interrupts(), Math.max(0, limits.nanos() - (System.nanoTime() - since)), limits.ctx())
                : limits;
    }

    /** Returns the error of a wait that {@code e} has ended. */
    static int error(WaitCancellation e) {
        return e.byTime() ? IoResult.TIMED_OUT : e.byContext() ? IoResult.CANCELED : IoResult.INTERRUPTED;
    }
}
