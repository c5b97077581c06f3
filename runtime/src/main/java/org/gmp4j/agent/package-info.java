// SPDX-License-Identifier: Apache-2.0
/** The Java agent, which adds preemption points to classes. */
@NullMarked
package org.gmp4j.agent;

import org.jspecify.annotations.NullMarked;
