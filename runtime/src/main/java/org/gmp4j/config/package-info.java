// SPDX-License-Identifier: Apache-2.0
/** The settings of a scheduler, in values and as text, and the debug variables. */
@NullMarked
package org.gmp4j.config;

import org.jspecify.annotations.NullMarked;
