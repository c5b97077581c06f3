// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.time.Duration;

/**
 * The CPU time that a goroutine's thread uses before the goroutine is asked to yield.
 *
 * @param least the time, ns, when many goroutines wait; equal to {@code most} for a fixed quantum
 * @param most the time, ns, when at most one other goroutine waits
 */
public record Quantum(long least, long most) {
    /** The shortest time that can be set. */
    public static final Duration SHORTEST = Duration.ofNanos(200_000);
    /** The longest time that can be set. */
    public static final Duration LONGEST = Duration.ofMinutes(1);
}
