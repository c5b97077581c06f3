// SPDX-License-Identifier: Apache-2.0
/** The management of a running scheduler: what shows it, what changes its settings, and what closes it. */
@NullMarked
package org.gmp4j.management;

import org.jspecify.annotations.NullMarked;
