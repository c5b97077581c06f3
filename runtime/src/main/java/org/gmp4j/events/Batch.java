// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import org.jspecify.annotations.Nullable;

/**
 * A block of memory for events. A ring fills the block and hands it over to {@link Batches}. The thread that takes the block from there
 * reads it.
 */
public final class Batch {
    /** The size of a batch, bytes: some 4,000 events. */
    public static final int BYTES = 64 << 10;

    /** The value of {@link #node} before any page was touched. */
    static final int FRESH = -2;

    /** The address of the memory. */
    public final long address;
    int ring;
    int used;
    /** A time after the last event, in ticks of the tracer. */
    long until;
    /** The NUMA node from which pages were requested; -1 if they were touched without a request; {@link #FRESH} before the first use. */
    int node = FRESH;
    /** The next batch in the same list. */
    @Nullable Batch next;

    Batch(long address) {
        this.address = address;
    }

    /** Returns the number of the P that wrote the events, or {@link Tracer#OUTSIDE}. */
    public int ring() {
        return ring;
    }

    /** Returns the number of filled bytes. */
    public int used() {
        return used;
    }
}
