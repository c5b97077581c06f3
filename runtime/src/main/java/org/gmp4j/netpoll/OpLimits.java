// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.netpoll;

import java.util.function.Supplier;

import org.gmp4j.proc.Bubble;
import org.gmp4j.wait.Ending;
import org.gmp4j.wait.Limits;

/**
 * What may end one operation early. Its time counts from the beginning of the operation, over all of its waits, and goes by the
 * machine's clock in a bubble too. Immutable.
 */
final class OpLimits {
    /** Of a plain operation. */
    static final OpLimits PLAIN = new OpLimits(Limits.DEFAULT);

    private final Limits limits;
    /** The nanoTime of the beginning. */
    private final long since;

    private OpLimits(Limits limits) {
        this.limits = limits;
        since = limits.timed() ? System.nanoTime() : 0;
    }

    /** Of an operation that begins now. */
    static OpLimits of(Limits limits) {
        return limits == Limits.DEFAULT ? PLAIN : new OpLimits(limits);
    }

    /** Whether there is no time left to wait. */
    boolean expired() {
        return limits.timed() && System.nanoTime() - since >= limits.nanos();
    }

    /** What is left for the next wait. */
    Limits left() {
        return limits.timed() ? new Limits(limits.interrupts(), Math.max(0, limits.nanos() - (System.nanoTime() - since)), limits.ctx())
                : limits;
    }

    /** Has {@code e}, made of {@link #left}, begin. The bubble's clock may stand still because of this wait. */
    void begin(Ending e) {
        if (limits.timed() && Bubble.current() != null) {
            Object _ = Bubble.outside(new Begun(e));
        } else {
            e.begin();
        }
    }

    /** The error of a wait that {@code e} has ended. */
    static int error(Ending e) {
        return e.byTime() ? IoResult.TIMED_OUT : e.byContext() ? IoResult.CANCELED : IoResult.INTERRUPTED;
    }

    /** (A class, as a lambda would be one that is made when there may be no memory.) */
    private static final class Begun implements Supplier<Ending> {
        private final Ending e;

        Begun(Ending e) {
            this.e = e;
        }

        @Override
        public Ending get() {
            e.begin();
            return e;
        }
    }
}
