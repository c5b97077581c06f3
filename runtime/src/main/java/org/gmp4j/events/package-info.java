// SPDX-License-Identifier: Apache-2.0
/** The rings of the tracer. */
@NullMarked
package org.gmp4j.events;

import org.jspecify.annotations.NullMarked;
