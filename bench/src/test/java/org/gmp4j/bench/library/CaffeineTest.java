// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.github.benmanes.caffeine.cache.RemovalListener;
import org.gmp4j.Go;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Caffeine used by goroutines, with its maintenance and its loads on goroutines. */
class CaffeineTest {
    private static final int CALLERS = 40;
    private static final int CALLS = 300;
    private static final int KEYS = 200;
    private static final int MAX_SIZE = 50;

    private static String value(int key) {
        return "value of " + key;
    }

    /** A load that parks holds up callers that ask for the key, and no others; each key is loaded once. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void loadsOnce(int procs) throws Exception {
        AtomicIntegerArray loads = new AtomicIntegerArray(KEYS);
        try (TestScheduler scheduler = new TestScheduler(procs);
                ExecutorService executor = scheduler.gmp.newThreadPerTaskExecutor()) {
            LoadingCache<Integer, String> cache = Caffeine.newBuilder().executor(executor).build(key -> {
                loads.incrementAndGet(key);
                Thread.sleep(1);
                return value(key);
            });
            scheduler.each(CALLERS, number -> {
                Random random = new Random(number);
                for (int i = 0; i < CALLS; i++) {
                    int key = random.nextInt(KEYS);
                    assertEquals(value(key), cache.get(key));
                }
            });
        }
        for (int key = 0; key < KEYS; key++) {
            assertEquals(1, loads.get(key), "loads of " + key);
        }
    }

    /** Loads by goroutines, whose futures other goroutines wait for. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void loadsAsynchronously(int procs) throws Exception {
        AtomicIntegerArray loads = new AtomicIntegerArray(KEYS);
        try (TestScheduler scheduler = new TestScheduler(procs);
                ExecutorService executor = scheduler.gmp.newThreadPerTaskExecutor()) {
            AsyncLoadingCache<Integer, String> cache = Caffeine.newBuilder().executor(executor).buildAsync(key -> {
                assertTrue(Go.inGoroutine());
                loads.incrementAndGet(key);
                Go.gosched();
                return value(key);
            });
            scheduler.each(CALLERS, number -> {
                for (int key = 0; key < KEYS; key++) {
                    assertEquals(value(key), cache.get(key).get());
                }
            });
        }
        for (int key = 0; key < KEYS; key++) {
            assertEquals(1, loads.get(key), "loads of " + key);
        }
    }

    /** What was put in is in the cache or was given to the listener, once, on a goroutine. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void evicts(int procs) throws Exception {
        AtomicInteger put = new AtomicInteger();
        AtomicIntegerArray removed = new AtomicIntegerArray(CALLERS * CALLS);
        AtomicInteger elsewhere = new AtomicInteger();
        RemovalListener<Integer, String> listener = (key, value, cause) -> {
            if (!Go.inGoroutine()) {
                elsewhere.incrementAndGet();
            }
            removed.incrementAndGet(key);
        };
        Cache<Integer, String> cache;
        try (TestScheduler scheduler = new TestScheduler(procs)) {
            try (ExecutorService executor = scheduler.gmp.newThreadPerTaskExecutor()) {
                cache = Caffeine.newBuilder()
                        .executor(executor)
                        .maximumSize(MAX_SIZE)
                        .removalListener(listener)
                        .build();
                Cache<Integer, String> shared = cache;
                scheduler.each(CALLERS, number -> {
                    for (int i = 0; i < CALLS; i++) {
                        int key = number * CALLS + i;
                        shared.put(key, value(key));
                        put.incrementAndGet();
                    }
                });
                scheduler.each(1, number -> shared.cleanUp());
            } // All listeners have run.
        }
        assertEquals(0, elsewhere.get());
        assertEquals(MAX_SIZE, cache.asMap().size());
        int gone = 0;
        for (int key = 0; key < CALLERS * CALLS; key++) {
            assertEquals(cache.asMap().containsKey(key) ? 0 : 1, removed.get(key), "removals of " + key);
            gone += removed.get(key);
        }
        assertEquals(put.get(), gone + MAX_SIZE);
    }
}
