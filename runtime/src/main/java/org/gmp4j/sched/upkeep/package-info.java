// SPDX-License-Identifier: Apache-2.0
/** The work that the loop leaves to sysmon. */
@NullMarked
package org.gmp4j.sched.upkeep;

import org.jspecify.annotations.NullMarked;
