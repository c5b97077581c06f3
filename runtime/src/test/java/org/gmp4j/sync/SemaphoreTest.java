package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
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
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Semaphore s = new Semaphore(4);
                Chan<Long> order = Chan.make(8);
                s.acquire(3);
                for (long n : new long[] {4, 1, 2, 1}) {
                    Go.go(() -> {
                        s.acquire(n);
                        order.send(n);
                    });
                    Go.gosched();
                }
                assertFalse(s.tryAcquire(1), "others wait");
                s.release(1);
                Go.gosched();
                assertEquals(0, order.len());
                s.release(2);
                assertEquals(4, order.recv());
                s.release(4); // All the others fit.
                assertEquals(4, order.recv() + order.recv() + order.recv());
                s.release(4);
            });
        }
    }

    /** Go: {@code TestAcquire} with more than the size: it waits for ever, and nobody behind it. */
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
