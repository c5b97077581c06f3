// SPDX-License-Identifier: Apache-2.0
/** The part that channels of all element kinds share, and the wait of a select. */
@NullMarked
package org.gmp4j.chan;

import org.jspecify.annotations.NullMarked;
