// SPDX-License-Identifier: Apache-2.0
/** Adds preemption points to the classes of jars before the program runs. */
@NullMarked
package org.gmp4j.weave;

import org.jspecify.annotations.NullMarked;
