// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicReference;

import org.junit.jupiter.api.Test;

class StackSpaceTest {
    private static final long STACK = 8 << 20;
    private static final long KEEP = 256 << 10;

    private long least;

    private static void onThread(Runnable body) throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Thread t = new Thread(null, body, "deep", STACK);
        t.setUncaughtExceptionHandler((x, e) -> thrown.set(e));
        t.start();
        t.join();
        assertEquals(null, thrown.get());
    }

    private long down(long a, long b) {
        least = StackSpace.left();
        return down(b, a) + a;
    }

    /** HotSpot's own error comes when next to nothing is left, and not before. */
    @Test
    void leftIsWhatHotSpotLeaves() throws InterruptedException {
        onThread(() -> {
            long first = StackSpace.left();
            assertTrue(first > STACK * 9 / 10 && first < STACK, "at first " + first);
            try {
                long _ = down(1, 2);
            } catch (StackOverflowError e) {
                assertTrue(least < 16 << 10 && least > -(16 << 10), "at the end " + least);
            }
        });
    }

    @Test
    void trimGivesBackOnce() throws InterruptedException {
        onThread(() -> {
            assertEquals(0, StackSpace.trim(KEEP), "nothing was there");
            try {
                long _ = down(1, 2);
            } catch (StackOverflowError e) {
                long freed = StackSpace.trim(KEEP);
                assertTrue(freed > STACK - KEEP - (1 << 20), "freed " + freed);
                assertEquals(0, StackSpace.trim(KEEP), "nothing was left");
            }
        });
    }
}
