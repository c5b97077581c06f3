// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.report.Report;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.base.Timers;
import org.gmp4j.stack.Stack;
import org.gmp4j.stack.Timeout;
import org.gmp4j.struct.RetiredSched;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.timer.TimerHeaps;
import org.junit.jupiter.api.Test;

/** A scheduler that could not be made, or not closed at the first try, leaves nothing behind. */
class SchedinitTest {
    private static Config config() {
        return new Config(1, null, Placement.NONE, StealOrder.UNIFORM, false, 0, 10_000_000, 10_000_000, 10, -1, 1 << 20, null, false,
                false, 0, DebugVars.parse(""));
    }

    /** A poller that has no memory to be closed, the first time. */
    private static final class Unclosed implements Netpoll {
        private int closes;

        @Override
        public long poll(Scheduler s, long delay) {
            return NONE.poll(s, delay);
        }

        @Override
        public void wake(Scheduler s) {
            NONE.wake(s);
        }

        @Override
        public boolean anyWaiters(Scheduler s) {
            return false;
        }

        @Override
        public void close(Scheduler s) {
            if (closes++ == 0) {
                throw new OutOfMemoryError("the last but two");
            }
        }
    }

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
        public boolean check(long mine, long pp) {
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
        public Timeout timeout(Stack st) {
            throw new OutOfMemoryError("halfway");
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
            Config config = config();
            int refused = 0;
            for (int i = 0; i < TRIES; i++) {
                try {
                    Scheduler _ = Schedinit.schedinit(config, new NoTimers(), Netpoll.NONE, Sysmon::new, Report.ALL);
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

    /** A close that failed is tried again, from where it failed. */
    @Test
    void itIsClosedAgain() throws InterruptedException {
        Unclosed poller = new Unclosed();
        Scheduler s = Schedinit.schedinit(config(), new TimerHeaps(), poller, Sysmon::new, Report.ALL);
        assertThrows(OutOfMemoryError.class, () -> Closing.close(s, -1));
        assertTrue(Closing.close(s, -1));
        assertEquals(2, poller.closes);
        assertTrue(Closing.close(s, -1));
        assertEquals(2, poller.closes, "it is over");
    }

    @Test
    void itsStructIsRecycled() {
        Result r = new ChildJvm(Program.class).run();
        assertEquals("100 refused, 100 recycled, 0 live\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
