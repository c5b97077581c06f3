// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.testing.Stress;

/** {@link ChanSubscription}: ends that meet a start. */
class ChanSubscriptionTest {
    private static final int ROUNDS = 20_000;

    /** Whichever comes first, a subscription that was closed is cancelled, so that its publisher sends no more. */
    @Stress
    void closedAsItBegins() throws Exception {
        CyclicBarrier both = new CyclicBarrier(2);
        AtomicInteger cancelled = new AtomicInteger();
        ChanSubscription<?>[] next = new ChanSubscription<?>[1];
        Thread closer = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < ROUNDS; i++) {
                await(both);
                next[0].close();
                await(both);
            }
        });
        for (int i = 1; i <= ROUNDS; i++) {
            next[0] = new ChanSubscription<Integer>(1);
            Flow.Subscriber<?> s = next[0].subscriber();
            await(both);
            s.onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long n) {
                }

                @Override
                public void cancel() {
                    cancelled.incrementAndGet();
                }
            });
            await(both);
            assertEquals(i, cancelled.get());
        }
        closer.join();
    }

    private static void await(CyclicBarrier b) {
        try {
            b.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
