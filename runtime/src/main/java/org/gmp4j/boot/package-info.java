// SPDX-License-Identifier: Apache-2.0
/** Checks and preparation of the JVM before the first goroutine runs. */
@NullMarked
package org.gmp4j.boot;

import org.jspecify.annotations.NullMarked;
