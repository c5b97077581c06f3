// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

/**
 * A policy that decides how long an M without work keeps searching before it sleeps. A sleeping M uses no CPU, but takes tens of
 * microseconds or more to wake. A spinning M uses a CPU, and finds new work within about a microsecond. Immutable, so safe to share between
 * threads. No method waits, so interrupts and bubbles make no difference.
 */
public final class SpinPolicy {
    private static final Duration MAX = Duration.ofHours(1);
    private static final SpinPolicy GO = new SpinPolicy(0);
    private static final SpinPolicy BUSY = new SpinPolicy(Long.MAX_VALUE);

    /** The duration for the text {@code latency} without a duration. */
    private static final Duration DEFAULT_LATENCY = Duration.ofMillis(1);

    private final long nanos;

    private SpinPolicy(long nanos) {
        this.nanos = nanos;
    }

    /**
     * Returns Go's policy: an M searches all Ps once, and then sleeps. At most half as many Ms search as there are busy Ps. An M that was
     * woken 4 times in a row within 100 µs of falling asleep, and found no work each time, naps for 50 µs and searches once more before it
     * sleeps. Goroutines that become ready during the nap wait until it is over.
     *
     * @return the policy; the default
     */
    public static SpinPolicy go() {
        return GO;
    }

    /**
     * Returns a policy with which an M searches for the time {@code spin}, also polling the network, and then sleeps. An M that finds work
     * while all others are idle wakes another M to search in its place. It does not do so if the M of the last such wake-up found no work.
     *
     * @param spin how long, above 0 and at most 1 hour
     * @return the policy
     * @throws IllegalArgumentException when {@code spin} is out of range
     */
    public static SpinPolicy latency(Duration spin) {
        Objects.requireNonNull(spin, "spin");
        if (!spin.isPositive() || spin.compareTo(MAX) > 0) {
            throw outOfRange(spin.toString());
        }
        return new SpinPolicy(spin.toNanos());
    }

    /**
     * Returns a policy with which an M never sleeps. It is for a machine whose CPUs have nothing else to do.
     *
     * @return the policy
     */
    public static SpinPolicy busy() {
        return BUSY;
    }

    /**
     * Reads a policy from the command line.
     *
     * @param text {@code go}, {@code busy}, {@code latency} (1 ms), or {@code latency:} and a whole number with the
     *     unit {@code ns}, {@code us}, {@code ms} or {@code s}: {@code latency:50us}
     * @return the policy
     * @throws IllegalArgumentException when {@code text} has another form, or the duration is out of range
     */
    public static SpinPolicy parse(String text) {
        String word = text.strip().toLowerCase(Locale.ROOT);
        return switch (word) {
            case "go" -> GO;
            case "busy" -> BUSY;
            case "latency" -> latency(DEFAULT_LATENCY);
            default -> {
                if (word.startsWith("latency:")) {
                    yield latency(duration(text, word.substring("latency:".length())));
                }
                throw unknown(text);
            }
        };
    }

    /**
     * Returns how long an M searches before it sleeps.
     *
     * @return nanoseconds: 0 for {@link #go()}, {@link Long#MAX_VALUE} for {@link #busy()}
     */
    public long spinNanos() {
        return nanos;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof SpinPolicy p && nanos == p.nanos;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(nanos);
    }

    /** Returns the policy in the form that {@link #parse} reads. */
    @Override
    public String toString() {
        if (nanos == 0) {
            return "go";
        }
        if (nanos == Long.MAX_VALUE) {
            return "busy";
        }
        return "latency:" + DurationText.format(nanos);
    }

    private static Duration duration(String text, String duration) {
        Duration d = DurationText.parse(duration);
        if (d == null) {
            throw unknown(text);
        }
        if (!d.isPositive() || d.compareTo(MAX) > 0) {
            throw outOfRange(duration);
        }
        return d;
    }

    private static IllegalArgumentException outOfRange(String duration) {
        return new IllegalArgumentException("spin duration " + duration + " must be above 0 and at most 1 hour.");
    }

    private static IllegalArgumentException unknown(String text) {
        return new IllegalArgumentException("spin policy \"" + text
                + "\" is unknown: use go, busy, latency, or latency with a duration in ns, us, ms or s: latency:50us.");
    }
}
