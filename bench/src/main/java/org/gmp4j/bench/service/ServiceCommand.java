// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.gmp4j.SpinPolicy;
import org.gmp4j.bench.peers.Toolchains;
import org.gmp4j.bench.report.ResultFiles;
import org.gmp4j.ffi.Affinity;
import org.gmp4j.ffi.NativeException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gmp service}: the latency of a small service on one CPU, under an open-loop client on another. */
@Command(
        name = "service",
        description = {
            "Measure a service: one CPU for the server, one for a client that sends as a Poisson process does.",
            "",
            "Each request needs CPU time; latencies count from when it was meant to be sent. Three mixes: in rare 99 of 100"
                    + " need 20 µs and one 5 ms, and percentiles are of the short ones; in exp they need 200 µs on average,"
                    + " exponentially distributed; in fixed each needs 20 µs.",
            "The same server, with a thread or goroutine for each connection, runs on the JDK's scheduler of virtual"
                    + " threads, in Go, and on this scheduler with each time slice and spin policy, in turns, each in a"
                    + " process of its own. The Go server is built with a Go 1.25 or newer from GMP_GO, GOROOT or PATH;"
                    + " where there is none, its row says so. Figures are medians of the runs, ratios are to the JDK's and to Go's"
                    + " in the same turn, with intervals.",
            "A load is the CPU that requests ask for, of one CPU. What the kernel and the runtime need for each request"
                    + " comes on top: for 20 µs about as much again, so that rare takes 80 %% and fixed does not take"
                    + " 70 %%.",
            ""
        })
public final class ServiceCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final double MAX_SECONDS = 86_400;
    private static final double MAX_LOAD = 200;
    private static final double MAX_RATE = 1_000_000;
    private static final double LEAST_REQUESTS = 100;
    private static final int MAX_RUNS = 1000;
    private static final int MAX_CONNECTIONS = 10_000;
    /** Of each run, beside what is warm-up and what counts. */
    private static final double START_SECONDS = 3.5;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--mix",
            paramLabel = "MIX",
            split = ",",
            description = "rare, exp, fixed (default: ${DEFAULT-VALUE}).",
            defaultValue = "rare")
    private List<String> mixes;

    @Option(
            names = "--load",
            paramLabel = "PERCENT",
            split = ",",
            description = "How much of the server's CPU the requests need; light is 4 (default: light,35,50,70,80,95).")
    private List<String> loads = List.of();

    @Option(
            names = "--rate",
            paramLabel = "N",
            split = ",",
            description = "Requests a second instead of a load.")
    private List<Double> rates = List.of();

    @Option(
            names = "--connections",
            paramLabel = "N",
            description = "From 1 to 10000 (default: ${DEFAULT-VALUE}).",
            defaultValue = "400")
    private int connections;

    @Option(
            names = "--quantum",
            paramLabel = "US",
            split = ",",
            description = "Time slices of this scheduler in microseconds, or, as 200..1000, the least and the most of them"
                    + " (default: ${DEFAULT-VALUE}).",
            defaultValue = "10000,1000,200")
    private List<String> quanta;

    @Option(
            names = "--spin",
            paramLabel = "POLICY",
            split = ",",
            description = "What a thread of this scheduler without work does: go, latency, latency:50us, busy"
                    + " (default: ${DEFAULT-VALUE}).",
            defaultValue = "go")
    private List<String> spins;

    @Option(
            names = "--peers",
            paramLabel = "NAME",
            split = ",",
            description = "Who takes part beside this scheduler with plain sockets: jdk, go, net, none; net is this scheduler with"
                    + " org.gmp4j.net (default: ${DEFAULT-VALUE}).",
            defaultValue = "jdk,go")
    private List<String> peers;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long each run measures (default: ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private double seconds;

    @Option(
            names = "--warmup",
            paramLabel = "S",
            description = "How long it runs before; 0 measures a server that is young (default: ${DEFAULT-VALUE}).",
            defaultValue = "4")
    private double warmup;

    @Option(
            names = "--runs",
            paramLabel = "N",
            description = "Runs of each, in turns (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private int runs;

    @Option(names = "--points", paramLabel = "OPTION", description = "The agent's points: demand, load, eager or off (default: load).")
    private String points = "load";

    @Option(
            names = "--burn",
            description = "Two more processes that use all the CPU they get: one beside the server, which leaves it half of"
                    + " its CPU, and one beside the client, which as root has precedence over it.")
    private boolean burn;

    @Mixin
    private ResultFiles files;

    /** Makes the command; picocli calls this. */
    public ServiceCommand() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<Load> all = loads();
        List<Variant> variants = variants();
        check(all);
        BitSet cpus = Affinity.get(0);
        if (cpus.cardinality() < 2) {
            spec.commandLine().getErr().println("gmp: two CPUs are needed, one for the server and one for the client.");
            return FAILED;
        }
        files.check();
        try {
            Results results = measure(new Results(all, variants), cpus);
            PrintWriter out = spec.commandLine().getOut();
            out.print(Reports.text(results, settings()));
            out.flush();
            if (results.isEmpty()) {
                return FAILED;
            }
            files.write(() -> Reports.json(results, settings()), () -> Reports.page(results, settings()), "Remarks");
            return 0;
        } catch (IOException e) {
            spec.commandLine().getErr().println("gmp: " + String.valueOf(e.getMessage()).replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    // ---- what is asked for

    private List<Load> loads() {
        if (!loads.isEmpty() && !rates.isEmpty()) {
            throw bad("--load and --rate exclude each other");
        }
        List<Load> all = new ArrayList<>();
        for (String name : mixes) {
            Mix mix = Mix.of(name);
            if (mix == null) {
                throw bad("--mix is a list of " + String.join(", ", Mix.names()));
            }
            for (double rate : rates) {
                if (!(rate > 0 && rate <= MAX_RATE)) {
                    throw bad("--rate is above 0 and at most 1000000");
                }
                all.add(Load.requests(mix, rate));
            }
            if (rates.isEmpty()) {
                List<String> wanted = loads.isEmpty() ? List.of(Load.LIGHT, "35", "50", "70", "80", "95") : loads;
                wanted.forEach(load -> all.add(load(mix, load)));
            }
        }
        return all.stream().distinct().toList();
    }

    private Load load(Mix mix, String text) {
        if (text.equals(Load.LIGHT)) {
            return Load.light(mix);
        }
        double percent;
        try {
            percent = Double.parseDouble(text);
        } catch (NumberFormatException e) {
            percent = Double.NaN;
        }
        if (!(percent > 0 && percent <= MAX_LOAD)) {
            throw bad("--load is a list of percentages above 0 and at most 200, or light");
        }
        return Load.percent(mix, percent);
    }

    private List<Variant> variants() {
        List<Variant> all = new ArrayList<>();
        for (String peer : peers) {
            if (!List.of("jdk", "go", "net", "none").contains(peer) || peer.equals("none") && peers.size() > 1) {
                throw bad("--peers is a list of jdk, go, net; or none");
            }
        }
        if (peers.contains("jdk")) {
            all.add(Variant.jdk());
        }
        if (peers.contains("go")) {
            all.add(Variant.go());
        }
        List<Quantum> slices = quanta.stream().map(Quantum::parse).toList();
        if (slices.contains(null)) {
            throw bad("--quantum is a list of numbers from 200 to 60000000, or of two of these, as 200..1000");
        }
        for (String spin : spins) {
            SpinPolicy policy;
            try {
                policy = SpinPolicy.parse(spin);
            } catch (IllegalArgumentException e) {
                throw bad("--spin: " + e.getMessage().replaceAll("\\.$", ""));
            }
            slices.forEach(q -> all.add(Variant.ours(q, policy)));
            if (peers.contains("net")) {
                slices.forEach(q -> all.add(Variant.net(q, policy)));
            }
        }
        return all.stream().distinct().toList();
    }

    private void check(List<Load> all) throws IOException {
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw bad("--connections is from 1 to 10000");
        }
        if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
            throw bad("--seconds is above 0 and at most 86400");
        }
        if (!(warmup >= 0 && warmup <= MAX_SECONDS)) {
            throw bad("--warmup is from 0 to 86400");
        }
        if (runs < 1 || runs > MAX_RUNS) {
            throw bad("--runs is from 1 to 1000");
        }
        if (!List.of("demand", "load", "eager", "off").contains(points)) {
            throw bad("--points is demand, load, eager or off");
        }
        for (Load load : all) {
            if (load.rate() * seconds < LEAST_REQUESTS) {
                throw bad("--seconds and a load of " + load.name() + " make less than 100 requests,"
                        + " too few for a percentile");
            }
        }
        Optional<String> tooMany = Proc.tooManyConnections(connections);
        if (tooMany.isPresent()) {
            throw bad(tooMany.get());
        }
    }

    private Settings settings() {
        String command = "gmp " + String.join(" ", spec.commandLine().getParseResult().originalArgs());
        return new Settings(connections, warmup, seconds, runs, points, burn, command);
    }

    // ---- measuring

    private Results measure(Results results, BitSet cpus) throws IOException, InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        Trial trial = new Trial(settings(), cpus, go(results));
        List<Variant> found = results.variants().stream().filter(v -> !results.missing().containsKey(v)).toList();
        int all = results.loads().size() * runs * found.size();
        double minutes = all * (START_SECONDS + warmup + seconds) / 60;
        err.println("gmp service: " + all + (all == 1 ? " run" : " runs") + ", some "
                + (minutes < 1 ? "seconds" : Math.round(minutes) + " minutes"));
        int n = 0;
        for (Load load : results.loads()) {
            for (int round = 0; round < runs; round++) {
                for (Variant v : found) {
                    String said;
                    try {
                        Figures f = trial.run(load, v, round);
                        results.add(load, v, round, f);
                        said = line(f);
                    } catch (IOException | NativeException e) { // What was measured before is not lost.
                        said = String.valueOf(e.getMessage()).replaceAll("\\.$", "");
                        results.failed(load, v, said);
                    }
                    err.println("gmp service: " + ++n + " of " + all + ": " + load.mix() + ", " + load.name() + ", "
                            + v.name() + ": " + said);
                    err.flush();
                }
            }
        }
        return results;
    }

    private static String line(Figures f) {
        List<String> parts = new ArrayList<>();
        for (Metric m : List.of(Metric.P50, Metric.P90, Metric.P99, Metric.CPU, Metric.ANSWERED, Metric.CARRIERS)) {
            parts.add(m.title() + " " + m.text(m.of(f)));
        }
        return String.join(", ", parts);
    }

    /** Builds Go's server. Returns null where that fails, and then the results say why. */
    private static Toolchains.Program go(Results results) throws IOException, InterruptedException {
        results.versions().put(Variant.Peer.JDK, System.getProperty("java.runtime.version"));
        if (!results.variants().contains(Variant.go())) {
            return null;
        }
        try {
            Toolchains.Program program = new Toolchains(System.getenv()).go("bench/peers/go/service", "service");
            results.versions().put(Variant.Peer.GO, program.version());
            return program;
        } catch (Toolchains.MissingException e) {
            results.missing().put(Variant.go(), e.getMessage());
            return null;
        }
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
