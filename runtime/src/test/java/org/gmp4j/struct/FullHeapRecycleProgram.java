// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import org.gmp4j.sched.Ballast;

/** Structs are given back with a full heap, and are there for the next that want them. */
final class FullHeapRecycleProgram {
    private static final int STRUCTS = 300;

    private FullHeapRecycleProgram() {
    }

    public static void main(String[] args) {
        long[] all = new long[STRUCTS];
        alloc(all);
        recycle(all, 0);
        alloc(all);
        long taken = Mem.taken(Struct.P);
        Ballast.fill();
        int given = recycle(all, 0);
        Ballast.drop();
        recycle(all, given);
        alloc(all);
        System.out.println(Mem.taken(Struct.P) - taken);
    }

    private static void alloc(long[] all) {
        for (int i = 0; i < all.length; i++) {
            all[i] = Mem.alloc(Struct.P, 1);
        }
    }

    /** Gives back the structs from an index on. Returns the index of the first that it did not give back for lack of memory. */
    private static int recycle(long[] all, int from) {
        int i = from;
        try {
            for (; i < all.length; i++) {
                Mem.recycle(Struct.P, all[i]);
            }
        } catch (OutOfMemoryError e) {
            return i;
        }
        return i;
    }
}
