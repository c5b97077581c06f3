// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.resp;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.bench.peers.Toolchains;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.OutputFiles;
import org.gmp4j.ffi.Affinity;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gmp resp}: servers of Redis' protocol under redis-benchmark. */
@Command(
        name = "resp",
        description = {
            "Measure servers of Redis' protocol: one CPU for the server, one for redis-benchmark.",
            "",
            "The server of bench/examples/resp runs on this scheduler with org.gmp4j.net (net) and with java.net.Socket"
                    + " (socket), and on the JDK's scheduler of virtual threads (jdk); beside it run its twin in Go (go), built"
                    + " with a Go 1.25 or newer from GMP_GO, GOROOT or PATH, and the real redis-server (redis). They take"
                    + " turns, each in a new process. redis-benchmark is in Debian's redis-tools.",
            ""
        })
public final class RespCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int MAX_RUNS = 1000;
    private static final int MAX_CONNECTIONS = 10_000;
    private static final int MAX_PIPELINE = 1000;
    private static final double MAX_SECONDS = 3600;
    private static final List<String> TESTS = List.of("ping_mbulk", "set", "get", "incr", "mset");
    /** Of the first run, which warms up: so long a server may take for it. */
    private static final long FIRST_REQUESTS = 20_000;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--servers",
            paramLabel = "NAME",
            split = ",",
            description = "net, socket, jdk, go, redis (default: all).")
    private List<String> servers = Arrays.stream(RespServer.values()).map(RespServer::key).toList();

    @Option(
            names = "--pipeline",
            paramLabel = "N",
            split = ",",
            description = "Requests that a connection sends at a time, from 1 to 1000 (default: ${DEFAULT-VALUE}).",
            defaultValue = "1,16")
    private List<Integer> pipelines;

    @Option(
            names = "--command",
            paramLabel = "NAME",
            split = ",",
            description = "ping_mbulk, set, get, incr, mset (default: ${DEFAULT-VALUE}).",
            defaultValue = "set,get")
    private List<String> tests;

    @Option(
            names = "--connections",
            paramLabel = "N",
            description = "From 1 to 10000 (default: ${DEFAULT-VALUE}).",
            defaultValue = "50")
    private int connections;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long each run measures, about (default: ${DEFAULT-VALUE}).",
            defaultValue = "2")
    private double seconds;

    @Option(
            names = "--warmup",
            paramLabel = "S",
            description = "How long each command runs before, about (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private double warmup;

    @Option(
            names = "--runs",
            paramLabel = "N",
            description = "Runs of each, in turns (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private int runs;

    @Option(
            names = "--markdown",
            paramLabel = "FILE",
            description = "Write a page of results to FILE; what an older one says under its last heading stays.")
    private Path markdown;

    /** Makes the command; picocli calls this. */
    public RespCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        List<RespServer> wanted = check();
        PrintWriter err = spec.commandLine().getErr();
        BitSet cpus = Affinity.get(0);
        if (cpus.cardinality() < 2) {
            err.println("gmp: two CPUs are needed, one for the server and one for redis-benchmark.");
            return FAILED;
        }
        OutputFiles files = new OutputFiles(spec);
        files.add("--markdown", markdown);
        try {
            String benchmark = RespServer.program("redis-benchmark");
            List<RespLoad> loads = new ArrayList<>();
            pipelines.stream().distinct().forEach(p -> tests.stream().distinct().forEach(t -> loads.add(new RespLoad(p, t))));
            RespResults results = new RespResults(loads, wanted);
            measure(results, loads, wanted, benchmark, cpus);
            PrintWriter out = spec.commandLine().getOut();
            out.print(results.text());
            out.flush();
            if (results.isEmpty()) {
                return FAILED;
            }
            files.write(Map.of("--markdown", () -> results.page(facts(), how()).markdown("gmp resp", "Remarks", old())));
            return 0;
        } catch (IOException | Toolchains.MissingException e) {
            err.println("gmp: " + String.valueOf(e.getMessage()).replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    private String old() throws IOException {
        return Files.isRegularFile(markdown) ? Files.readString(markdown) : "";
    }

    private List<RespServer> check() {
        List<RespServer> wanted = new ArrayList<>();
        for (String name : servers) {
            wanted.add(Arrays.stream(RespServer.values()).filter(s -> s.key().equals(name)).findFirst()
                    .orElseThrow(() -> bad("--servers is a list of net, socket, jdk, go, redis")));
        }
        if (!pipelines.stream().allMatch(p -> p >= 1 && p <= MAX_PIPELINE)) {
            throw bad("--pipeline is a list of numbers from 1 to 1000");
        }
        if (!TESTS.containsAll(tests)) {
            throw bad("--command is a list of " + String.join(", ", TESTS));
        }
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw bad("--connections is from 1 to 10000");
        }
        if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
            throw bad("--seconds is above 0 and at most 3600");
        }
        if (!(warmup >= 0 && warmup <= MAX_SECONDS)) {
            throw bad("--warmup is from 0 to 3600");
        }
        if (runs < 1 || runs > MAX_RUNS) {
            throw bad("--runs is from 1 to 1000");
        }
        return wanted.stream().distinct().toList();
    }

    private void measure(RespResults results, List<RespLoad> loads, List<RespServer> wanted, String benchmark, BitSet cpus)
            throws IOException, InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        Map<RespServer, String> missing = new EnumMap<>(RespServer.class);
        Map<RespServer, List<String>> commands = RespServer.commands(wanted, missing);
        missing.forEach((s, why) -> results.note(s.title() + ": " + why + "."));
        for (int round = 1; round <= runs; round++) {
            for (RespServer s : wanted) {
                if (!commands.containsKey(s)) {
                    continue;
                }
                try (RespProcess server = new RespProcess(s, commands.get(s), cpus.nextSetBit(0))) {
                    for (RespLoad load : loads) {
                        RespFigures f = run(load, server, benchmark, cpus);
                        results.add(load, s, f);
                        err.println("gmp resp: turn " + round + " of " + runs + ": " + s.title() + ", pipeline "
                                + load.pipeline() + ", " + load.test() + ": " + Format.count(Math.round(f.perSecond()))
                                + "/s, p99 " + Format.nanos(f.p99()) + ", CPU/request " + Format.nanos(f.cpu()) + ", others "
                                + Math.round(f.others()) + " %");
                        err.flush();
                    }
                } catch (IOException e) { // What was measured before is not lost.
                    for (RespLoad load : loads) {
                        results.pad(load, s, round);
                    }
                    results.note(s.title() + ", turn " + round + ": " + e.getMessage() + ".");
                }
            }
        }
    }

    /** Warms up by as many requests as it takes, then measures for as many as fill the time. */
    private RespFigures run(RespLoad load, RespProcess server, String benchmark, BitSet cpus)
            throws IOException, InterruptedException {
        long start = System.nanoTime();
        double perSecond;
        do {
            perSecond = RespFigures.measure(benchmark, server, cpus, load, connections, FIRST_REQUESTS * load.pipeline())
                    .perSecond();
        } while (System.nanoTime() - start < warmup * 1e9);
        return RespFigures.measure(benchmark, server, cpus, load, connections, (long) Math.max(connections, seconds * perSecond));
    }

    private Map<String, String> facts() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        facts.put("command", "gmp " + String.join(" ", spec.commandLine().getParseResult().originalArgs()));
        return facts;
    }

    private String how() {
        String intervals = runs == 1 ? "" : " In brackets is the interval between two order statistics"
                + (runs < 6 ? " (least and greatest turn)" : "") + " that encloses the true median with "
                + (int) Math.floor(100 * Estimate.confidence(runs)) + " % confidence.";
        return "The server has the first of the CPUs, redis-benchmark, which is one thread, the last. The servers take turns,"
                + " each in a new process, and then again from the first on: " + runs + (runs == 1 ? " turn. " : " turns. ")
                + connections + " connections; each sends as many requests as the pipeline says, waits for all answers, and"
                + " sends again. Before each measurement of " + Format.plain(seconds) + " s the same load runs for "
                + Format.plain(warmup) + " s. Latency is from sending to the answer, of a pipeline to its last. CPU is the"
                + " server's, in its own code and in the kernel. Where redis-benchmark itself fills its CPU, the requests a"
                + " second are its own, and CPU/request tells the servers apart. No JVM has an agent or options; GOMAXPROCS is"
                + " 1. A figure is the median of the turns, a ratio of two servers in the same turn." + intervals;
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
