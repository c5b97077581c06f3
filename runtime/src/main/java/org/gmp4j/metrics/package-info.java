// SPDX-License-Identifier: Apache-2.0
/** The metrics of a scheduler, under the names of Go's {@code runtime/metrics}, and ways to read them from outside. */
@NullMarked
package org.gmp4j.metrics;

import org.jspecify.annotations.NullMarked;
