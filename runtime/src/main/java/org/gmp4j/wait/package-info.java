// SPDX-License-Identifier: Apache-2.0
/** Waiting, for goroutines and threads alike, and what ends a wait early. */
@NullMarked
package org.gmp4j.wait;

import org.jspecify.annotations.NullMarked;
