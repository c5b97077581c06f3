// SPDX-License-Identifier: Apache-2.0
/** Cancellation, deadlines and values for a tree of calls and goroutines. Source: Go's package {@code context}. */
@NullMarked
package org.gmp4j.context;

import org.jspecify.annotations.NullMarked;
