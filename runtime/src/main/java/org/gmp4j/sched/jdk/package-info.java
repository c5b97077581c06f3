// SPDX-License-Identifier: Apache-2.0
/** The calls of the JDK: the stacks of goroutines as its scheduler of virtual threads sees them, and its wake-ups. */
@NullMarked
package org.gmp4j.sched.jdk;

import org.jspecify.annotations.NullMarked;
