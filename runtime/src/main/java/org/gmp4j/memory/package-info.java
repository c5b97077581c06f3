// SPDX-License-Identifier: Apache-2.0
/**
 * Off-heap memory in blocks of all sizes, for {@link java.lang.foreign.MemorySegment}s that are given back one by one: {@link
 * org.gmp4j.memory.Mcache}. Each P has free blocks of its own, which the goroutine that runs there takes and leaves without a lock.
 *
 * <p>All of it may be used from goroutines of any scheduler, from virtual threads of the JDK's and from plain threads. Nothing waits, so
 * interrupts, contexts and bubbles make no difference.
 *
 * <p>Source: the structure of Go's allocator (mcache, mcentral, mheap), with the magazines of Bonwick and Adams in place of spans at
 * each P; the size classes are computed.
 */
@NullMarked
package org.gmp4j.memory;

import org.jspecify.annotations.NullMarked;
