// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.gmp4j.bench.steal.JsonReport;
import org.gmp4j.bench.steal.JsonText;
import org.gmp4j.bench.steal.MachineInfo;
import org.gmp4j.bench.steal.OutputFile;
import org.gmp4j.ffi.Affinity;
import org.gmp4j.ffi.NativeException;
import picocli.CommandLine.Command;
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
            "Each request needs CPU time; latencies count from when it was meant to be sent. Two mixes: in rare 99 of 100"
                    + " need 20 us and one 5 ms, and percentiles are of the short ones; in exp they need 200 us on average,"
                    + " exponentially distributed.",
            "The same server runs on the JDK's scheduler of virtual threads and on this one, in turns, each in a JVM of its"
                    + " own. Ratios are to the JDK's, of medians.",
            ""
        })
public final class ServiceCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final double MAX_SECONDS = 86_400;
    private static final double MAX_LOAD = 200;
    private static final double LEAST_REQUESTS = 100;
    private static final double MICROS = 1e3;
    private static final int MAX_RUNS = 1000;
    private static final long MIN_QUANTUM = 200;
    private static final long MAX_QUANTUM = 60_000_000;

    @Spec
    private CommandSpec spec;

    @Option(names = "--mix", paramLabel = "MIX", description = "rare or exp (default: ${DEFAULT-VALUE}).", defaultValue = "rare")
    private String mix;

    @Option(
            names = "--load",
            paramLabel = "PERCENT",
            description = "How much of the server's CPU the requests need (default: ${DEFAULT-VALUE}).",
            defaultValue = "35")
    private double load;

    @Option(
            names = "--quantum",
            paramLabel = "US",
            split = ",",
            description = "Time slices of this scheduler in microseconds (default: ${DEFAULT-VALUE}).",
            defaultValue = "10000,1000,200")
    private List<Long> quanta;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long each run measures (default: ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private double seconds;

    @Option(
            names = "--warmup",
            paramLabel = "S",
            description = "How long it runs before (default: ${DEFAULT-VALUE}).",
            defaultValue = "4")
    private double warmup;

    @Option(
            names = "--runs",
            paramLabel = "N",
            description = "Runs of each, in turns (default: ${DEFAULT-VALUE}).",
            defaultValue = "2")
    private int runs;

    @Option(names = "--points", paramLabel = "OPTION", description = "The agent's points: on, eager or off (default: on).")
    private String points = "on";

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to FILE too.")
    private Path json;

    /** For picocli. */
    public ServiceCommand() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        Mix m = Mix.of(mix);
        if (m == null) {
            throw bad("--mix is one of " + String.join(", ", Mix.names()));
        }
        if (!(load > 0 && load <= MAX_LOAD)) {
            throw bad("--load is above 0 and at most 200");
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
        if (!quanta.stream().allMatch(q -> q >= MIN_QUANTUM && q <= MAX_QUANTUM)) {
            throw bad("--quantum is a list of numbers from 200 to 60000000");
        }
        double rate = load / 100 * 1e9 / m.meanNanos();
        if (rate * seconds < LEAST_REQUESTS) {
            throw bad("--seconds and --load make less than 100 requests, too few for a percentile");
        }
        if (!List.of("on", "off", "eager").contains(points)) {
            throw bad("--points is on, eager or off");
        }
        BitSet cpus = Affinity.get(0);
        if (cpus.cardinality() < 2) {
            spec.commandLine().getErr().println("gmp: two CPUs are needed, one for the server and one for the client.");
            return FAILED;
        }
        List<Variant> variants = new ArrayList<>(List.of(new Variant("jdk", List.of("jdk"))));
        quanta.stream().distinct().forEach(q -> variants.add(new Variant("gmp4j " + q + " us", List.of("gmp", q.toString()))));
        Trial trial = new Trial(m, rate, warmup, seconds, points, cpus);
        try (OutputFile file = OutputFile.open(spec, "--json", json)) {
            Map<String, List<Trial.Figures>> all = measure(trial, variants);
            summary(all);
            if (file != null) {
                file.write(JsonText.of(report(trial, all)));
            }
            return 0;
        } catch (IOException | NativeException e) {
            spec.commandLine().getErr().println("gmp: " + String.valueOf(e.getMessage()).replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    private record Variant(String name, List<String> arguments) {}

    private ParameterException bad(String what) {
        return new ParameterException(spec.commandLine(), what);
    }

    private Map<String, List<Trial.Figures>> measure(Trial trial, List<Variant> variants)
            throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        out.printf(Locale.ROOT, "%s, %.0f requests/s, %.0f %% of one CPU; latency in us%n", mix, trial.rate(), load);
        out.printf("  %-18s %9s %9s %9s %9s %9s %7s %8s %7s%n", "", "p50", "p90", "p99", "p99.9", "max", "CPU s", "req/s",
                "threads");
        Map<String, List<Trial.Figures>> all = new LinkedHashMap<>();
        for (int run = 0; run < runs; run++) {
            for (Variant v : variants) {
                Trial.Figures f = trial.run(v.arguments, run);
                all.computeIfAbsent(v.name, _ -> new ArrayList<>()).add(f);
                out.printf(Locale.ROOT, "  %-18s %9.0f %9.0f %9.0f %9.0f %9.0f %7.2f %8.0f %7d%n", v.name, f.p50() / MICROS,
                        f.p90() / MICROS, f.p99() / MICROS, f.p999() / MICROS, f.max() / MICROS, f.cpuSeconds(), f.answered(),
                        f.threads());
                out.flush();
            }
        }
        return all;
    }

    private void summary(Map<String, List<Trial.Figures>> all) {
        PrintWriter out = spec.commandLine().getOut();
        out.println("  ratios to the JDK's scheduler");
        List<Trial.Figures> jdk = all.get("jdk");
        all.forEach((name, figures) -> {
            if (figures != jdk) {
                out.printf(Locale.ROOT, "  %-18s %9.2f %9.2f %9.2f %9.2f %9.2f %7.2f %8.2f%n", name,
                        ratio(figures, jdk, Trial.Figures::p50), ratio(figures, jdk, Trial.Figures::p90),
                        ratio(figures, jdk, Trial.Figures::p99), ratio(figures, jdk, Trial.Figures::p999),
                        ratio(figures, jdk, Trial.Figures::max), ratio(figures, jdk, Trial.Figures::cpuSeconds),
                        ratio(figures, jdk, Trial.Figures::answered));
            }
        });
        out.flush();
    }

    private static double ratio(List<Trial.Figures> a, List<Trial.Figures> b, ToDoubleFunction<Trial.Figures> figure) {
        return median(a, figure) / median(b, figure);
    }

    private static double median(List<Trial.Figures> all, ToDoubleFunction<Trial.Figures> figure) {
        double[] v = all.stream().mapToDouble(figure).sorted().toArray();
        return (v[v.length / 2] + v[(v.length - 1) / 2]) / 2;
    }

    private Map<String, Object> report(Trial trial, Map<String, List<Trial.Figures>> all) {
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("machine", JsonReport.machine(MachineInfo.here()));
        report.put("mix", mix);
        report.put("load_percent", load);
        report.put("requests_per_second", trial.rate());
        report.put("seconds", seconds);
        report.put("points", points);
        List<Map<String, Object>> rows = new ArrayList<>();
        all.forEach((name, figures) -> {
            for (Trial.Figures f : figures) {
                Map<String, Object> row = new LinkedHashMap<>();
                row.put("scheduler", name);
                row.put("p50_ns", f.p50());
                row.put("p90_ns", f.p90());
                row.put("p99_ns", f.p99());
                row.put("p999_ns", f.p999());
                row.put("max_ns", f.max());
                row.put("long_p50_ns", f.longP50());
                row.put("answered_per_second", f.answered());
                row.put("cpu_seconds", f.cpuSeconds());
                row.put("threads", f.threads());
                rows.add(row);
            }
        });
        report.put("runs", rows);
        return report;
    }
}
