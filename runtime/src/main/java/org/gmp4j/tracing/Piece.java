// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.lang.foreign.MemorySegment;

/**
 * One batch of the events of one ring.
 *
 * @param ring the number of the P that wrote the events, or {@code Tracer.OUTSIDE}
 * @param words the events
 */
record Piece(int ring, MemorySegment words) {
}
