// SPDX-License-Identifier: Apache-2.0
/** Events of Java Flight Recorder. */
@NullMarked
package org.gmp4j.jfr;

import org.jspecify.annotations.NullMarked;
