// SPDX-License-Identifier: Apache-2.0
/** Preparation of the JVM before the first goroutine runs. */
@NullMarked
package org.gmp4j.boot;

import org.jspecify.annotations.NullMarked;
