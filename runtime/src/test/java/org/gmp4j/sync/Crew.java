// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;

import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;

/** The same work from goroutines, plain threads and virtual threads of the JDK's scheduler at a time. */
final class Crew {
    private Crew() {
    }

    /** Runs {@code body} so often of each kind; its argument numbers the workers. Fails if one threw. */
    static void run(TestGmp gmp, int goroutines, int threads, int virtuals, IntConsumer body) {
        AtomicInteger ids = new AtomicInteger();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        Runnable one = () -> {
            try {
                body.accept(ids.getAndIncrement());
            } catch (Throwable t) {
                thrown.compareAndSet(null, t);
            }
        };
        try {
            Threads platform = new Threads().add(threads, "plain", one::run).start();
            List<Thread> virtual = new ArrayList<>();
            for (int i = 0; i < virtuals; i++) {
                virtual.add(Thread.startVirtualThread(one));
            }
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int i = 0; i < goroutines; i++) {
                    wg.go(one);
                }
                wg.await();
            });
            platform.join();
            for (Thread t : virtual) {
                t.join();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        if (thrown.get() != null) {
            throw new AssertionError(thrown.get());
        }
    }
}
