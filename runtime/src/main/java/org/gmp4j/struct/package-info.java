// SPDX-License-Identifier: Apache-2.0
/** The layouts, fields and state machines of G, M, P, schedt and sudog. */
@NullMarked
package org.gmp4j.struct;

import org.jspecify.annotations.NullMarked;
