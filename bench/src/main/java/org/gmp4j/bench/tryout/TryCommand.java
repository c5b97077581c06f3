// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

import org.gmp4j.bench.report.Cpus;
import org.gmp4j.bench.report.Format;
import org.gmp4j.bench.report.ResultFiles;
import org.gmp4j.bench.service.Proc;
import org.gmp4j.ffi.Affinity;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gmp try}: a service of the user's own, unchanged, on the JDK's scheduler and on this one. */
@Command(
        name = "try",
        description = {
            "Try your own service on this scheduler, beside the JDK's, before you decide.",
            "",
            "Starts the service, unchanged, in turns on the JDK's scheduler of virtual threads and with -javaagent:...=default, finds the"
                    + " port that it listens on, and sends GET requests from the moment when the port can be connected to. Prints how long"
                    + " and how much CPU the start takes, latencies of the first seconds and of the warm service, CPU a request, memory and"
                    + " threads, each with an interval over the turns, and where this scheduler is better or worse by more than chance."
                    + " Status and length of the answers are compared too.",
            "Requests become due as in a Poisson process, whatever the service does, and latencies count from when they were due.",
            "Flags of the JVM are put behind the java of the command; a java without a folder is that of the JDK that gmp runs on."
                    + " A command that is no java, such as a script that starts one, gets them by JAVA_TOOL_OPTIONS, and so do all JVMs"
                    + " that it starts.",
            ""
        },
        customSynopsis = "gmp try [OPTIONS] [--] java -jar service.jar [ARG...]")
public final class TryCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final double MAX_SECONDS = 86_400;
    private static final double MAX_RATE = 1_000_000;
    private static final double LEAST_REQUESTS = 100;
    private static final int MAX_TURNS = 1000;
    private static final int MAX_CONNECTIONS = 10_000;
    private static final int MAX_PORT = 65_535;
    /** Of each start, beside the load. */
    private static final double START_SECONDS = 6;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "Requests a second (default: ${DEFAULT-VALUE}).",
            defaultValue = "500")
    private double rate;

    @Option(
            names = "--path",
            paramLabel = "PATH",
            description = "What is asked for (default: ${DEFAULT-VALUE}).",
            defaultValue = "/")
    private String path;

    @Option(names = "--header", paramLabel = "LINE", description = "One more header of each request, as 'Accept: text/html'; repeatable.")
    private List<String> headers = new ArrayList<>();

    @Option(
            names = "--connections",
            paramLabel = "N",
            description = "From 1 to 10000, kept alive (default: ${DEFAULT-VALUE}).",
            defaultValue = "50")
    private int connections;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long the service counts as young, and how long the warm part is (default: ${DEFAULT-VALUE}).",
            defaultValue = "8")
    private double seconds;

    @Option(
            names = "--warmup",
            paramLabel = "S",
            description = "How long after the port answered the warm part begins; 0 leaves it out (default: ${DEFAULT-VALUE}).",
            defaultValue = "40")
    private double warmup;

    @Option(
            names = "--saturate",
            paramLabel = "S",
            description = "At the end, have each connection send without a pause for so many seconds (default: not).",
            defaultValue = "0",
            showDefaultValue = Help.Visibility.NEVER)
    private double saturate;

    @Option(
            names = "--turns",
            paramLabel = "N",
            description = "How often each is started; a verdict takes 5 (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private int turns;

    @Option(
            names = "--with",
            paramLabel = "NAME=FLAGS",
            description = "Start it also with these flags of the JVM beside ours, as --with short=-Dgmp.default.quantum=1ms; repeatable.")
    private List<String> ours = new ArrayList<>();

    @Option(
            names = "--jdk-with",
            paramLabel = "NAME=FLAGS",
            description = "Start it also with these flags of the JVM and without ours; repeatable.")
    private List<String> theirs = new ArrayList<>();

    @Option(names = "--port", paramLabel = "N", description = "Where the service listens (default: where its processes do).",
            defaultValue = "0",
            showDefaultValue = Help.Visibility.NEVER)
    private int port;

    @Option(names = "--server-cpus", paramLabel = "LIST", description = "The service's CPUs, as 0-3,8 (default: all).")
    private String serverCpus;

    @Option(names = "--client-cpus", paramLabel = "LIST", description = "The client's CPUs (default: all).")
    private String clientCpus;

    @Mixin
    private ResultFiles files;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "What starts the service.")
    private List<String> service = new ArrayList<>();

    /** Makes the command; picocli calls this. */
    public TryCommand() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Settings settings = settings(Affinity.get(0));
        List<Variant> variants = variants();
        files.check();
        PrintWriter err = spec.commandLine().getErr();
        try {
            Results results = measure(new Results(variants), settings);
            PrintWriter out = spec.commandLine().getOut();
            out.print(Reports.text(results, settings));
            out.flush();
            files.write(() -> Reports.json(results, settings), () -> Reports.page(results, settings), "Remarks");
            return 0;
        } catch (ServiceProcess.FailedException e) {
            err.println("gmp: " + e.getMessage() + (e.lines().isEmpty() ? "; its log is empty." : ". Its log ends with:"));
            e.lines().forEach(line -> err.println("  " + line));
            return FAILED;
        } catch (IOException e) {
            err.println("gmp: " + String.valueOf(e.getMessage()).replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    // ---- what is asked for

    private Settings settings(BitSet allowed) throws IOException {
        if (service.isEmpty()) {
            throw bad("the command that starts the service is missing");
        }
        check();
        Optional<String> tooMany = Proc.tooManyConnections(connections);
        if (tooMany.isPresent()) {
            throw bad(tooMany.get());
        }
        String command = "gmp " + String.join(" ", spec.commandLine().getParent().getParseResult().originalArgs());
        return new Settings(rate, path, List.copyOf(headers), connections, seconds, warmup, saturate, turns, port,
                cpus("--server-cpus", serverCpus, allowed), cpus("--client-cpus", clientCpus, allowed), List.copyOf(service), command);
    }

    private void check() {
        if (!(rate > 0 && rate <= MAX_RATE)) {
            throw bad("--rate is above 0 and at most 1000000");
        }
        if (!path.matches("/[\\x21-\\x7e]*")) {
            throw bad("--path begins with / and has neither blanks nor letters beyond ASCII");
        }
        for (String header : headers) {
            if (!header.matches("[\\w!#$%&'*+.^`|~-]+:[^\\r\\n]*")) {
                throw bad("--header is a name, a colon and a value, not '" + header.lines().findFirst().orElse("") + "'");
            }
        }
        if (connections < 1 || connections > MAX_CONNECTIONS) {
            throw bad("--connections is from 1 to 10000");
        }
        if (!(seconds >= 1 && seconds <= MAX_SECONDS)) {
            throw bad("--seconds is from 1 to 86400");
        }
        if (!(warmup == 0 || warmup >= seconds && warmup <= MAX_SECONDS)) {
            throw bad("--warmup is 0, or from --seconds, which are " + Format.plain(seconds) + ", to 86400");
        }
        if (!(saturate >= 0 && saturate <= MAX_SECONDS)) {
            throw bad("--saturate is from 0 to 86400");
        }
        if (turns < 1 || turns > MAX_TURNS) {
            throw bad("--turns is from 1 to 1000");
        }
        if (port < 0 || port > MAX_PORT) {
            throw bad("--port is from 1 to 65535");
        }
        if (rate * seconds < LEAST_REQUESTS) {
            throw bad("--rate and --seconds make less than 100 requests, too few for a percentile");
        }
    }

    private BitSet cpus(String option, String list, BitSet allowed) {
        if (list == null) {
            return allowed;
        }
        BitSet cpus = Cpus.parse(list);
        BitSet not = (BitSet) cpus.clone();
        not.andNot(allowed);
        if (cpus.isEmpty() || !not.isEmpty()) {
            throw bad(option + " is a list of CPUs as 0-3,8, of " + Cpus.list(allowed));
        }
        return cpus;
    }

    private List<Variant> variants() {
        List<Variant> all = new ArrayList<>(List.of(Variant.JDK, Variant.GMP4J));
        theirs.forEach(text -> add(all, "--jdk-with", text, false));
        ours.forEach(text -> add(all, "--with", text, true));
        return all;
    }

    private void add(List<Variant> all, String option, String text, boolean isOurs) {
        Variant v = Variant.parse(text, isOurs);
        if (v == null) {
            throw bad(option + " is a name, = and flags of the JVM, as short=-Dgmp.default.quantum=1ms, not '" + text + "'");
        }
        if (all.stream().anyMatch(other -> other.name().equals(v.name()))) {
            throw bad("two variants have the name " + v.name());
        }
        all.add(v);
    }

    // ---- measuring

    private Results measure(Results results, Settings settings) throws IOException, InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        int all = settings.turns() * results.variants().size();
        double minutes = all * (START_SECONDS + settings.load()) / 60;
        err.println("gmp try: " + all + " starts, some " + (minutes < 1 ? "seconds" : Math.max(2, Math.round(minutes)) + " minutes"));
        BitSet mine = Affinity.get(0);
        int n = 0;
        try (Trier trier = new Trier(settings)) {
            Proc.confine(settings.clientCpus());
            trier.rehearse();
            for (int turn = 0; turn < settings.turns(); turn++) {
                for (Variant v : turn % 2 == 0 ? results.variants() : results.variants().reversed()) {
                    Turn t;
                    try {
                        t = trier.run(v, turn);
                    } catch (ServiceProcess.FailedException e) {
                        throw new ServiceProcess.FailedException("the service, started with " + v.name() + ", " + e.getMessage(),
                                e.lines());
                    }
                    results.add(v, t);
                    err.println("gmp try: " + ++n + " of " + all + ": " + v.name() + ": " + line(settings, t));
                    err.flush();
                }
            }
        } finally {
            Proc.confine(mine);
        }
        return results;
    }

    private static String line(Settings settings, Turn t) {
        List<String> parts = new ArrayList<>();
        List<String> shown = List.of("answer_ns", "start_cpu_ns", "young_p50_ns", "young_p99_ns", "warm_p50_ns", "warm_p99_ns",
                "full_answers_per_second");
        for (Figure f : Figure.all(settings)) {
            if (shown.contains(f.key())) {
                parts.add(f.name() + " " + f.text(f.of().applyAsDouble(t)));
            }
        }
        return String.join(", ", parts);
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
