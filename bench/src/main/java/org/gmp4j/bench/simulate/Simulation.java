// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.simulate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.ToDoubleFunction;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.queue.Places;

/**
 * One load, number of Ps and order, a few times with other random numbers; figures are medians. A spread is infinite when half of the Ps
 * never ran.
 */
record Simulation(Work work, int procs, StealOrder order, double doneNanos, double spreadNanos, double steals, double probes,
        double[] over, double lockBusy, double lockWaitNanos, double wordBusy, double wakeups) {

    /** What is to be done. */
    enum Work implements Model.Load {
        /** One goroutine starts four for each P, of 20 µs. */
        BURST {
            @Override
            public int children(int procs, int depth) {
                return depth == 0 ? 4 * procs : 0;
            }

            @Override
            public long work(int depth, Random random) {
                return depth == 0 ? 1_000 : 20_000;
            }
        },
        /** Each starts two more, down to sixteen leaves a P, of 1 to 3 µs. */
        TREE {
            @Override
            public int children(int procs, int depth) {
                return 1 << depth < 16 * procs ? 2 : 0;
            }

            @Override
            public long work(int depth, Random random) {
                return 1_000 + random.nextInt(2_000);
            }
        },
        /** One in eight Ps gets a goroutine that starts 64, of 1 to 50 µs. */
        UNEVEN {
            @Override
            public int children(int procs, int depth) {
                return depth == 0 ? Math.max(1, procs / 8) : depth == 1 ? 64 : 0;
            }

            @Override
            public long work(int depth, Random random) {
                return 1_000 + (depth == 2 ? random.nextInt(49_000) : 0);
            }
        };
    }

    private record Run(double done, double spread, double steals, double probes, double[] over, double lockBusy, double lockWait,
            double wordBusy, double wakeups) {
    }

    static Simulation of(Topology machine, Affinity affinity, Work work, int procs, StealOrder order, int runs) {
        Places places = Places.of(affinity.place(procs, machine), machine);
        List<Run> all = new ArrayList<>();
        for (int seed = 1; seed <= runs; seed++) {
            try (Model m = new Model(places, procs, order, seed)) {
                m.run(work);
                double gs = Math.max(1, Arrays.stream(m.stolen).sum());
                all.add(new Run(m.end, m.spread < 0 ? Double.POSITIVE_INFINITY : m.spread, m.steals, m.probes,
                        Arrays.stream(m.stolen).mapToDouble(n -> n / gs).toArray(),
                        (double) m.lock.held / m.end, m.lock.asked == 0 ? 0 : (double) m.lock.waited / m.lock.asked,
                        (double) m.spinners.held / m.end, m.wakeups));
            }
        }
        double[] over = new double[Places.DISTANCES];
        for (int d = 0; d < over.length; d++) {
            int at = d;
            over[d] = all.stream().mapToDouble(r -> r.over[at]).average().orElse(0);
        }
        return new Simulation(work, procs, order, median(all, Run::done), median(all, Run::spread), median(all, Run::steals),
                median(all, Run::probes), over, median(all, Run::lockBusy), median(all, Run::lockWait), median(all, Run::wordBusy),
                median(all, Run::wakeups));
    }

    private static double median(List<Run> runs, ToDoubleFunction<Run> figure) {
        return Estimate.median(runs.stream().mapToDouble(figure).toArray());
    }
}
