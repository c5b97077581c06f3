// SPDX-License-Identifier: Apache-2.0
/** The Java agent, and preemption points. */
@NullMarked
package org.gmp4j.agent;

import org.jspecify.annotations.NullMarked;
