// SPDX-License-Identifier: Apache-2.0
/** The making and the end of schedulers. */
@NullMarked
package org.gmp4j.sched.life;

import org.jspecify.annotations.NullMarked;
