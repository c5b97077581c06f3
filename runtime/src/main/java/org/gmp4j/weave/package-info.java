// SPDX-License-Identifier: Apache-2.0
/** Jars whose classes get their preemption points before the program runs. */
@NullMarked
package org.gmp4j.weave;

import org.jspecify.annotations.NullMarked;
