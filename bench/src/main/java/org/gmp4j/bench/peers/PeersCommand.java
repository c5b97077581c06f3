// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

import org.gmp4j.bench.measure.Others;
import org.gmp4j.bench.report.ResultFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gmp peers}: the same work on gmp4j, Go, JDK virtual threads, Kotlin coroutines and platform threads. */
@Command(
        name = "peers",
        description = {
            "Do the same work on gmp4j, Go, JDK virtual threads, Kotlin coroutines and platform threads, in turns, and"
                    + " print medians and ratios.",
            "",
            "Each work runs in a process of its own, on one or two Ps, which warms up and then measures several runs:"
                    + " gmp4j, Go, and so on, and again for the next fork, so that what disturbs the machine disturbs all."
                    + " The Go peer is built with a Go 1.25 or newer from GMP_GO, GOROOT or PATH, the Kotlin peer with the"
                    + " Maven wrapper; what is missing is named, and its column stays empty. QuestDB's fibers are not among"
                    + " them: no release on Maven Central, up to 9.3.4, has them.",
            ""
        })
public final class PeersCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int MOST_FORKS = 100;
    private static final double MOST_SECONDS = 600;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "PATTERN", description = "Regular expressions over the works' and rows' names (default: all).")
    private List<String> patterns = new ArrayList<>();

    @Option(
            names = "--peers",
            paramLabel = "NAME",
            split = ",",
            description = "Who takes part: gmp4j, go, jdk, kotlin, threads (default: all). gmp4j always does.")
    private List<String> peers = List.of();

    @Option(
            names = "--forks",
            paramLabel = "N",
            description = "Processes of each (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private int forks;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long each figure is measured in each process (default: ${DEFAULT-VALUE}).",
            defaultValue = "0.6")
    private double seconds;

    @Option(
            names = "--warmup",
            paramLabel = "S",
            description = "How long a JVM warms up before each figure (default: ${DEFAULT-VALUE}).",
            defaultValue = "1")
    private double warmUp;

    @Option(names = {"-l", "--list"}, description = "List the rows and exit.")
    private boolean list;

    @Mixin
    private ResultFiles files;

    /** Makes the command; picocli calls this. */
    public PeersCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        List<Catalogue.Work> works = works();
        Set<Peer> wanted = wanted();
        if (forks < 1 || forks > MOST_FORKS) {
            throw bad("--forks is " + forks + ": use 1 to " + MOST_FORKS);
        }
        if (!(seconds > 0 && seconds <= MOST_SECONDS) || !(warmUp > 0 && warmUp <= MOST_SECONDS)) {
            throw bad("--seconds and --warmup are above 0, and at most " + (long) MOST_SECONDS);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (list) {
            out.print(Reports.list(works).text());
            out.flush();
            return 0;
        }
        files.check();
        try {
            Results results = measure(works, wanted);
            out.print(Reports.text(results));
            out.flush();
            files.write(() -> Reports.json(results, settings()), () -> Reports.page(results, settings()), "Where we are behind");
            return 0;
        } catch (IOException e) {
            spec.commandLine().getErr().println("gmp: " + e.getMessage().replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    private Settings settings() {
        return new Settings(forks, warmUp, seconds, patterns);
    }

    /**
     * How it was measured.
     *
     * @param forks processes of each peer
     * @param warmUp seconds
     * @param seconds for each figure
     * @param patterns of the works
     */
    record Settings(int forks, double warmUp, double seconds, List<String> patterns) {
    }

    private List<Catalogue.Work> works() {
        List<Pattern> compiled = new ArrayList<>();
        for (String p : patterns) {
            try {
                compiled.add(Pattern.compile(p));
            } catch (PatternSyntaxException e) {
                throw bad("'" + p + "' is no regular expression");
            }
            if (Catalogue.select(List.of(compiled.getLast())).isEmpty()) {
                throw bad("no work matches '" + p + "'");
            }
        }
        return Catalogue.select(compiled);
    }

    private Set<Peer> wanted() {
        Set<Peer> wanted = new LinkedHashSet<>(List.of(Peer.GMP4J));
        for (Peer p : Peer.values()) {
            if (peers.isEmpty() || peers.contains(p.key())) {
                wanted.add(p);
            }
        }
        List<String> keys = List.of(Peer.values()).stream().map(Peer::key).toList();
        for (String name : peers) {
            if (!keys.contains(name)) {
                throw bad("--peers: nobody is called '" + name + "': there are " + String.join(", ", keys));
            }
        }
        return wanted;
    }

    private Results measure(List<Catalogue.Work> works, Set<Peer> wanted) throws IOException, InterruptedException {
        Results results = new Results(works);
        Map<Peer, Toolchains.Program> programs = programs(wanted);
        programs.forEach((peer, program) -> results.versions().put(peer, program.version()));
        Runner runner = new Runner(warmUp, seconds);
        Others others = new Others(works.size() * forks);
        PrintWriter err = spec.commandLine().getErr();
        int n = 0;
        for (Catalogue.Work work : works) {
            for (int fork = 0; fork < forks; fork++) {
                for (Map.Entry<Peer, Toolchains.Program> peer : programs.entrySet()) {
                    if (work.peers().contains(peer.getKey())) {
                        String who = "gmp peers: " + peer.getKey().title() + ", " + work.title() + ": ";
                        try {
                            for (Line line : runner.run(peer.getKey(), peer.getValue(), work, others, said -> err.println(who + said))) {
                                results.add(work, peer.getKey(), fork, line);
                            }
                        } catch (Runner.FailedException e) {
                            err.println(who + e.getMessage());
                            results.failed(work, peer.getKey(), e.getMessage());
                        }
                    }
                }
            }
            err.println("gmp peers: " + ++n + " of " + works.size() + ": " + Reports.line(results, work));
            err.flush();
        }
        results.others(others.summary());
        return results;
    }

    private Map<Peer, Toolchains.Program> programs(Set<Peer> wanted) throws IOException, InterruptedException {
        Map<Peer, Toolchains.Program> programs = new EnumMap<>(Peer.class);
        Toolchains toolchains = new Toolchains(System.getenv());
        for (Peer peer : wanted) {
            try {
                programs.put(peer, switch (peer) {
                    case GO -> toolchains.go();
                    case KOTLIN -> toolchains.kotlin();
                    default -> Runner.java();
                });
            } catch (Toolchains.MissingException e) {
                spec.commandLine().getErr().println("gmp peers: " + peer.title() + " is left out: " + e.getMessage() + ".");
            }
        }
        return programs;
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
