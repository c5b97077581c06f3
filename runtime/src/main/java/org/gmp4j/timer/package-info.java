// SPDX-License-Identifier: Apache-2.0
/** Timers and the heaps of their alarms. */
@NullMarked
package org.gmp4j.timer;

import org.jspecify.annotations.NullMarked;
