// SPDX-License-Identifier: Apache-2.0
/** The process's own stderr, and text made of exceptions and frames. */
@NullMarked
package org.gmp4j.print;

import org.jspecify.annotations.NullMarked;
