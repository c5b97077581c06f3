// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

/** {@link ChanSubscription}: an end that meets a start. */
class ChanSubscriptionTest {
    /** A publisher that subscribes during a close gets a cancel, and so sends no more. */
    @Test
    void closedAsItBegins() throws InterruptedException {
        ChanSubscription<Integer> in = new ChanSubscription<>(1);
        AtomicInteger cancelled = new AtomicInteger();
        Thread closer;
        synchronized (in) { // The lock of the end.
            closer = Thread.ofPlatform().start(in::close);
            while (closer.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            in.subscriber().onSubscribe(new Flow.Subscription() {
                @Override
                public void request(long n) {
                }

                @Override
                public void cancel() {
                    cancelled.incrementAndGet();
                }
            });
        }
        closer.join();
        assertEquals(1, cancelled.get());
    }
}
