// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.report.Report;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.junit.jupiter.api.Test;

/** A scheduler that could not be made leaves nothing behind. */
class SchedinitTest {
    /** In which the memory ends halfway. */
    private static final class NoTimers implements Timers {
        @Override
        public void added(long[] pps) {
            throw new OutOfMemoryError("halfway");
        }

        @Override
        public void prepareMove(long from, long to, int before) {
        }

        @Override
        public boolean check(Machine m, long pp) {
            return false;
        }

        @Override
        public long next(long pp) {
            return 0;
        }

        @Override
        public boolean pending(long pp) {
            return false;
        }

        @Override
        public void move(long from, long to) {
        }
    }

    static final class Program {
        private static final int TRIES = 100;

        private Program() {
        }

        public static void main(String[] args) {
            Config config = new Config(1, null, Placement.NONE, org.gmp4j.affinity.StealOrder.UNIFORM, 0, 10_000_000, 10_000_000, 10,
                    -1, 1 << 20, null, false, false, 0, DebugVars.parse(""));
            int refused = 0;
            for (int i = 0; i < TRIES; i++) {
                try {
                    Scheduler _ = Scheduler.schedinit(config, new NoTimers(), Netpoll.NONE, Sysmon::new, Report.ALL);
                } catch (OutOfMemoryError e) {
                    refused++;
                }
            }
            int recycled = 0;
            for (int i = 0; i < TRIES && recycled < TRIES; i++) {
                System.gc();
                recycled += RetiredSched.recycle(0);
            }
            System.out.println(refused + " refused, " + recycled + " recycled, " + Scheduler.live().length + " live");
        }
    }

    @Test
    void itsStructIsRecycled() {
        Result r = new ChildJvm(Program.class).run();
        assertEquals("100 refused, 100 recycled, 0 live\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
