// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.tracing;

import java.lang.foreign.MemorySegment;

/**
 * What one batch holds.
 *
 * @param ring the P, or {@code Tracer.OUTSIDE}
 * @param words its events
 */
record Piece(int ring, MemorySegment words) {
}
