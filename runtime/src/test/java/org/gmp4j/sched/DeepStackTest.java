// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Go;
import org.gmp4j.stack.Headroom;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Deep recursion: one that parks on its way is bounded too, and the memory of one that does not is given back. */
class DeepStackTest {
    private static final int STACK = 256 << 10;

    private int deepest;

    private int parking(int n) {
        deepest = n;
        Go.gosched();
        return parking(n + 1) + 1;
    }

    private static long descend(long room, long a, long b) {
        return Headroom.left() < room ? a : descend(room, b, a) + b;
    }

    @Test
    void framesOnTheHeapCount() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).maxStack(STACK))) {
            gmp.run(() -> {
                StackOverflowError e = assertThrows(StackOverflowError.class, () -> parking(0));
                assertEquals("goroutine stack exceeds " + STACK + "-byte limit", e.getMessage());
                assertTrue(deepest * 32L < 4 * STACK, "depth " + deepest);
                deepest = 0;
                assertThrows(StackOverflowError.class, () -> parking(0)); // And again, from the beginning.
                assertTrue(deepest > 100, "depth " + deepest);
            });
            gmp.run(() -> { // The next on the same stack does not inherit it.
                for (int i = 0; i < 3000; i++) {
                    Go.gosched();
                }
            });
        }
    }

    private static int atDepth(long left, Runnable act) {
        if (Headroom.left() > left) {
            return atDepth(left, act) + 1;
        }
        act.run();
        return 0;
    }

    /** A stack that is larger than half a region of G1's stays where it is: the JDK's locks, too, would be left by an error otherwise. */
    @Test
    void waitsInTheRuntimeFromDeepDown() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> atDepth(Headroom.left() - (3L << 20), () -> {
                TestGmp other = TestGmp.procs(1);
                other.go(() -> Go.sleep(Duration.ofMillis(20)));
                other.close();
            }));
        }
    }

    /** Parks on its way to the limit, where it has its frames counted. */
    private static int toTheLimit() {
        GStack st = GStack.mine();
        if (JdkThreads.frozen(st) > STACK) {
            for (int i = 0; i < 5000; i++) {
                st.parked();
            }
            return 0;
        }
        Go.gosched();
        return toTheLimit() + 1;
    }

    /** A recursion that has returned before its next call of the runtime is not refused afterwards. */
    @Test
    void framesThatAreGoneDoNotCount() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).maxStack(STACK))) {
            for (int i = 0; i < 2; i++) {
                boolean operation = i == 0;
                gmp.run(() -> {
                    assertTrue(toTheLimit() > 100);
                    if (operation) {
                        GStack.checkAll();
                    }
                    Go.gosched();
                });
            }
        }
    }

    /** A stack that stays in the limit, parking again and again at the bottom. */
    @Test
    void whatFitsIsLeftAlone() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).maxStack(STACK))) {
            gmp.run(() -> {
                AtomicReference<Throwable> thrown = new AtomicReference<>();
                try {
                    atDepth(200);
                } catch (StackOverflowError e) {
                    thrown.set(e);
                }
                assertEquals(null, thrown.get());
            });
        }
    }

    private static int atDepth(int n) {
        Go.gosched();
        if (n > 0) {
            return atDepth(n - 1) + 1;
        }
        for (int i = 0; i < 5000; i++) {
            Go.gosched();
        }
        return 0;
    }

    /** Anonymous memory of this process that is resident. */
    private static long rssKilobytes() {
        try {
            return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(l -> l.startsWith("RssAnon:"))
                    .mapToLong(l -> Long.parseLong(l.replaceAll("\\D+", ""))).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The C library gives a new thread the stack of one that has ended, up to four times as large. All Ms are to have the same. */
    @Test
    void noMHasMoreStackThanOthers() throws InterruptedException {
        int bytes = 512 << 10;
        for (int round = 0; round < 2; round++) {
            Thread[] larger = new Thread[4];
            for (int i = 0; i < larger.length; i++) {
                larger[i] = new Thread(null, Thread::onSpinWait, "larger", 3L * (bytes + Headroom.OF_THREAD));
                larger[i].start();
            }
            for (Thread t : larger) {
                t.join();
            }
            try (TestGmp gmp = TestGmp.with(b -> b.procs(1).maxStack(bytes))) {
                long left = gmp.call(Headroom::left);
                assertTrue(left <= bytes + Headroom.OF_THREAD && left > bytes, () -> left + " bytes");
            }
        }
    }

    /** What a container survives when each M has recursed to its end; the javadoc of maxStack says so. */
    @Test
    void theDefault() {
        int bytes = 8 << 20;
        try (TestGmp gmp = TestGmp.procs(1)) {
            long left = gmp.call(Headroom::left);
            assertTrue(left <= bytes + Headroom.OF_THREAD && left > bytes, () -> left + " bytes");
        }
    }

    @Test
    void whatIsThrownOnAShortenedStackComesOut() {
        int bytes = 256 << 10;
        long[] left = new long[1];
        IllegalStateException thrown = new IllegalStateException();
        assertSame(thrown, assertThrows(IllegalStateException.class, () -> Headroom.runOn(bytes, () -> {
            left[0] = Headroom.left();
            throw thrown;
        })));
        assertTrue(left[0] > 0 && left[0] < bytes, () -> left[0] + " bytes");
    }

    @Test
    void memoryIsGivenBackWhenTheThreadSleeps() {
        int mb = 256;
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).maxStack((long) mb << 20))) {
            long full = gmp.call(() -> {
                JdkThreads.pin(); // Nothing is to sleep before it was looked.
                long _ = descend(1 << 20, 1, 2);
                long rss = rssKilobytes();
                JdkThreads.unpin();
                return rss;
            });
            while (rssKilobytes() > full - (mb << 10) / 2) { // Others of this JVM may grow meanwhile, but not by that.
                Thread.onSpinWait();
            }
        }
    }
}
