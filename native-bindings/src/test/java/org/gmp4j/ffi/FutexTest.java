// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

// Apart from the runner: a system call cannot be interrupted.
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FutexTest {
    private static final long PAGE = 4096;

    private long word;

    @BeforeEach
    void map() {
        word = Memory.map(PAGE);
    }

    @AfterEach
    void unmap() {
        Memory.unmap(word, PAGE);
    }

    private void set(int value) {
        AddressSpace.ALL.set(ValueLayout.JAVA_INT, word, value);
    }

    @Test
    void anotherValueIsEagain() {
        set(7);
        assertEquals(Errno.EAGAIN, Futex.await(word, 6));
        assertEquals(Errno.EAGAIN, Futex.await(word, 6, 1_000_000_000));
        assertEquals(Errno.EAGAIN, Futex.await(word, 6, -1));
    }

    @Test
    void theTimeoutIsRelativeAndMonotonic() {
        for (long nanos : new long[] {0, 1, 30_000_000}) {
            long start = Clock.monotonicNanos();
            assertEquals(Errno.ETIMEDOUT, Futex.await(word, 0, nanos));
            long took = Clock.monotonicNanos() - start;
            assertTrue(took >= nanos, nanos + " ns asked, " + took + " slept");
            assertTrue(took < 10_000_000_000L, nanos + " ns asked, " + took + " slept");
        }
    }

    @Test
    void aTimeoutBeyondASecond() {
        long start = Clock.monotonicNanos();
        assertEquals(Errno.ETIMEDOUT, Futex.await(word, 0, 1_050_000_000));
        long took = Clock.monotonicNanos() - start;
        assertTrue(took >= 1_050_000_000, took + " slept");
    }

    @Test
    void wakeWithoutSleepersWakesNobody() {
        assertEquals(0, Futex.wake(word, Integer.MAX_VALUE));
    }

    @Test
    void wakeEndsAWaitWithoutLimit() throws Exception {
        wakes(() -> Futex.await(word, 0));
    }

    @Test
    void wakeEndsAWaitWithALimit() throws Exception {
        wakes(() -> Futex.await(word, 0, TimeUnit.MINUTES.toNanos(1)));
    }

    @Test
    void aNegativeTimeoutIsForEver() throws Exception {
        wakes(() -> Futex.await(word, 0, -1));
        wakes(() -> Futex.await(word, 0, Long.MIN_VALUE));
    }

    private void wakes(IntSupplier wait) throws Exception {
        CompletableFuture<Integer> result = new CompletableFuture<>();
        Thread sleeper = Thread.ofPlatform().start(() -> result.complete(wait.getAsInt()));
        while (Futex.wake(word, 1) == 0) {
            assertTrue(sleeper.isAlive(), "came back without a wake: " + result.getNow(-1));
            Thread.onSpinWait();
        }
        assertEquals(0, result.get(10, TimeUnit.SECONDS));
        sleeper.join();
    }

    @Test
    void wakesAsManyAsAsked() throws Exception {
        // Nothing tells when a thread has gone to sleep, so once in a while a try comes too early.
        for (int attempt = 1; wakeTwoOfThree() != 2; attempt++) {
            assertTrue(attempt < 20, "wake(2) never woke 2 of 3 sleepers");
        }
    }

    private int wakeTwoOfThree() throws InterruptedException {
        AtomicInteger back = new AtomicInteger();
        Thread[] sleepers = new Thread[3];
        for (int i = 0; i < sleepers.length; i++) {
            sleepers[i] = Thread.ofPlatform().start(() -> {
                Futex.await(word, 0);
                back.incrementAndGet();
            });
        }
        Thread.sleep(20);
        int woken = Futex.wake(word, 2);
        int rest = 3 - woken;
        while (rest > 0) {
            rest -= Futex.wake(word, 1);
        }
        for (Thread sleeper : sleepers) {
            sleeper.join();
        }
        assertEquals(3, back.get());
        assertEquals(0, Futex.wake(word, 1));
        return woken;
    }

    @Test
    void worksOnAVirtualThread() throws Exception {
        CompletableFuture<Integer> result = new CompletableFuture<>();
        Thread.startVirtualThread(() -> result.complete(Futex.await(word, 0, 1_000_000)));
        assertEquals(Errno.ETIMEDOUT, result.get(10, TimeUnit.SECONDS));
    }

    @Test
    void aMisalignedWordIsAnError() {
        assertEquals(Errno.EINVAL, Futex.await(word + 1, 0, 1_000_000));
        NativeException e = assertThrows(NativeException.class, () -> Futex.wake(word + 1, 1));
        assertEquals(
                "futex_wake(0x" + Long.toHexString(word + 1) + ") failed: EINVAL (Invalid argument)", e.getMessage());
    }

    @Test
    void compiledCallsDoNotAllocate() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long allocated = Long.MAX_VALUE;
        // Until the JIT has compiled the loop, the interpreter boxes.
        for (int round = 0; round < 200 && allocated > 1_000; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 10_000; i++) {
                Futex.await(word, 1);
                Futex.await(word, 1, 5);
                Futex.wake(word, 1);
            }
            allocated = threads.getCurrentThreadAllocatedBytes() - before;
        }
        assertTrue(allocated <= 1_000, allocated + " bytes in 30,000 calls");
    }
}
