// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PoolTest {
    /** No object is used twice at a time, and none is made while one is there. */
    @Stress
    void handedOutOnce() {
        AtomicInteger made = new AtomicInteger();
        AtomicIntegerArray users = new AtomicIntegerArray(1_000_000);
        Pool<Integer> pool = new Pool<>(made::getAndIncrement);
        try (TestGmp gmp = TestGmp.procs(4)) {
            Crew.run(gmp, 8, 2, 2, id -> {
                Integer[] mine = new Integer[5];
                for (int i = 0; i < 3_000; i++) {
                    int n = 1 + i % mine.length;
                    for (int k = 0; k < n; k++) {
                        mine[k] = pool.get();
                        assertEquals(1, users.incrementAndGet(mine[k]));
                    }
                    for (int k = 0; k < n; k++) {
                        assertEquals(0, users.decrementAndGet(mine[k]));
                        pool.put(mine[k]);
                    }
                    if (i % 1_000 == 0) {
                        Pool.drop();
                    }
                }
            });
        }
        assertTrue(made.get() < 12 * 3_000, () -> made + " made");
    }

    /** Go: {@code TestPool}: what is put is given out, and survives one beat of the collector, not two. */
    @Test
    void victims() {
        AtomicInteger made = new AtomicInteger();
        Pool<Object> pool = new Pool<>(() -> "made " + made.incrementAndGet());
        Set<Object> put = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            put.add(new Object());
        }
        put.forEach(pool::put);
        Pool.drop();
        Set<Object> got = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            got.add(pool.get());
        }
        assertEquals(put, got);
        assertEquals("made 1", pool.get());

        Object kept = new Object();
        pool.put(kept);
        Pool.drop();
        assertSame(kept, pool.get());
        pool.put(kept); // In use between the beats: it stays.
        Pool.drop();
        assertSame(kept, pool.get());
        pool.put(kept);
        Pool.drop();
        Pool.drop();
        assertEquals("made 2", pool.get());
    }

    /** A collection reaches a pool that is not used any more. */
    @Test
    void theCollectorEmptiesIt() throws InterruptedException {
        AtomicInteger made = new AtomicInteger();
        Pool<Object> pool = new Pool<>(made::incrementAndGet);
        Pool<Object> probe = new Pool<>(null);
        try (TestGmp gmp = TestGmp.procs(1)) { // Its sysmon looks.
            gmp.run(() -> pool.put("old"));
            for (int beats = 0; beats < 2; beats++) {
                probe.put("probe");
                while (probe.hasSlots()) { // A beat takes them.
                    System.gc();
                    Thread.sleep(10);
                }
            }
            assertEquals(1, pool.get());
        }
    }

    /** Without a scheduler that watches the collector. */
    static final class WithoutScheduler {
        private static final int SIZE = 100_000;

        private WithoutScheduler() {
        }

        public static void main(String[] args) throws InterruptedException {
            switch (args[0]) {
                case "full" -> full();
                case "dropped" -> dropped();
                default -> throw new AssertionError(args[0]);
            }
        }

        /** What a pool holds gives way to what is wanted. */
        private static void full() {
            Pool<byte[]> pool = new Pool<>(null);
            int n = (int) (Runtime.getRuntime().maxMemory() * 2 / 3 / SIZE);
            for (int i = 0; i < n; i++) {
                pool.put(new byte[SIZE]);
            }
            List<byte[]> live = new ArrayList<>();
            for (int i = 0; i < n; i++) {
                live.add(new byte[SIZE]);
            }
            byte[] last = live.getLast();
            pool.put(last);
            System.out.println(pool.get() == last && live.size() == n ? "ok" : "lost");
        }

        /** Pools that come and go leave nothing. */
        private static void dropped() throws InterruptedException {
            WeakReference<Object> content = null;
            for (int i = 0; i < 100_000; i++) {
                Pool<Object> pool = new Pool<>(null);
                pool.put(new Object());
                content = i == 10 ? new WeakReference<>(pool.get()) : content;
            }
            while (content.get() != null || Pool.listed() > 10_000) {
                System.gc();
                Thread.sleep(10);
                new Pool<>(null).put(content);
            }
            System.out.println("ok");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"full", "dropped"})
    void withoutScheduler(String what) {
        assertEquals("ok\n", new ChildJvm(WithoutScheduler.class).with("-Xmx64m").run(what).out());
    }

    @Test
    void nothing() {
        assertNull(new Pool<>(null).get());
        assertThrows(NullPointerException.class, () -> new Pool<>(null).put(null));
    }
}
