// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.time;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.gmp4j.Chan;
import org.gmp4j.timer.FuncTimer;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.timer.TickTimer;
import org.jspecify.annotations.Nullable;

/**
 * Timers and tickers. Thread-safe. Any thread may call all methods, and none waits, so interrupts have no effect on them. Timers and
 * tickers made in a bubble of {@code Synctest} go by the bubble's clock. A duration above 292 years counts as 292 years, one below 0 as 0.
 * {@code Go.sleep} is the sleep of a goroutine.
 *
 * <p>A timer made by a goroutine belongs to the goroutine's scheduler. A timer that another thread has made, or whose scheduler has closed,
 * belongs to one daemon thread of the process. The function of such a timer runs in a virtual thread instead of a goroutine.
 *
 * <p>The value of a timer's channel is the time when the timer was due. The channel looks unbuffered ({@code len} and {@code cap} are 0). A
 * send to it, or a close, throws an {@link IllegalStateException}. The collector frees a timer or ticker, stopped or not, if nothing refers
 * to it and no goroutine or thread waits for it. A timer with a channel from which no goroutine receives does not delay the report of a
 * deadlock, but a timer with a function does.
 *
 * <p>With compressed references an {@link #afterFunc} takes about 130 bytes of heap, and 16 to 32 bytes off-heap. A timer with its channel
 * takes about 160 bytes, and none off-heap while no goroutine or thread waits for it.
 *
 * <p>Source: Go's package {@code time}, as of Go 1.23.
 */
public final class Time {
    private Time() {
    }

    /** Makes a timer that sends the time on its channel once, {@code d} from now. */
    public static Timer newTimer(Duration d) {
        Chan<Instant> c = Chan.make(1);
        return new Timer(TickTimer.of(c, RuntimeTimer.nanos(d), 0), c);
    }

    /**
     * Makes a ticker that sends the time on its channel every {@code d}. Ticks that are not received in time are left out.
     *
     * @throws IllegalArgumentException "non-positive interval for NewTicker"
     */
    public static Ticker newTicker(Duration d) {
        long nanos = RuntimeTimer.nanos(d);
        if (nanos <= 0) {
            throw new IllegalArgumentException("non-positive interval for NewTicker");
        }
        Chan<Instant> c = Chan.make(1);
        return new Ticker(TickTimer.of(c, nanos, nanos), c);
    }

    /** Returns the channel of a new timer, which sends the time on it once, {@code d} from now. */
    public static Chan<Instant> after(Duration d) {
        Chan<Instant> c = Chan.make(1);
        TickTimer _ = TickTimer.of(c, RuntimeTimer.nanos(d), 0);
        return c;
    }

    /** Returns the channel of a new ticker, or null when {@code d} is not above 0. */
    public static @Nullable Chan<Instant> tick(Duration d) {
        long nanos = RuntimeTimer.nanos(d);
        if (nanos <= 0) {
            return null;
        }
        Chan<Instant> c = Chan.make(1);
        TickTimer _ = TickTimer.of(c, nanos, nanos);
        return c;
    }

    /**
     * Starts {@code f} in a goroutine of its own, {@code d} from now.
     *
     * @return a timer without a channel, whose {@code stop} and {@code reset} cancel or move the start
     * @throws NullPointerException when {@code f} is null
     */
    public static Timer afterFunc(Duration d, Runnable f) {
        Objects.requireNonNull(f, "f");
        return new Timer(FuncTimer.start(RuntimeTimer.nanos(d), f), null);
    }
}
