// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.testing.PinningCall;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The steps of {@link LeakSearch}. */
class LeakSearchTest {
    /** The world is not held for goroutines that sleep on their threads. */
    @Test
    void lockedAndPinned() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            Scheduler[] s = new Scheduler[1];
            gmp.go(() -> {
                Go.lockOSThread();
                c.recv();
            });
            gmp.go(() -> PinningCall.run(c::recv));
            gmp.run(() -> {
                s[0] = GStack.mine().scheduler();
                TestGmp.awaitOthers();
            });
            boolean[] settled = new boolean[1];
            s[0].withWorldStopped(() -> settled[0] = LeakSearch.settle(s[0]));
            assertTrue(settled[0]);
            c.close();
        }
    }
}
