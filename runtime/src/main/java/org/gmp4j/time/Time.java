// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.time;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.gmp4j.Chan;
import org.gmp4j.timer.FuncTimer;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.timer.TickTimer;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Timers and tickers. All methods may be called from any thread, and none waits, so interrupts do nothing to them. In a bubble of
 * {@code Synctest} they go by its clock. A duration above 292 years counts as 292 years, one below 0 as 0. {@code Go.sleep} is the sleep of
 * a goroutine.
 *
 * <p>A timer made by a goroutine belongs to its scheduler; one made by another thread, or left when its scheduler closes,
 * is served by one daemon thread of the process, and its function runs as a virtual thread instead of a goroutine.
 *
 * <p>The value of a timer's channel is the time when it was due. The channel looks unbuffered ({@code len} and {@code cap}
 * are 0) and cannot be sent to or closed: {@link IllegalStateException}. A timer or ticker that nothing refers to and nothing
 * waits for is collected, stopped or not. A timer whose time nothing receives does not hold off deadlock detection; a function does.
 *
 * <p>Memory, with compressed references: about 130 bytes for {@link #afterFunc}, and 16 to 32 off-heap; about 160 for a timer
 * with its channel, and nothing off-heap while nothing waits for it.
 *
 * <p>Source: Go's package {@code time}, as of Go 1.23.
 */
@NullMarked
public final class Time {
    private Time() {
    }

    /** A timer that sends the time on its channel once, {@code d} from now. */
    public static Timer newTimer(Duration d) {
        Chan<Instant> c = Chan.make(1);
        return new Timer(TickTimer.of(c, RuntimeTimer.nanos(d), 0), c);
    }

    /**
     * A ticker that sends the time on its channel every {@code d}. Ticks that are not received in time are left out.
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

    /** The channel of a new timer: it gives the time once, {@code d} from now. */
    public static Chan<Instant> after(Duration d) {
        Chan<Instant> c = Chan.make(1);
        TickTimer _ = TickTimer.of(c, RuntimeTimer.nanos(d), 0);
        return c;
    }

    /** The channel of a new ticker; null when {@code d} is not above 0. */
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
     * @return a timer without a channel, to stop it or set it anew
     * @throws NullPointerException when {@code f} is null
     */
    public static Timer afterFunc(Duration d, Runnable f) {
        Objects.requireNonNull(f, "f");
        return new Timer(FuncTimer.start(RuntimeTimer.nanos(d), f), null);
    }
}
