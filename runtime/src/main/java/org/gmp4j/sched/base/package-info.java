// SPDX-License-Identifier: Apache-2.0
/** The scheduler, Ms and Ps, the loop's interfaces to packages that build on it, and mechanisms that do not use the loop. */
@NullMarked
package org.gmp4j.sched.base;

import org.jspecify.annotations.NullMarked;
