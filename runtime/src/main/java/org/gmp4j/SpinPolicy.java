// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.Locale;
import java.util.Objects;

import org.gmp4j.config.DurationText;

/**
 * A policy that decides how long an M without work keeps searching before it sleeps. A sleeping M uses no CPU, but takes tens of
 * microseconds or more to wake. A spinning M uses a CPU, and finds new work within about a microsecond. Immutable, so safe to share between
 * threads. No method waits, so interrupts and bubbles make no difference.
 */
public final class SpinPolicy {
    private static final Duration MAX = Duration.ofHours(1);
    private static final SpinPolicy GO = new SpinPolicy(0);
    private static final SpinPolicy BUSY = new SpinPolicy(Long.MAX_VALUE);

    /** The duration of {@code latency} without a number. */
    private static final Duration DEFAULT_LATENCY = Duration.ofMillis(1);

    private final long nanos;

    private SpinPolicy(long nanos) {
        this.nanos = nanos;
    }

    /**
     * Returns Go's policy: an M searches the other Ps in four walks, and then sleeps. An M searches only if no other M searches, or if the
     * searching Ms are fewer than half of the busy Ps. If an M is woken within 100 µs of falling asleep and finds no work, 4 times in a
     * row, it naps for 50 µs and searches once more before it sleeps. Goroutines that become ready during the nap may wait until its end.
     *
     * @return the policy; the default
     */
    public static SpinPolicy go() {
        return GO;
    }

    /**
     * Returns a policy with which an M searches for the time {@code spin}, also polling the network, and then sleeps. An M that finds work
     * while all other Ps are idle wakes another M to search in its place, unless the last M that was woken in this way found no work.
     *
     * @param spin how long, above 0 and at most 1 hour
     * @return the policy
     * @throws IllegalArgumentException when {@code spin} is out of range
     */
    public static SpinPolicy latency(Duration spin) {
        Objects.requireNonNull(spin, "spin");
        return latency(spin, spin.toString());
    }

    private static SpinPolicy latency(Duration spin, String text) {
        if (!spin.isPositive() || spin.compareTo(MAX) > 0) {
            throw new IllegalArgumentException("spin duration " + text + " must be above 0 and at most 1 hour.");
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
                    String duration = word.substring("latency:".length());
                    Duration spin = DurationText.parse(duration);
                    if (spin != null) {
                        yield latency(spin, duration);
                    }
                }
                throw new IllegalArgumentException("spin policy \"" + text
                        + "\" is unknown: use go, busy, latency, or latency with a duration in ns, us, ms or s: latency:50us.");
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
}
