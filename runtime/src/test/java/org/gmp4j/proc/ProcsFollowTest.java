// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.report.Report;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.timer.TimerHeaps;
import org.junit.jupiter.api.Test;

/** The number of Ps follows what the machine leaves to the process, until it is set by hand. Limits: TopologyTest. */
class ProcsFollowTest {
    @Test
    void untilSetByHand() throws InterruptedException {
        AtomicInteger cpus = new AtomicInteger(2);
        AtomicBoolean stop = new AtomicBoolean();
        Config config = new Config(
                2, cpus::get, Placement.NONE, StealOrder.UNIFORM, 0, 10_000_000, 10_000_000, 100, -1, 1 << 20, null, false, false, 0,
                DebugVars.OFF);
        Scheduler s = Scheduler.schedinit(config, new TimerHeaps(), Netpoll.NONE, Sysmon::new, Report.ALL);
        s.go(() -> { // Something must run: sysmon looks at no P while all are idle.
            while (!stop.get()) {
                Preempt.point();
            }
        });
        cpus.set(5);
        while (s.gomaxprocs() != 5) {
            Thread.sleep(1);
        }
        cpus.set(1);
        while (s.gomaxprocs() != 1) {
            Thread.sleep(1);
        }
        assertEquals(1, s.setProcs(3));
        cpus.set(4);
        Thread.sleep(1_200); // Longer than a period.
        assertEquals(3, s.gomaxprocs());
        stop.set(true);
        assertTrue(s.close(-1));
    }
}
