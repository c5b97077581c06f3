// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/** A case of a select ({@code scase}), and the element that it received. */
public final class Scase {
    /** The operation of a case, which determines the type of {@link #then}. */
    public enum Kind {
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
    public final int index;
    @SuppressWarnings("NullAway.Init") // Select.add sets the fields kind, c and then.
    public Kind kind;
    /** The channel; null for a case that never proceeds. */
    @SuppressWarnings("NullAway.Init")
    public Hchan c;
    /** The action to run when the case was chosen. */
    @SuppressWarnings("NullAway.Init")
    public Object then;
    /** Supplies the element to send at each run of the select; null if the element is fixed. */
    public @Nullable Supplier<?> supplier;
    /** The element to send, or the received one. */
    public @Nullable Object elem;
    /** The element to send, or the received one, of a LongChan. */
    public long longElem;
    /** Whether the receive got an element. */
    public boolean ok;
    /** The case's sudog while the select waits. */
    long sg;

    /** Makes a case that {@link Selectgo} cannot use before its fields are set. */
    public Scase(int index) {
        this.index = index;
    }

    boolean sends() {
        return kind == Kind.SEND;
    }

    /** Returns the received element and drops the reference to it. */
    public @Nullable Object received() {
        Object v = elem;
        elem = null;
        return v;
    }

    /** Drops all references, so that the object can be used for another case. */
    @SuppressWarnings("NullAway")
    public void clear() {
        c = null;
        then = null;
        elem = null;
        supplier = null;
    }
}
