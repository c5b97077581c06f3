// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

import org.jspecify.annotations.Nullable;

/** What is told when a context is cancelled: an element of its list of children, under the lock of that {@link Cancellation}. */
abstract class Child {
    /** Null while in no list. */
    @Nullable Cancellation parent;
    @Nullable Child next;
    @Nullable Child prev;

    /**
     * The parent was cancelled; called once, without locks.
     *
     * @param by where the cancel under way began
     * @return true for a {@link Cancellation} that is cancelled by this, and whose children are to be told next
     */
    abstract boolean parentCancelled(Exception err, Throwable cause, Cancellation by);
}
