// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.time;

import java.time.Duration;
import java.time.Instant;

import org.gmp4j.Chan;
import org.gmp4j.sched.GStack;
import org.gmp4j.timer.RuntimeTimer;
import org.jspecify.annotations.Nullable;

/**
 * A timer that fires once: see {@link Time#newTimer} and {@link Time#afterFunc}. Thread-safe. Any thread may call all methods, and none
 * waits, so interrupts have no effect on them. A timer made in a bubble goes by the bubble's clock, and only the bubble's goroutines may
 * use it. Source: Go's {@code time.Timer}.
 */
public final class Timer implements AutoCloseable {
    private final RuntimeTimer t;
    private final @Nullable Chan<Instant> c;

    Timer(RuntimeTimer t, @Nullable Chan<Instant> c) {
        this.t = t;
        this.c = c;
    }

    /** Returns the channel on which the timer sends the time; null for a timer of {@link Time#afterFunc}. */
    public @Nullable Chan<Instant> c() {
        return c;
    }

    /**
     * Keeps the timer from firing. When this has returned, its channel delivers no time. If its function was started, this does not wait
     * for the end of the function.
     *
     * @return false when the timer was stopped already, its time was received, or its function was started
     * @throws IllegalStateException "stop of synctest timer from outside bubble"
     */
    public boolean stop() {
        t.checkUser("stop of synctest timer from outside bubble");
        GStack st = GStack.enter();
        boolean pending = t.stop();
        GStack.exit(st);
        return pending;
    }

    /**
     * Sets the timer to fire {@code d} from now, and at no other time.
     *
     * @return the result that {@link #stop} would have had
     * @throws IllegalStateException "reset of synctest timer from outside bubble"
     */
    public boolean reset(Duration d) {
        long nanos = RuntimeTimer.nanos(d);
        t.checkUser("reset of synctest timer from outside bubble");
        GStack st = GStack.enter();
        boolean pending = t.reset(nanos);
        GStack.exit(st);
        return pending;
    }

    /** Stops the timer as {@link #stop} does, for {@code try}-with-resources. */
    @Override
    public void close() {
        boolean _ = stop();
    }
}
