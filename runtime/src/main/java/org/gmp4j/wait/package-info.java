// SPDX-License-Identifier: Apache-2.0
/** Waits of goroutines and other threads, and the objects that end a wait early. */
@NullMarked
package org.gmp4j.wait;

import org.jspecify.annotations.NullMarked;
