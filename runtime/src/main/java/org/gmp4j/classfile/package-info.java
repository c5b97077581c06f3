// SPDX-License-Identifier: Apache-2.0
/** Class files, byte by byte. */
@NullMarked
package org.gmp4j.classfile;

import org.jspecify.annotations.NullMarked;
