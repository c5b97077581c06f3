// SPDX-License-Identifier: Apache-2.0
/** What a scheduler counts, under the names of Go's {@code runtime/metrics}, and ways to read it from outside. */
@NullMarked
package org.gmp4j.metrics;

import org.jspecify.annotations.NullMarked;
