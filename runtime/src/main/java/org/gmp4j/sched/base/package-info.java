// SPDX-License-Identifier: Apache-2.0
/** Scheduler, Ms and Ps as the loop finds them, the interfaces of what is above the loop, and mechanisms that know nothing of it. */
@NullMarked
package org.gmp4j.sched.base;

import org.jspecify.annotations.NullMarked;
