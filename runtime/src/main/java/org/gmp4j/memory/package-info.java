// SPDX-License-Identifier: Apache-2.0
/**
 * Off-heap memory in blocks of all sizes, for {@link java.lang.foreign.MemorySegment}s that are freed one by one:
 * {@link org.gmp4j.memory.Mcache}. Each P has free blocks, which the goroutine on it allocates and frees without a lock.
 *
 * <p>Goroutines of any scheduler, virtual threads of the JDK's scheduler and platform threads may use all of it. No method waits, so
 * interrupts, contexts and bubbles have no effect.
 *
 * <p>Source: the structure of Go's allocator (mcache, mcentral, mheap), with the magazines of Bonwick and Adams instead of each P's spans,
 * and with computed size classes.
 */
@NullMarked
package org.gmp4j.memory;

import org.jspecify.annotations.NullMarked;
