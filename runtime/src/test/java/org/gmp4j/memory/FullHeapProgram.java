// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

import org.gmp4j.Gmp;
import org.gmp4j.sched.Ballast;

/** The first blocks are given back, and the first P dies, with the heap full to the last object. */
final class FullHeapProgram {
    private static volatile boolean freed;

    private FullHeapProgram() {
    }

    public static void main(String[] args) throws InterruptedException {
        Mcache memory = Mcache.create();
        MemorySegment first = memory.allocate(64, 8);
        MemorySegment second = memory.allocate(64, 8);
        memory.free(memory.allocate(SizeClasses.LARGEST + 1, 1));
        try {
            memory.free(first.asSlice(16));
        } catch (IllegalArgumentException e) {
            Ballast.fill(); // All on the way to the lists was used.
        }
        try {
            memory.free(first);
            freed = true;
        } catch (OutOfMemoryError e) {
            freed = false;
        }
        Ballast.drop();
        System.out.println("freed: " + freed);
        Thread other = new Thread(() -> memory.free(second));
        other.setDaemon(true);
        other.start();
        other.join(TimeUnit.SECONDS.toMillis(10));
        System.out.println("the lock is free: " + !other.isAlive());
        Gmp gmp = Gmp.builder().procs(1).build();
        gmp.run(() -> memory.free(memory.allocate(64, 8)));
        Ballast.fill();
        try {
            gmp.close();
            freed = true;
        } catch (OutOfMemoryError e) {
            freed = false;
        }
        Ballast.drop();
        gmp.close();
        System.out.println("caches left: " + memory.stats().caches());
        memory.close();
        System.exit(0);
    }
}
