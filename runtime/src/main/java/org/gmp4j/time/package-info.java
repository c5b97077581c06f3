// SPDX-License-Identifier: Apache-2.0
/** Timers and tickers, from goroutines and from other threads. Source: Go's package {@code time}. */
@NullMarked
package org.gmp4j.time;

import org.jspecify.annotations.NullMarked;
