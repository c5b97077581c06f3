// SPDX-License-Identifier: Apache-2.0
/**
 * The scheduler's loop, one mechanism a file: Go's {@code schedule}, {@code findRunnable}, {@code startm} and {@code mstart} are a
 * circle, and so are ours.
 */
@NullMarked
package org.gmp4j.sched;

import org.jspecify.annotations.NullMarked;
