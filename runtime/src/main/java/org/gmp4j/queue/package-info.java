// SPDX-License-Identifier: Apache-2.0
/** Data structures that know nothing of scheduling. */
@NullMarked
package org.gmp4j.queue;

import org.jspecify.annotations.NullMarked;
