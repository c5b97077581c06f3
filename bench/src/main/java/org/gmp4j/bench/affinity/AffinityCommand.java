// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.affinity;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.measure.Others;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.JsonText;
import org.gmp4j.bench.report.MachineInfo;
import org.gmp4j.bench.report.OutputFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gmp affinity}: policies and steal orders side by side on this machine. */
@Command(
        name = "affinity",
        description = {
            "Compare affinity policies and steal orders on this machine, with the noise of the comparison.",
            "",
            "  forkjoin  trees of goroutines, each of which starts two and waits for them: many steals",
            "  pairs     producers and consumers, two pairs for each P",
            "  ring      a token for each P that goes round a ring of goroutines",
            "  resp      a service that answers PING, and its clients, by loopback",
            ""
        })
public final class AffinityCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int MOST_RUNS = 1000;
    private static final int MOST_PROCS = 4096;
    private static final double MOST_SECONDS = 3600;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "WORKLOAD", description = "forkjoin, pairs, ring, resp (default: all).")
    private List<String> workloads = List.of();

    @Option(names = "--policy", paramLabel = "POLICY", split = ";", defaultValue = "none;compact;scatter",
            description = "Policies with semicolons between them: none, compact, scatter, cores, pernode, or a list of CPUs"
                    + " (default: ${DEFAULT-VALUE}).")
    private List<String> policies;

    @Option(names = "--order", paramLabel = "ORDER", split = ",", defaultValue = "uniform,nearest,two",
            description = "Steal orders: uniform, nearest, two (default: ${DEFAULT-VALUE}). Nearest is left out where the policy is none.")
    private List<String> orders;

    @Option(names = "--procs", paramLabel = "N", description = "Ps (default: what this machine leaves to the process).")
    private Integer procs;

    @Option(names = "--runs", paramLabel = "N", defaultValue = "9", description = "Rounds, 5 or more (default: ${DEFAULT-VALUE}).")
    private int runs;

    @Option(names = "--seconds", paramLabel = "S", defaultValue = "0.5",
            description = "How long each turn takes (default: ${DEFAULT-VALUE}).")
    private double seconds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to FILE too, with each round.")
    private Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with plots to FILE.")
    private Path html;

    /** Makes the command; picocli calls this. */
    public AffinityCommand() {
    }

    @Override
    public Integer call() {
        List<Workload> wanted = new ArrayList<>();
        for (String w : workloads) {
            wanted.add(Stream.of(Workload.values()).filter(v -> v.name().toLowerCase(Locale.ROOT).equals(w)).findFirst()
                    .orElseThrow(() -> bad("there is no workload '" + w + "': use forkjoin, pairs, ring or resp")));
        }
        if (runs < Bootstrap.LEAST || runs > MOST_RUNS) {
            throw bad("--runs is " + runs + ": use " + Bootstrap.LEAST + " to " + MOST_RUNS + ", fewer say nothing");
        }
        if (!(seconds > 0 && seconds <= MOST_SECONDS)) {
            throw bad("--seconds is above 0, and at most " + Format.plain(MOST_SECONDS));
        }
        int ps = procs == null ? Math.min(MOST_PROCS, Topology.systemProcs()) : procs;
        if (ps < 1 || ps > MOST_PROCS) {
            throw bad("--procs is " + ps + ": use 1 to " + MOST_PROCS);
        }
        List<Variant> variants = variants();
        OutputFiles files = new OutputFiles(spec);
        files.add("--json", json);
        files.add("--html", html);
        List<Experiment> all = new ArrayList<>();
        Others others = new Others(runs);
        for (Workload w : wanted.isEmpty() ? List.of(Workload.values()) : wanted) {
            Experiment e = new Experiment(w, variants, ps, seconds);
            e.run(runs, w.ordinal(), others);
            all.add(e);
        }
        AffinityReport report = new AffinityReport(MachineInfo.here(), ps, runs, seconds, all, others.summary());
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

    private List<Variant> variants() {
        List<Variant> variants = new ArrayList<>();
        try {
            for (String policy : policies) {
                Affinity affinity = Affinity.parse(policy);
                for (String o : orders) {
                    StealOrder order = StealOrder.parse(o);
                    Variant v = new Variant(affinity, order);
                    if ((order != StealOrder.NEAREST || !affinity.equals(Affinity.none())) && !variants.contains(v)) {
                        variants.add(v);
                    }
                }
            }
        } catch (IllegalArgumentException e) {
            throw bad(e.getMessage());
        }
        if (variants.size() < 2) {
            throw bad("there is nothing to compare: name two policies or orders, and nearest with a policy other than none");
        }
        return variants;
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
