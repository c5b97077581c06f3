// SPDX-License-Identifier: Apache-2.0
/** The settings of a scheduler, and the debug variables. */
@NullMarked
package org.gmp4j.config;

import org.jspecify.annotations.NullMarked;
