// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.lang.foreign.MemorySegment;

/**
 * The events of one batch.
 *
 * @param ring the P that wrote them, or {@code Tracer.OUTSIDE}
 * @param words the events
 */
record Piece(int ring, MemorySegment words) {
}
