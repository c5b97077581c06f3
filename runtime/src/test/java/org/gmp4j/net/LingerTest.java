// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.net;

import static org.gmp4j.net.Io.thrown;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.Go;
import org.gmp4j.net.Io.Pair;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** A close that waits in the kernel for bytes to be sent waits without the P: others run meanwhile. */
class LingerTest {
    private static final int CLOSE_SECONDS = 1;

    @Test
    void othersRunMeanwhile() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1); Pair p = Pair.open()) {
            p.a().setWriteBuffer(4096);
            p.b().setReadBuffer(4096);
            p.a().setWriteDeadlineAfter(Duration.ofMillis(50));
            assertInstanceOf(SocketTimeoutException.class, thrown(() -> p.a().write(new byte[4 << 20], 0, 4 << 20)));
            AtomicInteger ticks = new AtomicInteger();
            AtomicBoolean closed = new AtomicBoolean();
            gmp.go(() -> {
                while (!closed.get()) {
                    ticks.incrementAndGet();
                    Go.sleep(Duration.ofMillis(10));
                }
            });
            gmp.run(() -> {
                assertEquals(null, thrown(() -> p.a().setLinger(CLOSE_SECONDS)));
                Go.sleep(Duration.ofMillis(20));
                int before = ticks.get();
                long begun = System.nanoTime();
                p.a().close();
                long took = System.nanoTime() - begun;
                int after = ticks.get();
                closed.set(true);
                assertTrue(took > CLOSE_SECONDS * 900_000_000L, () -> "took " + took);
                assertTrue(after - before > 20, () -> "ticks " + (after - before));
            });
        }
    }
}
