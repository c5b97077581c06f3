// SPDX-License-Identifier: Apache-2.0
/** The thread that watches Ps and Ms, and takes Ps back. */
@NullMarked
package org.gmp4j.sysmon;

import org.jspecify.annotations.NullMarked;
