// SPDX-License-Identifier: Apache-2.0
/** The scheduler, one mechanism a file. */
@NullMarked
package org.gmp4j.proc;

import org.jspecify.annotations.NullMarked;
