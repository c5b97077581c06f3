// SPDX-License-Identifier: Apache-2.0
/** What is made of the tracer's events. */
@NullMarked
package org.gmp4j.tracing;

import org.jspecify.annotations.NullMarked;
