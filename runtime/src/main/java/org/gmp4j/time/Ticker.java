// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.time;

import java.time.Duration;
import java.time.Instant;

import org.gmp4j.Chan;
import org.gmp4j.sched.GStack;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.timer.TickTimer;

/**
 * A timer that fires repeatedly: see {@link Time#newTicker}. Thread-safe. Any thread may call all methods, and none waits, so interrupts
 * have no effect on them. A ticker made in a bubble goes by the bubble's clock, and only the bubble's goroutines may use it. Source: Go's
 * {@code time.Ticker}.
 */
public final class Ticker implements AutoCloseable {
    private final TickTimer t;
    private final Chan<Instant> c;

    Ticker(TickTimer t, Chan<Instant> c) {
        this.t = t;
        this.c = c;
    }

    /** Returns the channel on which the ticker sends its ticks. */
    public Chan<Instant> c() {
        return c;
    }

    /**
     * Stops the ticker. No tick comes until {@link #reset}. The channel stays open.
     *
     * @throws IllegalStateException "stop of synctest timer from outside bubble"
     */
    public void stop() {
        t.checkUser("stop of synctest timer from outside bubble");
        GStack st = GStack.enter();
        boolean _ = t.stop();
        GStack.exit(st);
    }

    /**
     * Sets the ticker to tick every {@code d} from now on.
     *
     * @throws IllegalArgumentException "non-positive interval for Ticker.Reset"
     * @throws IllegalStateException "reset of synctest timer from outside bubble"
     */
    public void reset(Duration d) {
        long nanos = RuntimeTimer.nanos(d);
        if (nanos <= 0) {
            throw new IllegalArgumentException("non-positive interval for Ticker.Reset");
        }
        t.checkUser("reset of synctest timer from outside bubble");
        GStack st = GStack.enter();
        boolean _ = t.reset(nanos, nanos);
        GStack.exit(st);
    }

    /** Stops the ticker as {@link #stop} does, for {@code try}-with-resources. */
    @Override
    public void close() {
        stop();
    }
}
