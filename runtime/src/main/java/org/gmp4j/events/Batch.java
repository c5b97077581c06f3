// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import org.jspecify.annotations.Nullable;

/**
 * A block of memory for events. Its ring writes it. After the ring has handed it over, the thread that takes it from {@link Batches}
 * reads it.
 */
public final class Batch {
    /** The size of a batch, bytes: some 4,000 events. */
    public static final int BYTES = 64 << 10;

    /** Value of {@link #node} before any page was touched. */
    static final int FRESH = -2;

    /** The address of the memory. */
    public final long address;
    /** The ring that filled the batch, and the number of filled bytes. */
    int ring;
    int used;
    /** The time when the batch was full, in ticks of its tracer. */
    long until;
    /** The NUMA node that its pages were requested from; -1 when it was used without one, {@link #FRESH} when it was never used. */
    int node = FRESH;
    /** The next batch of the list that this one is in. */
    @Nullable Batch next;

    Batch(long address) {
        this.address = address;
    }

    /** Returns the number of the P whose events these are, or {@link Tracer#OUTSIDE}. */
    public int ring() {
        return ring;
    }

    /** Returns the number of filled bytes. */
    public int used() {
        return used;
    }

    /** Returns the time, in ticks, after the last event. */
    public long until() {
        return until;
    }
}
