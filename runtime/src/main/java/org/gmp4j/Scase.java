// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** A case of a select ({@code scase}), and the element that it received. */
final class Scase {
    /** What the case does, and of which type {@link #then} is. */
    enum Kind {
        /** A send; a Runnable. */
        SEND,
        /** A receive; a Consumer. */
        RECV,
        /** A receive; a Receiver. */
        RECV_OK,
        /** A receive of a long; a LongConsumer. */
        RECV_LONG,
        /** A receive of a long; a LongChan.Receiver. */
        RECV_LONG_OK
    }

    /** Its place in the order of adding. */
    final int index;
    @SuppressWarnings("NullAway.Init") // Set as it is added; so are c and then.
    Kind kind;
    /** Null for one that never proceeds. */
    @SuppressWarnings("NullAway.Init")
    Hchan c;
    /** What to do when it was chosen. */
    @SuppressWarnings("NullAway.Init")
    Object then;
    /** What gives the element to send at each run; null for none. */
    @Nullable Supplier<?> supplier;
    /** The element to send, or received. */
    @Nullable Object elem;
    /** The same for a channel of longs. */
    long longElem;
    /** Whether there was an element. */
    boolean ok;
    /** Its sudog while the select waits. */
    long sg;

    Scase(int index) {
        this.index = index;
    }

    boolean sends() {
        return kind == Kind.SEND;
    }

    /** The received element; afterwards it is not kept. */
    @Nullable Object received() {
        Object v = elem;
        elem = null;
        return v;
    }

    /** Forgets everything, for another case in its place. */
    @SuppressWarnings("NullAway")
    void clear() {
        c = null;
        then = null;
        elem = null;
        supplier = null;
    }
}
