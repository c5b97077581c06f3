// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import org.gmp4j.proc.GStack;

/**
 * Uses once all that an allocator does with a lock held, or where nothing may fail: when a P dies, or its scheduler. The first use of a
 * class, or of a {@code VarHandle} at a place, takes memory, and throws where there is none.
 */
final class Drill {
    /** Of the largest blocks a batch has the fewest. */
    private static final int CLASS = SizeClasses.COUNT - 1;

    /** Under the class's monitor. */
    private static boolean done;

    private Drill() {
    }

    /** Does it if it was not done in this process. If it throws it may be tried again. */
    static synchronized void once() {
        if (!done) {
            GStack.checkAll();
            try (Mcache memory = Mcache.bare()) {
                PCache cache = memory.loose();
                GStack st = GStack.enterChecked();
                try {
                    use(memory, cache);
                } finally {
                    GStack.exit(st);
                }
                memory.free(memory.allocate(SizeClasses.LARGEST + 1L, 1));
                memory.free(memory.allocate(1, 1)); // By a goroutine: into the cache of its P.
                Figures _ = memory.figures();
                cache.drop();
            }
            done = true;
        }
    }

    private static void use(Mcache memory, PCache cache) {
        Central list = memory.list(CLASS);
        int n = 4 * SizeClasses.batch(CLASS);
        long[] blocks = new long[n];
        for (int round = 0; round < 2; round++) { // Fresh blocks, and such as were given back.
            for (int i = 0; i < n; i++) {
                blocks[i] = cache.take(CLASS);
            }
            for (int i = 0; i < n; i++) {
                boolean _ = cache.give(CLASS, blocks[i]);
            }
            cache.flush();
            for (int i = 0; i < n; i++) {
                blocks[i] = list.takeOne();
            }
            for (int i = 0; i < n; i++) {
                boolean _ = list.giveOne(blocks[i]);
            }
        }
        long part = cache.take(0); // A range of fresh blocks is left.
        boolean _ = cache.give(0, part);
        cache.flush();
    }
}
