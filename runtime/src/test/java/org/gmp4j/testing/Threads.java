// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/** Plain threads that start together and whose failures fail the test. */
public final class Threads {
    /** Something that may throw. */
    @FunctionalInterface
    public interface Body {
        /** Runs. */
        void run() throws Throwable;
    }

    private final AtomicReference<Throwable> failed = new AtomicReference<>();
    private final List<Thread> threads = new ArrayList<>();
    private final CountDownLatch begin = new CountDownLatch(1);

    /** Adds a thread. */
    public Threads add(String name, Body body) {
        threads.add(Thread.ofPlatform().daemon().name(name).unstarted(() -> {
            try {
                begin.await();
                body.run();
            } catch (Throwable t) {
                failed.compareAndSet(null, t);
            }
        }));
        return this;
    }

    /** Adds {@code n} threads. */
    public Threads add(int n, String name, Body body) {
        for (int i = 0; i < n; i++) {
            add(name + i, body);
        }
        return this;
    }

    /** Starts them all. */
    public Threads start() {
        threads.forEach(Thread::start);
        begin.countDown();
        return this;
    }

    /** Waits for them all. */
    public void join() throws InterruptedException {
        for (Thread t : threads) {
            t.join();
        }
        if (failed.get() != null) {
            throw new AssertionError(failed.get());
        }
    }

    /** Starts and waits. */
    public void run() throws InterruptedException {
        start().join();
    }
}
