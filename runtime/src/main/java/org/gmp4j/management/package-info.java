// SPDX-License-Identifier: Apache-2.0
/** Shows a running scheduler, changes its settings, and closes it. */
@NullMarked
package org.gmp4j.management;

import org.jspecify.annotations.NullMarked;
