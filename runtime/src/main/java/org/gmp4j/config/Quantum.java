// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

/**
 * The CPU time that a goroutine's thread uses before the goroutine is asked to yield.
 *
 * @param least the time, ns, when many goroutines wait; equal to {@code most} for a fixed quantum
 * @param most the time, ns, when at most one other goroutine waits
 */
public record Quantum(long least, long most) {
}
