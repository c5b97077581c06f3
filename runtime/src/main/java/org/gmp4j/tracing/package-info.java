// SPDX-License-Identifier: Apache-2.0
/** Collects the tracer's events and writes them to files. */
@NullMarked
package org.gmp4j.tracing;

import org.jspecify.annotations.NullMarked;
