// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.P;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The model without run queues per P ({@code gmp.model=gm}). */
class GMModelTest {
    private static final int GOROUTINES = 10_000;

    /** Passes tokens on 4 Ps and prints their sum, and what was ever on a P. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            try (TestGmp gmp = TestGmp.with(b -> b.procs(4))) {
                long[] sum = new long[1];
                gmp.run(() -> {
                    Chan<Integer> c = Chan.make();
                    for (int i = 0; i < GOROUTINES; i++) {
                        int token = i;
                        Go.go(() -> {
                            Go.gosched();
                            c.send(token);
                        });
                    }
                    for (int i = 0; i < GOROUTINES; i++) {
                        sum[0] += c.recv();
                    }
                });
                int[] kept = new int[1];
                Scheduler s = gmp.scheduler();
                s.withWorldStopped(() -> { // Or one that ends is on its P for a moment.
                    for (Processor pr : s.procs()) {
                        kept[0] += Runq.tail(pr.pp) + P.GFREEN.get(pr.pp);
                    }
                });
                System.out.println(sum[0] + " " + kept[0]);
            }
        }
    }

    @Test
    void oneQueue() {
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Dgmp.model=gm").run();
        assertEquals(0, r.exit(), r::toString);
        assertEquals("%d 0".formatted((long) GOROUTINES * (GOROUTINES - 1) / 2), r.out().strip());
    }

    @Test
    void unknown() {
        ChildJvm.Result r = new ChildJvm(Program.class).with("-Dgmp.model=go").run();
        assertTrue(r.err().contains("gmp.model is go: use gmp, or gm for one queue"), r::toString);
    }
}
