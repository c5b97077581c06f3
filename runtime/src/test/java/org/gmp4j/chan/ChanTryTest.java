// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.queue.WaitQ;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Tag;

/** Tries on a channel, which look without its lock, beside operations that change it. */
@Tag("ring")
class ChanTryTest {
    private static void go(int procs, Runnable body) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(body);
        }
    }

    /** Go: {@code TestNonblockRecvRace}: a receive that does not wait sees what was sent before the close. */
    @Stress
    void nonblockRecvRace() {
        go(2, () -> {
            for (int i = 0; i < 5_000; i++) {
                Chan<Integer> c = Chan.make(1);
                c.send(1);
                WaitGroup wg = new WaitGroup();
                wg.go(() -> assertNotNull(c.tryRecv(), "the value was there"));
                c.close();
                wg.await();
            }
        });
    }

    /** A try never finds a closed channel drained while an element that was sent before the close is there. */
    @Stress
    void lastElementBeforeTheClose() {
        go(2, () -> {
            for (int i = 0; i < 20_000; i++) {
                Chan<Integer> c = Chan.make(1);
                WaitGroup wg = new WaitGroup();
                wg.go(() -> {
                    c.send(1);
                    c.close();
                });
                Chan.Recv<Integer> r = c.tryRecvOk();
                while (r == null) {
                    Go.gosched();
                    r = c.tryRecvOk();
                }
                assertTrue(r.ok(), "closed, and the element is still there");
                wg.await();
            }
        });
    }

    /** A full channel at which senders wait is never empty, and never has room, for those that try without the lock. */
    @Stress
    void neverEmpty() throws InterruptedException {
        Chan<Integer> c = Chan.make(1);
        WaitQ senders = ((Hchan) c).sendq;
        int n = 30_000;
        AtomicInteger left = new AtomicInteger(n);
        try (TestGmp gmp = TestGmp.procs(1)) {
            for (int i = 0; i < 3; i++) { // Two of them always wait.
                gmp.go(() -> {
                    while (left.getAndDecrement() > 0) {
                        c.send(1);
                    }
                });
            }
            while (senders.isEmptyVolatile()) {
                Thread.onSpinWait();
            }
            Threads receivers = new Threads().add(2, "receiver", () -> {
                while (left.get() > 3) {
                    assertNotNull(c.tryRecv());
                    while (left.get() > 3 && senders.isEmptyVolatile()) {
                        Thread.onSpinWait();
                    }
                }
            }).start();
            receivers.join();
            while (left.get() > -3 || c.len() > 0) {
                c.tryRecv();
            }
        }
    }
}
