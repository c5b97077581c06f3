// SPDX-License-Identifier: Apache-2.0
/** Reports about a scheduler: stacks, uncaught exceptions, fatal errors, leaks. */
@NullMarked
package org.gmp4j.report;

import org.jspecify.annotations.NullMarked;
