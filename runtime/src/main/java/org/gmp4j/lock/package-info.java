// SPDX-License-Identifier: Apache-2.0
/** Notes, runtime locks and their ranks. */
@NullMarked
package org.gmp4j.lock;

import org.jspecify.annotations.NullMarked;
