// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.context;

import org.jspecify.annotations.Nullable;

/** A child of a context, which is notified when the context is cancelled. The lock of the parent {@link Cancellation} guards the links. */
abstract class Child {
    /** The cancellation whose list of children has this child; null while it is in no list. */
    @Nullable Cancellation parent;
    @Nullable Child next;
    @Nullable Child prev;

    /**
     * Notifies this child that the parent was cancelled. It is called once, without locks.
     *
     * @param by the cancellation at which the running sweep began
     * @return true for a {@link Cancellation} that this call has cancelled, and whose children must be notified next
     */
    abstract boolean parentCancelled(ContextException err, Throwable cause, Cancellation by);
}
