package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** {@code Builder.stalled}: who is told of goroutines that keep a P from others. */
class StallsTest {
    @Test
    void ofAGoroutineThatRuns() throws InterruptedException {
        BlockingQueue<Gmp.Stall> told = new LinkedBlockingQueue<>();
        AtomicBoolean stop = new AtomicBoolean();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)).stalled(told::add))) {
            long[] goid = new long[1];
            gmp.go(() -> {
                goid[0] = Go.goid();
                spin(stop);
            });
            gmp.run(() -> { }); // It waits for the P, and gets it.
            Gmp.Stall stall = told.take();
            stop.set(true);
            assertEquals(goid[0], stall.goid());
            assertTrue(stall.running());
            assertTrue(stall.stack().stream().anyMatch(f -> f.getMethodName().equals("spin")), stall::toString);
        }
    }

    private static void spin(AtomicBoolean stop) {
        while (!stop.get()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void oneThatThrowsIsNotToldAgain() throws InterruptedException {
        BlockingQueue<Gmp.Stall> told = new LinkedBlockingQueue<>();
        AtomicBoolean stop = new AtomicBoolean();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMillis(1)).stalled(s -> {
            told.add(s);
            throw new IllegalStateException("told");
        }))) {
            gmp.go(() -> spin(stop));
            gmp.run(() -> { });
            Gmp.Stall unused = told.take();
            stop.set(true);
            gmp.run(() -> { }); // Sysmon lives.
            assertTrue(told.isEmpty());
        }
    }
}
