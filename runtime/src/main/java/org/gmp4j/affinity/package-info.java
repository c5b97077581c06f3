// SPDX-License-Identifier: Apache-2.0
/**
 * The CPUs on which goroutines run: the machine ({@link org.gmp4j.affinity.Topology}), and the CPUs that each P may use
 * ({@link org.gmp4j.affinity.Affinity}).
 */
@NullMarked
package org.gmp4j.affinity;

import org.jspecify.annotations.NullMarked;
