// SPDX-License-Identifier: Apache-2.0
/** The boundary to private members of the JDK. */
@NullMarked
package org.gmp4j.stack;

import org.jspecify.annotations.NullMarked;
