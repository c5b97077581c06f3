// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;


import org.gmp4j.Gmp;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.report.Report;
import org.gmp4j.sched.Ballast;
import org.gmp4j.sched.base.Monitor;
import org.gmp4j.sched.base.Netpoll;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.timer.TimerHeaps;

/** A scheduler of which all is made when the heap becomes full, but for its sysmon's thread. */
final class FullHeapBeginProgram {
    private static final long BEGIN_NANOS = 100_000_000;

    private FullHeapBeginProgram() {
    }

    /** Starts the thread with a full heap. */
    private static final class Late implements Monitor {
        private final Sysmon sysmon;

        Late(Scheduler s) {
            sysmon = new Sysmon(s);
        }

        @Override
        public Watched ofM() {
            return sysmon.ofM();
        }

        @Override
        public Watched ofP() {
            return sysmon.ofP();
        }

        @Override
        public void start() {
            Ballast.fill();
            sysmon.start();
            for (long end = System.nanoTime() + BEGIN_NANOS; System.nanoTime() < end;) {
                Thread.onSpinWait(); // Without an object.
            }
            Ballast.drop();
        }

        @Override
        public Thread stop() {
            return sysmon.stop();
        }

        @Override
        public boolean isCurrent() {
            return sysmon.isCurrent();
        }
    }

    public static void main(String[] args) throws Exception {
        Gmp gmp = Gmp.builder().procs(1).build(); // Initialises classes.
        Scheduler s = Schedinit.schedinit(new Config(1, null, Placement.NONE, org.gmp4j.affinity.StealOrder.UNIFORM, false,
                0, 10_000_000, 10_000_000, 10, -1, 1 << 20, null, false, false, 0, DebugVars.parse("")),
                new TimerHeaps(), Netpoll.NONE, Late::new, Report.ALL);
        boolean closed = Closing.close(s, -1); // Waits for the thread.
        int answer = gmp.call(() -> 42);
        System.out.println(closed ? answer : 0);
        System.exit(0);
    }
}
