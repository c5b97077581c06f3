// SPDX-License-Identifier: Apache-2.0
/**
 * The scheduler's loop, with a file for each mechanism. Go's {@code schedule}, {@code findRunnable}, {@code startm} and {@code mstart} call
 * each other in a circle, and so do these classes.
 */
@NullMarked
package org.gmp4j.sched;

import org.jspecify.annotations.NullMarked;
