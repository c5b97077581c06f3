// SPDX-License-Identifier: Apache-2.0
/**
 * Where goroutines run: what the machine looks like ({@link org.gmp4j.affinity.Topology}) and which CPUs each P may use
 * ({@link org.gmp4j.affinity.Affinity}).
 */
@NullMarked
package org.gmp4j.affinity;

import org.jspecify.annotations.NullMarked;
