// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The thread of a profile. */
class SamplerTest {
    private static final long INTERVAL = 1_000_000;

    /** The first looks fail, as on a full heap. */
    private static final class Failing extends Sampler {
        final CountDownLatch goesOn = new CountDownLatch(1);
        boolean interrupted;
        private int looks;

        Failing(Scheduler s) {
            super(s, INTERVAL, "gmp-test-sampler");
        }

        @Override
        void look(long elapsed) {
            switch (looks++) {
                case 0 -> throw new OutOfMemoryError("of the test");
                case 1 -> {
                    Thread.currentThread().interrupt();
                    throw new StackOverflowError("of the test");
                }
                case 2 -> throw new NoClassDefFoundError("of the test");
                default -> goesOn.countDown();
            }
            interrupted |= Thread.currentThread().isInterrupted();
        }
    }

    /** A look that finds no memory is left out, and the next one is taken. An interrupt does not keep the thread from its sleep. */
    @Test
    void itsThreadGoesOn() throws InterruptedException {
        try (TestGmp g = TestGmp.procs(1)) {
            Failing f = new Failing(g.scheduler());
            f.start();
            f.goesOn.await();
            f.stop();
            assertFalse(f.interrupted);
        }
    }
}
