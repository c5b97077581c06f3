// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.context.Context;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.time.Time;
import org.junit.jupiter.api.Test;

class SemaphoreTest {
    @Test
    void tries() {
        Semaphore s = new Semaphore(10);
        assertTrue(s.tryAcquire(4));
        s.acquire(6);
        assertFalse(s.tryAcquire(1));
        assertTrue(s.tryAcquire(0));
        s.release(5);
        assertFalse(s.tryAcquire(6));
        assertTrue(s.tryAcquire(5));
        s.release(10);
        assertFalse(s.tryAcquire(11), "more than there is");
    }

    @Stress
    void neverMoreThanTheSize() {
        long size = 10;
        Semaphore s = new Semaphore(size);
        AtomicLong held = new AtomicLong();
        try (TestGmp gmp = TestGmp.procs(4)) {
            Crew.run(gmp, 8, 2, 4, id -> {
                for (int i = 0; i < 2_000; i++) {
                    long n = 1 + (id + i) % size;
                    s.acquire(n);
                    assertTrue(held.addAndGet(n) <= size);
                    if (i % 32 == 0) {
                        Thread.yield();
                    }
                    held.addAndGet(-n);
                    s.release(n);
                }
            });
        }
        assertTrue(s.tryAcquire(size), "something is lost");
    }

    /** Go: {@code TestLargeAcquireDoesntStarve}: small requests do not pass a large one. */
    @Test
    void firstComeFirstServed() {
        Synctest.test(() -> {
            Semaphore s = new Semaphore(4);
            Chan<Long> order = Chan.make(8);
            s.acquire(3);
            for (long n : new long[] {4, 1, 2, 1}) {
                Go.go(() -> {
                    s.acquire(n);
                    order.send(n);
                });
                Synctest.await();
            }
            assertFalse(s.tryAcquire(1), "others wait");
            s.release(1);
            Synctest.await();
            assertEquals(0, order.len());
            s.release(2);
            assertEquals(4, order.recv());
            s.release(4); // All the others fit.
            assertEquals(4, order.recv() + order.recv() + order.recv());
            s.release(4);
        });
    }

    /** Go: {@code TestAcquire} with more than the size: it waits for ever, and blocks no waiter behind it. */
    @Test
    void doomed() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Semaphore s = new Semaphore(2);
                Thread.ofPlatform().daemon().start(() -> s.acquire(3));
                Go.sleep(Duration.ofMillis(20));
                s.acquire(2);
                s.release(2);
            });
        }
    }

    private static void acquire(Semaphore s, Context ctx, long n) {
        try {
            s.acquire(ctx, n);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Go: {@code TestWeightedAcquire} and {@code TestCanceledAcquire}: a context ends the wait, and nothing is taken. */
    @Test
    void untilCancelled() {
        Synctest.test(() -> {
            Duration second = Duration.ofSeconds(1);
            Context never = Context.background();
            Semaphore s = new Semaphore(3);
            acquire(s, never, 2);
            acquire(s, never.withCancel(), 1);
            assertSame(Context.DEADLINE_EXCEEDED,
                    assertThrows(Exception.class, () -> s.acquire(never.withTimeout(second), 1)));
            assertEquals(Instant.EPOCH.plus(Duration.ofDays(10_957)).plus(second), Synctest.now());
            Context cancelled = never.withCancel();
            cancelled.cancel();
            s.release(3);
            assertSame(Context.CANCELED, assertThrows(Exception.class, () -> s.acquire(cancelled, 1)), "though it is free");
            assertSame(Context.DEADLINE_EXCEEDED,
                    assertThrows(Exception.class, () -> s.acquire(never.withTimeout(second), 4)), "never free");
            assertThrows(IllegalArgumentException.class, () -> s.acquire(never, -1));
            Context in = never.withTimeout(second.multipliedBy(2));
            acquire(s, in, 3);
            Time.afterFunc(second, () -> s.release(3));
            acquire(s, in, 3);
            s.release(3);
            assertTrue(s.tryAcquire(3), "something is lost");
        });
    }

    /** A waiter that gives up lets those in that waited behind it; one that can never be served blocks no other. */
    @Test
    void givingUpLetsOthersIn() {
        Synctest.test(() -> {
            Semaphore s = new Semaphore(4);
            s.acquire(2);
            Context ctx = Context.background().withCancel();
            Chan<Long> order = Chan.make(8);
            for (long n : new long[] {9, 4, 1, 1}) {
                Go.go(() -> {
                    try {
                        s.acquire(n >= 4 ? ctx : Context.background(), n);
                        order.send(n);
                    } catch (Exception e) {
                        order.send(-n);
                    }
                });
                Synctest.await();
                if (n == 9) {
                    assertTrue(s.tryAcquire(1), "who can never be served stands in the way");
                    s.release(1);
                }
            }
            assertEquals(0, order.len());
            ctx.cancel();
            Synctest.await();
            assertEquals(4, order.len());
            long sum = 0;
            for (int i = 0; i < 4; i++) {
                sum += order.recv();
            }
            assertEquals(-11, sum);
            assertFalse(s.tryAcquire(1));
        });
    }

    /** Time, cancellation and releases race, from goroutines and threads: nothing is lost or doubled. */
    @Stress
    void givingUpRaces() {
        long size = 3;
        Semaphore s = new Semaphore(size);
        AtomicLong held = new AtomicLong();
        try (TestGmp gmp = TestGmp.procs(4)) {
            Crew.run(gmp, 8, 2, 2, id -> {
                Random random = new Random(id);
                for (int i = 0; i < 1_000; i++) {
                    long n = 1 + random.nextInt((int) size + 1); // One more than there is, at times.
                    Context ctx = Context.background().withTimeout(Duration.ofNanos(random.nextInt(100_000)));
                    try {
                        s.acquire(ctx, n);
                        assertTrue(held.addAndGet(n) <= size);
                        if (i % 8 == 0) {
                            Thread.yield();
                        }
                        held.addAndGet(-n);
                        s.release(n);
                    } catch (Exception e) {
                        assertSame(Context.DEADLINE_EXCEEDED, e);
                    }
                    ctx.cancel();
                }
            });
        }
        assertTrue(s.tryAcquire(size), "something is lost");
    }

    @Test
    void misuse() {
        Semaphore s = new Semaphore(2);
        assertEquals("semaphore: released more than held",
                assertThrows(IllegalStateException.class, () -> s.release(1)).getMessage());
        s.acquire(2);
        assertThrows(IllegalStateException.class, () -> s.release(3));
        s.release(2);
        assertThrows(IllegalArgumentException.class, () -> s.acquire(-1));
        assertThrows(IllegalArgumentException.class, () -> s.tryAcquire(-1));
        assertThrows(IllegalArgumentException.class, () -> s.release(-1));
        assertThrows(IllegalArgumentException.class, () -> new Semaphore(-1));
    }
}
