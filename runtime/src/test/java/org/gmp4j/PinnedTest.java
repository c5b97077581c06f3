// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** Goroutines that wait with a class initialiser or a native frame on their stack: only the M waits with them, not the P. */
class PinnedTest {
    private static final Chan<Integer> CLINIT = Chan.make();

    private static final class Initialised {
        static final int VALUE = CLINIT.recv();
    }

    /** A wait of ours in a class initialiser, on one P: the goroutine that ends it can run. */
    @Test
    void classInitialiser() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                wg.go(() -> assertEquals(7, Initialised.VALUE));
                for (int i = 0; i < 100; i++) {
                    Go.gosched();
                }
                CLINIT.send(7);
                wg.await();
            });
            gmp.check();
        }
    }

    @Test
    void nativeFrame() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                WaitGroup wg = new WaitGroup();
                AtomicInteger sum = new AtomicInteger();
                for (int i = 0; i < 5; i++) {
                    wg.go(() -> PinningCall.run(() -> {
                        Thread me = Thread.currentThread();
                        Go.gosched();
                        Go.sleep(Duration.ofNanos(1_000));
                        sum.addAndGet(c.recv());
                        Thread.yield();
                        assertEquals(me, Thread.currentThread());
                    }));
                }
                for (int i = 0; i < 5; i++) {
                    c.send(1);
                }
                wg.await();
                assertEquals(5, sum.get());
            });
            gmp.check();
        }
    }

    /** Many at once, more than Ps, in both directions of a channel, with the world being stopped. */
    @Stress
    void manyPinned() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                WaitGroup wg = new WaitGroup();
                AtomicInteger sum = new AtomicInteger();
                for (int i = 0; i < 20; i++) {
                    boolean send = i % 2 == 0;
                    wg.go(() -> PinningCall.run(() -> {
                        for (int k = 0; k < 50; k++) {
                            if (send) {
                                c.send(1);
                            } else {
                                sum.addAndGet(c.recv());
                            }
                        }
                    }));
                }
                for (int i = 0; i < 20; i++) {
                    Go.gomaxprocs(1 + i % 4);
                    Go.gosched();
                }
                wg.await();
                assertEquals(500, sum.get());
            });
            gmp.check();
        }
    }

    /** It unwinds through the initialiser as on any thread. */
    @Test
    void anExceptionInAClassInitialiser() {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Throwable t = assertThrows(ExceptionInInitializerError.class,
                    () -> gmp.run(() -> assertEquals(0, Failing.VALUE)));
            assertTrue(t.getCause() instanceof IllegalStateException);
        }
    }

    private static final class Failing {
        static final int VALUE = fail();

        private static int fail() {
            Go.gosched();
            throw new IllegalStateException("on purpose");
        }
    }
}
