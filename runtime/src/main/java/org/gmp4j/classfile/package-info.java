// SPDX-License-Identifier: Apache-2.0
/** Reads and writes class files byte by byte. */
@NullMarked
package org.gmp4j.classfile;

import org.jspecify.annotations.NullMarked;
