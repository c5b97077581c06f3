// SPDX-License-Identifier: Apache-2.0
/** Layouts, fields and state machines of G, M, P, schedt and sudog. */
@NullMarked
package org.gmp4j.struct;

import org.jspecify.annotations.NullMarked;
