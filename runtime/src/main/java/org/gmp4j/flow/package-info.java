// SPDX-License-Identifier: Apache-2.0
/** Channels as publishers of {@link java.util.concurrent.Flow}. */
@NullMarked
package org.gmp4j.flow;

import org.jspecify.annotations.NullMarked;
