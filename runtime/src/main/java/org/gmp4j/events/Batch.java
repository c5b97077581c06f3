// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import org.jspecify.annotations.Nullable;

/** A piece of memory for events. Written by the ring that has it; after it was handed over, read by whoever takes it. */
public final class Batch {
    /** Bytes: some 4,000 events. */
    public static final int BYTES = 64 << 10;

    /** No page of it was touched. */
    static final int FRESH = -2;

    /** Where it is. */
    public final long address;
    /** Which ring filled it, and how many bytes. */
    int ring;
    int used;
    /** When it was full, in ticks of its tracer. */
    long until;
    /** The NUMA node that its pages are asked from; -1 when it was used without one, {@link #FRESH} when it was never used. */
    int node = FRESH;
    /** In the list it is in. */
    @Nullable Batch next;

    Batch(long address) {
        this.address = address;
    }

    /** The P whose events these are, or {@link Tracer#OUTSIDE}. */
    public int ring() {
        return ring;
    }

    /** How many bytes are filled. */
    public int used() {
        return used;
    }

    /** After its last event: ticks. */
    public long until() {
        return until;
    }
}
