// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.simulate;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.report.JsonText;
import org.gmp4j.bench.report.OutputFiles;
import org.gmp4j.bench.topo.MachineNames;
import org.gmp4j.bench.topo.Machines;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gmp simulate}: the runtime's steal walk and idle lists with many Ps on a machine that is not here. */
@Command(
        name = "simulate",
        description = {
            "Run the scheduler's steal walk, rings and idle lists with simulated Ps on a recorded machine, in simulated time.",
            "",
            "  burst   one goroutine starts four for each P, of 20 µs",
            "  tree    each starts two more, down to sixteen leaves a P, of 1 to 3 µs",
            "  uneven  one in eight Ps gets a goroutine that starts 64, of 1 to 50 µs",
            ""
        })
public final class SimulateCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int MOST_PROCS = 4096;
    private static final int MOST_RUNS = 100;

    @Spec
    private CommandSpec spec;

    @Option(names = "--machine", paramLabel = "NAME", defaultValue = "epyc-2s-nps4", completionCandidates = MachineNames.class,
            description = "The machine (default: ${DEFAULT-VALUE}): ${COMPLETION-CANDIDATES}.")
    private String machine;

    @Option(names = "--procs", paramLabel = "N", split = ",", defaultValue = "64,128,256,512,1024",
            description = "Numbers of Ps (default: ${DEFAULT-VALUE}). More than there are CPUs share them.")
    private List<Integer> procs;

    @Option(names = "--affinity", paramLabel = "POLICY", defaultValue = "scatter",
            description = "Where the Ps are: compact, scatter, cores, pernode, perhaps with :reserve=2 behind, or a list of CPUs"
                    + " (default: ${DEFAULT-VALUE}).")
    private String affinity;

    @Option(names = "--runs", paramLabel = "N", defaultValue = "3",
            description = "How often each, with other random numbers (default: ${DEFAULT-VALUE}).")
    private int runs;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to FILE too.")
    private Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with plots to FILE.")
    private Path html;

    /** Makes the command; picocli calls this. */
    public SimulateCommand() {
    }

    @Override
    public Integer call() {
        procs.stream().filter(n -> n < 2 || n > MOST_PROCS).findFirst().ifPresent(n -> {
            throw bad("--procs is " + n + ": use 2 to " + MOST_PROCS);
        });
        if (runs < 1 || runs > MOST_RUNS) {
            throw bad("--runs is " + runs + ": use 1 to " + MOST_RUNS);
        }
        OutputFiles files = new OutputFiles(spec);
        files.add("--json", json);
        files.add("--html", html);
        Topology topology;
        try {
            topology = Machines.read(machine);
        } catch (IllegalArgumentException e) {
            throw bad("--machine: " + e.getMessage());
        }
        Affinity policy = policy(topology);
        List<Simulation> all = new ArrayList<>();
        for (Simulation.Work work : Simulation.Work.values()) {
            for (int n : procs.stream().distinct().sorted().toList()) {
                for (StealOrder order : StealOrder.values()) {
                    all.add(Simulation.of(topology, policy, work, n, order, runs));
                }
            }
        }
        SimulationReport report = new SimulationReport(machine, topology, policy, runs, all);
        spec.commandLine().getOut().print(report.text());
        spec.commandLine().getOut().flush();
        try {
            files.write(Map.of("--json", () -> JsonText.of(report.json()), "--html", report::html));
            return 0;
        } catch (IOException e) {
            spec.commandLine().getErr().println("gmp: " + e.getMessage().replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    private Affinity policy(Topology topology) {
        try {
            Affinity policy = Affinity.parse(affinity, topology);
            if (!policy.places(topology).isEmpty()) {
                return policy;
            }
        } catch (IllegalArgumentException e) {
            throw bad("--affinity: " + e.getMessage());
        }
        throw bad("--affinity is \"" + affinity + "\", which gives no P a place: use another");
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
