// SPDX-License-Identifier: Apache-2.0
/** What a scheduler is asked to be, and the debug variables. */
@NullMarked
package org.gmp4j.config;

import org.jspecify.annotations.NullMarked;
