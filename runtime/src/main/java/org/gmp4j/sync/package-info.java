// SPDX-License-Identifier: Apache-2.0
/**
 * Locks, groups and other objects that goroutines and threads use together. {@linkplain org.gmp4j##waits The description of org.gmp4j}
 * says which threads may wait, and what interrupts and bubbles do; for {@code Mutex}, {@code RWMutex}, {@code Once} and {@code OnceValue}
 * see {@linkplain org.gmp4j##locks its section on locks}. Source: Go's packages {@code sync} and {@code golang.org/x/sync}.
 */
@NullMarked
package org.gmp4j.sync;

import org.jspecify.annotations.NullMarked;
