// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import org.gmp4j.sched.GStack;

/**
 * Runs once in the process each operation of an allocator that holds a lock or must not fail, such as those at the end of a P or of its
 * scheduler. Otherwise the first use of a class, or of a {@code VarHandle} at a call site, would take memory in such an operation, and
 * throw when there is none.
 */
final class Drill {
    /** The class of the largest blocks. Its batches have the fewest blocks. */
    private static final int CLASS = SizeClasses.COUNT - 1;

    /** Guarded by the class's monitor. */
    private static boolean done;

    private Drill() {
    }

    /** Runs the operations, unless the process has run them. If this throws, the caller may try again. */
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
                memory.free(memory.allocate(1, 1)); // If the caller is a goroutine, the block goes to the cache of its P.
                AllocatorStats _ = memory.stats();
                cache.drop();
            }
            done = true;
        }
    }

    private static void use(Mcache memory, PCache cache) {
        Central list = memory.list(CLASS);
        int n = 4 * SizeClasses.batch(CLASS);
        long[] blocks = new long[n];
        for (int round = 0; round < 2; round++) { // The first round takes fresh blocks, the second freed blocks.
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
        boolean _ = cache.give(0, cache.take(0)); // The flush finds the rest of a range of fresh blocks.
        cache.flush();
    }
}
