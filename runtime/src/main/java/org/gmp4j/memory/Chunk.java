// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.util.Arrays;

/** A mapping of {@value #BYTES} bytes, which is divided into spans. Its address is a multiple of that size. */
final class Chunk {
    static final int BYTES = 4 << 20;
    static final int SPANS = BYTES / SizeClasses.SPAN;

    final long base;
    /** The NUMA node that its pages are requested from; -1 for none. */
    final int node;
    /**
     * The size class of each span. Written under the heap's lock before the first block of the span is allocated. A thread that frees a
     * block got it from the thread that allocated it, and so sees the class.
     */
    private final byte[] classes = new byte[SPANS];

    Chunk(long base, int node) {
        this.base = base;
        this.node = node;
        Arrays.fill(classes, (byte) SizeClasses.NONE);
    }

    long span(int i) {
        return base + (long) i * SizeClasses.SPAN;
    }

    void assign(int span, int c) {
        classes[span] = (byte) c;
    }

    /** Returns the class of the block that begins at the address, or {@link SizeClasses#NONE} when no block does. */
    int classAt(long address) {
        int offset = (int) (address - base);
        int c = classes[offset / SizeClasses.SPAN];
        return c >= 0 && SizeClasses.begins(c, offset & SizeClasses.SPAN - 1) ? c : SizeClasses.NONE;
    }
}
