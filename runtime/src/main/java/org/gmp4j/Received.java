// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.Iterator;
import java.util.NoSuchElementException;

import org.jspecify.annotations.Nullable;

/** An iterator over what a channel gives, until it gives null. For one thread. */
abstract class Received<T> implements Iterator<T> {
    /** The element that was received and not asked for yet; null for none. */
    private @Nullable T next;

    /** The next element; null when there will be none any more. */
    abstract @Nullable T receive();

    @Override
    public boolean hasNext() {
        if (next == null) {
            next = receive();
        }
        return next != null;
    }

    @Override
    public T next() {
        T v = hasNext() ? next : null;
        if (v == null) {
            throw new NoSuchElementException();
        }
        next = null;
        return v;
    }
}
