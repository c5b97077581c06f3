// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.gmp4j.affinity.Topology;
import org.gmp4j.testing.ChildJvm;
import org.junit.jupiter.api.Test;

/** Places are dealt again when the CPUs of the process change; seen from outside, in a process of its own. */
class PlacementFollowsTest {
    @Test
    void theProcessesCpus() {
        assumeTrue(Topology.systemCpus().cardinality() >= 2);
        ChildJvm jvm = new ChildJvm(FollowProgram.class).env("GMPMAXPROCS", "");
        ChildJvm.Result r = jvm.run();
        assertEquals("at first: right\non one CPU: right\non all again: right\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Only where that is asked for, as on the guest of bench/numa-guest: it takes a CPU from the whole machine. */
    @Test
    void cpusThatGoOffline() {
        assumeTrue("on".equals(System.getenv("GMP_TEST_HOTPLUG")), "not asked for");
        ChildJvm.Result r = new ChildJvm(FollowProgram.class).env("GMPMAXPROCS", "").run("hotplug");
        assertEquals("at first: right\none CPU is offline: right\nit is back: right\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
