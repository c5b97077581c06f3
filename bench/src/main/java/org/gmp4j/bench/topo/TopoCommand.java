// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.topo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.report.JsonText;
import org.gmp4j.bench.report.OutputFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gmp topo}: the machine as the scheduler sees it. */
@Command(
        name = "topo",
        description = "Show CPUs, cores, caches, packages, NUMA nodes and cgroup limits, and what the scheduler would choose.")
public final class TopoCommand implements Callable<Integer> {
    private static final int FAILED = 1;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--sysfs",
            paramLabel = "FOLDER",
            description = "A recorded machine in place of this one: the folders sys and proc, copied, are in FOLDER.")
    private Path sysfs;

    @Option(names = "--machine", paramLabel = "NAME", description = "One of the machines that come with gmp4j: ${COMPLETION-CANDIDATES}.",
            completionCandidates = MachineNames.class)
    private String machine;

    @Option(names = "--affinity", paramLabel = "POLICY", split = ";", defaultValue = "compact;scatter;cores;pernode",
            description = "Policies to show, with semicolons between them: compact, scatter, cores, pernode, perhaps with :reserve=2"
                    + " behind, or a list of CPUs (default: ${DEFAULT-VALUE}).")
    private List<String> policies;

    @Option(names = "--json", paramLabel = "FILE", description = "Write it to FILE too.")
    private Path json;

    @Option(names = "--svg", paramLabel = "FILE",
            description = "Write a picture to FILE, with the Ps of the first policy that pins each to one CPU.")
    private Path svg;

    /** Makes the command; picocli calls this. */
    public TopoCommand() {
    }

    @Override
    public Integer call() {
        if (sysfs != null && machine != null) {
            throw new ParameterException(spec.commandLine(), "--sysfs and --machine both name a machine");
        }
        OutputFiles files = new OutputFiles(spec);
        files.add("--json", json);
        files.add("--svg", svg);
        Topology topology = topology();
        TopoReport report = new TopoReport(topology, policies(topology));
        spec.commandLine().getOut().print(report.text());
        spec.commandLine().getOut().flush();
        try {
            files.write(Map.of("--json", () -> JsonText.of(report.json()), "--svg", () -> new TopoPicture(report).svg()));
            return 0;
        } catch (IOException e) {
            spec.commandLine().getErr().println("gmp: " + e.getMessage().replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    private List<Affinity> policies(Topology topology) {
        List<Affinity> all = new ArrayList<>();
        for (String policy : policies) {
            try {
                all.add(Affinity.parse(policy, topology));
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), "--affinity: " + e.getMessage(), e);
            }
            if (all.getLast().places(topology).isEmpty()) {
                throw new ParameterException(spec.commandLine(), "--affinity: \"" + policy + "\" gives no P a place");
            }
        }
        return all;
    }

    private Topology topology() {
        try {
            if (sysfs != null) {
                return Topology.recorded(sysfs);
            }
            if (machine != null) {
                return Machines.read(machine);
            }
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), (sysfs != null ? "--sysfs: " : "--machine: ") + e.getMessage(), e);
        }
        Topology.problems().forEach(p -> spec.commandLine().getErr().println("gmp: " + p + "; taken as not told."));
        return Topology.system();
    }
}
