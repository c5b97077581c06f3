// SPDX-License-Identifier: Apache-2.0
/** Tests of concurrent code with a virtual clock. Source: Go's package {@code testing/synctest}. */
@NullMarked
package org.gmp4j.synctest;

import org.jspecify.annotations.NullMarked;
