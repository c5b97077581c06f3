// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.simulate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.CommandLineRun;
import org.gmp4j.bench.HtmlPage;
import org.gmp4j.bench.topo.Machines;
import org.gmp4j.queue.Places;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SimulationTest {
    private static final int PROCS = 24;

    /** Everything is run, in no less time than the work takes, and the same random numbers give the same result. */
    @ParameterizedTest
    @EnumSource(Simulation.Work.class)
    void endsAndRepeats(Simulation.Work work) {
        Topology epyc = Machines.read("epyc-2s-nps4");
        for (StealOrder order : StealOrder.values()) {
            Simulation once = Simulation.of(epyc, Affinity.scatter(), work, PROCS, order, 1);
            Simulation again = Simulation.of(epyc, Affinity.scatter(), work, PROCS, order, 1);
            assertEquals(Arrays.toString(once.over()), Arrays.toString(again.over()));
            assertEquals(once.doneNanos(), again.doneNanos());
            assertTrue(once.steals() > 0 && once.probes() >= once.steals(), once::toString);
            assertEquals(1, Arrays.stream(once.over()).sum(), 1e-9);
            assertTrue(once.lockBusy() <= 1 && once.wordBusy() <= 1, once::toString);
        }
        assertTrue(Simulation.of(epyc, Affinity.scatter(), Simulation.Work.BURST, PROCS, StealOrder.UNIFORM, 1).doneNanos()
                >= 4.0 * 20_000, "four of 20 us for each P");
    }

    /** The nearest first takes more from nearby and less from afar than the uniform order, which takes by how many Ps there are. */
    @Test
    void nearestStealsNearby() {
        Topology epyc = Machines.read("epyc-2s-nps4");
        double[] uniform = Simulation.of(epyc, Affinity.scatter(), Simulation.Work.TREE, 128, StealOrder.UNIFORM, 1).over();
        double[] nearest = Simulation.of(epyc, Affinity.scatter(), Simulation.Work.TREE, 128, StealOrder.NEAREST, 1).over();
        int remote = Places.Distance.REMOTE.ordinal();
        int cache = Places.Distance.CACHE.ordinal();
        assertEquals(0.5, uniform[remote], 0.2, "half of the Ps are in the other package");
        assertTrue(nearest[remote] < uniform[remote] / 2 && nearest[cache] > 3 * uniform[cache],
                Arrays.toString(nearest) + " " + Arrays.toString(uniform));
    }

    /** A resource is never given to two at a time, and fills gaps before what was asked for ahead. */
    @Test
    void resource() {
        Model.Resource r = new Model.Resource();
        assertEquals(110, r.use(100, 10));
        assertEquals(520, r.use(500, 20));
        assertEquals(120, r.use(105, 10), "behind the first");
        assertEquals(530, r.use(500, 10), "behind the second");
        assertEquals(560, r.use(485, 30), "no room before it");
        assertEquals(5 + 20 + 45, r.waited);
    }

    /** What the table shows as half is half in the sentence below it, too. */
    @Test
    void limits() {
        List<Simulation> all = List.of(busy(256, 0.494), busy(512, 0.4973), busy(1024, 0.65));
        List<String> said = new SimulationReport("m", Machines.read("container-v1"), Affinity.scatter(), 1, all).limits();
        assertEquals("burst, uniform: sched.lock is busy for half of the time or more from 512 Ps on. What would lift it: a list of the"
                + " global queue for each node, with a lock of its own, or takes of several goroutines at once.", said.getFirst());
        assertEquals("burst, uniform: the spinners' word is busy for at most 0% of the time.", said.get(1));
        assertTrue(said.get(2).startsWith("burst, uniform: from 1,024 Ps on all is done before half of them have run anything: a thread"),
                said.get(2));
    }

    private static Simulation busy(int procs, double lock) {
        double spread = procs < 1024 ? 1 : Double.POSITIVE_INFINITY;
        return new Simulation(Simulation.Work.BURST, procs, StealOrder.UNIFORM, 1, spread, 1, 1, new double[Places.DISTANCES], lock, 1,
                0, 1);
    }

    @Test
    void reports(@TempDir Path dir) throws Exception {
        Path json = dir.resolve("s.json");
        Path html = dir.resolve("s.html");
        CommandLineRun run = CommandLineRun.of("simulate", "--machine=arm-server", "--procs=8,16", "--runs=1", "--json=" + json,
                "--html=" + html);
        assertEquals(0, run.code(), run.err());
        assertTrue(run.out().contains("sched.lock is busy") && run.out().contains("Left out"), run.out());
        assertTrue(Files.readString(json).contains("\"leftOut\""));
        assertTrue(HtmlPage.parse(Files.readString(html)).getElementsByTagName("svg").getLength() >= 9);
    }

    /** With one CPU of each core free, no goroutine is stolen within a core. */
    @Test
    void otherPolicies() {
        for (String policy : List.of("cores", "compact:reserve=4", "0-7")) {
            CommandLineRun run = CommandLineRun.of("simulate", "--machine=container-v1", "--procs=4", "--runs=1",
                    "--affinity=" + policy);
            assertEquals(policy.equals("0-7") ? 2 : 0, run.code(), run.err()); // CPUs 4 to 7 are not ours.
            assertEquals(policy.equals("0-7") ? 1 : 0, run.err().lines().count(), run.err());
        }
        Topology epyc = Machines.read("epyc-2s-nps4");
        Simulation s = Simulation.of(epyc, Affinity.cores(), Simulation.Work.TREE, PROCS, StealOrder.UNIFORM, 1);
        assertEquals(0, s.over()[Places.Distance.CORE.ordinal()]);
    }

    @Test
    void badOptions() {
        for (String option : new String[] {"--procs=1", "--procs=5000", "--procs=x", "--runs=0", "--affinity=near", "--affinity=none",
            "--affinity=256", "--machine=pdp11", "--html=/no/such/d/f"}) {
            CommandLineRun run = CommandLineRun.of("simulate", option);
            assertEquals(2, run.code(), option);
            assertEquals(1, run.err().lines().count(), run.err());
        }
    }
}
