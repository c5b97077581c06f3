// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import java.util.Iterator;
import java.util.NoSuchElementException;

import org.jspecify.annotations.Nullable;

/** Iterates over received elements up to the first null. Only one thread may use it. */
public abstract class Received<T> implements Iterator<T> {
    /** The received element that {@link #next()} has not returned yet; null for none. */
    private @Nullable T next;

    /** Receives and returns the next element. Returns null after the last one. */
    protected abstract @Nullable T receive();

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
