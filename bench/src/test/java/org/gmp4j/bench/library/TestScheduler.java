// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.Gmp;

/**
 * A scheduler for a library's test. The test fails when a goroutine throws, when one does not end, and when one is left
 * at the end; the two latter show every goroutine's stack.
 */
final class TestScheduler implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    final Gmp gmp;
    private final AtomicReference<Throwable> uncaught = new AtomicReference<>();

    /** What the thread of a number does. */
    interface Body {
        void run(int number) throws Exception;
    }

    TestScheduler(int procs) {
        gmp = Gmp.builder().procs(procs).uncaught((goid, t) -> failed(t)).build();
    }

    private void failed(Throwable t) {
        if (!uncaught.compareAndSet(null, t)) {
            uncaught.get().addSuppressed(t);
        }
    }

    /** Runs {@code body} in so many threads of the scheduler's factory at a time and waits for their ends. */
    void each(int threads, Body body) throws InterruptedException {
        List<Thread> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int number = i;
            all.add(gmp.threadFactory().newThread(() -> {
                try {
                    body.run(number);
                } catch (Throwable t) { // An assertion too.
                    failed(t);
                }
            }));
        }
        all.forEach(Thread::start);
        long end = System.nanoTime() + PATIENCE.toNanos();
        for (Thread t : all) {
            if (!t.join(Duration.ofNanos(Math.max(0, end - System.nanoTime())))) {
                throw new AssertionError("a thread does not end:\n" + gmp.dump(), uncaught.get());
            }
        }
        throwUncaught();
    }

    private void throwUncaught() {
        if (uncaught.get() != null) {
            throw new AssertionError("a goroutine threw", uncaught.get());
        }
    }

    /** All goroutines have to end. */
    @Override
    public void close() {
        String left = gmp.close(PATIENCE);
        if (!left.isEmpty()) {
            throw new AssertionError("goroutines are left:\n" + left, uncaught.get());
        }
        throwUncaught();
    }
}
