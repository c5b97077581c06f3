// SPDX-License-Identifier: Apache-2.0
/**
 * Locks, groups and what else goroutines and threads wait for together. Who may wait, and what an interrupt or a bubble does to it, is said
 * in {@link org.gmp4j org.gmp4j}. Source: Go's packages {@code sync} and {@code golang.org/x/sync}.
 */
@NullMarked
package org.gmp4j.sync;

import org.jspecify.annotations.NullMarked;
