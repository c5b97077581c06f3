// SPDX-License-Identifier: Apache-2.0
/** Data structures of the scheduler that make no scheduling decisions. */
@NullMarked
package org.gmp4j.queue;

import org.jspecify.annotations.NullMarked;
