// SPDX-License-Identifier: Apache-2.0
/** Timer heaps, and the timers in them. */
@NullMarked
package org.gmp4j.timer;

import org.jspecify.annotations.NullMarked;
