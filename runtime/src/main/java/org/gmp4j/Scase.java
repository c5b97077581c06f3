// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** A case of a select ({@code scase}), and the element that it received. */
final class Scase {
    /** The operation of a case, which determines the type of {@link #then}. */
    enum Kind {
        /** A send; {@code then} is a Runnable. */
        SEND,
        /** A receive; {@code then} is a Consumer. */
        RECV,
        /** A receive; {@code then} is a Receiver. */
        RECV_OK,
        /** A receive of a long; {@code then} is a LongConsumer. */
        RECV_LONG,
        /** A receive of a long; {@code then} is a LongChan.Receiver. */
        RECV_LONG_OK
    }

    /** The case's number, in the order in which cases were added. */
    final int index;
    @SuppressWarnings("NullAway.Init") // Select.add sets the fields kind, c and then.
    Kind kind;
    /** The channel; null for a case that never proceeds. */
    @SuppressWarnings("NullAway.Init")
    Hchan c;
    /** The action to run when the case was chosen. */
    @SuppressWarnings("NullAway.Init")
    Object then;
    /** Supplies the element to send at each run of the select; null if the element is fixed. */
    @Nullable Supplier<?> supplier;
    /** The element to send, or the received one. */
    @Nullable Object elem;
    /** The element to send, or the received one, of a LongChan. */
    long longElem;
    /** Whether the receive got an element. */
    boolean ok;
    /** The case's sudog while the select waits. */
    long sg;

    Scase(int index) {
        this.index = index;
    }

    boolean sends() {
        return kind == Kind.SEND;
    }

    /** Returns the received element and drops the reference to it. */
    @Nullable Object received() {
        Object v = elem;
        elem = null;
        return v;
    }

    /** Drops all references, so that the object can be used for another case. */
    @SuppressWarnings("NullAway")
    void clear() {
        c = null;
        then = null;
        elem = null;
        supplier = null;
    }
}
