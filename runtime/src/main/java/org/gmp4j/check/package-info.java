// SPDX-License-Identifier: Apache-2.0
/** Checks of the invariants. */
@NullMarked
package org.gmp4j.check;

import org.jspecify.annotations.NullMarked;
