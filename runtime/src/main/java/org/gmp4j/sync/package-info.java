// SPDX-License-Identifier: Apache-2.0
/**
 * Locks, groups and other objects that goroutines and threads use together. {@link org.gmp4j org.gmp4j} describes which threads may wait,
 * and the effects of interrupts and bubbles. Source: Go's packages {@code sync} and {@code golang.org/x/sync}.
 */
@NullMarked
package org.gmp4j.sync;

import org.jspecify.annotations.NullMarked;
