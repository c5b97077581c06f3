// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/** Memory off the heap, for tests of leaks. */
public final class OffHeap {
    private OffHeap() {
    }

    /** Bytes that structs have taken, those that were put back as well. */
    public static long taken() {
        return Mem.taken();
    }

    /** The same of one kind. */
    public static long taken(Struct of) {
        return Mem.taken(of);
    }
}
