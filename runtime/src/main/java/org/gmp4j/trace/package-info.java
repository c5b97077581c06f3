// SPDX-License-Identifier: Apache-2.0
/** Execution traces, which show what goroutines and Ps did, when, and why. */
@NullMarked
package org.gmp4j.trace;

import org.jspecify.annotations.NullMarked;
