// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.junit.jupiter.api.Test;

class ChanTimerTest {
    private static final Duration LONG = Duration.ofHours(1);

    /** Sees that the timer is due and takes nothing, as a select that chooses another case. */
    private static void look(Hchan c) {
        c.lock.lock();
        c.timerDue();
        c.lock.unlock();
    }

    /** A look that takes nothing leaves the time to those that wait. */
    @Test
    void whoWaitsIsServed() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                for (int i = 0; i < 200; i++) {
                    Timer t = Time.newTimer(Duration.ofNanos(100_000));
                    boolean[] received = new boolean[1];
                    WaitGroup wg = new WaitGroup();
                    wg.go(() -> received[0] = t.c().recv() != null);
                    Go.gosched();
                    long end = System.nanoTime() + 300_000;
                    while (System.nanoTime() < end) {
                        GStack st = GStack.enter();
                        look(t.c());
                        GStack.exit(st);
                    }
                    wg.await();
                    assertTrue(received[0]);
                }
            });
        }
    }

    /** Go: {@code TestChan}: a time that is in the buffer already does not come out after a stop or reset. */
    @Test
    void noStaleTime() {
        Timer t = Time.newTimer(Duration.ZERO);
        look(t.c());
        assertEquals(0, t.c().len());
        assertTrue(t.reset(LONG));
        assertNull(t.c().tryRecv());
        t.reset(Duration.ZERO);
        look(t.c());
        assertTrue(t.stop());
        assertNull(t.c().tryRecv());
        assertFalse(t.stop());
        t.reset(Duration.ZERO);
        look(t.c());
        assertNotNull(t.c().tryRecv());
        assertFalse(t.stop());
        Ticker ticker = Time.newTicker(Duration.ofNanos(1));
        look(ticker.c());
        ticker.reset(LONG);
        assertNull(ticker.c().tryRecv());
    }
}
