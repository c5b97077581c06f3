// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.time;

import java.time.Duration;
import java.time.Instant;

import org.gmp4j.Chan;
import org.gmp4j.proc.GStack;
import org.gmp4j.timer.RuntimeTimer;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * A timer that fires once: see {@link Time#newTimer} and {@link Time#afterFunc}. Thread-safe; any thread may call all methods, and none
 * waits: interrupts do nothing to them. A timer of a bubble goes by its clock and is for the bubble alone. Source: Go's {@code time.Timer}.
 */
@NullMarked
public final class Timer implements AutoCloseable {
    private final RuntimeTimer t;
    private final @Nullable Chan<Instant> c;

    Timer(RuntimeTimer t, @Nullable Chan<Instant> c) {
        this.t = t;
        this.c = c;
    }

    /** Where the time comes; null for a timer of {@link Time#afterFunc}. */
    public @Nullable Chan<Instant> c() {
        return c;
    }

    /**
     * Keeps the timer from firing. Afterwards no time comes out of the channel. A function that was started is not waited for.
     *
     * @return false when it was stopped already, its time was received, or its function was started
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
     * Sets the timer to fire {@code d} from now, at no other time.
     *
     * @return what {@link #stop} would have returned
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

    /** {@link #stop}, for {@code try}-with-resources. */
    @Override
    public void close() {
        boolean _ = stop();
    }
}
