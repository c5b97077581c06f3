// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import org.gmp4j.bench.report.JsonText;
import org.gmp4j.bench.report.OutputFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gmp replay}: the production classes under schedules that a number names. */
@Command(
        name = "replay",
        description = {
            "Run small programs over the scheduler's own classes, one simulated thread at a time. Before each access to a shared word a"
                    + " strategy chooses the thread that goes on, so a schedule is a number and can be run again. Clock, futexes, thread"
                    + " starts and parks are simulated. Memory is sequentially consistent but for the strategy stores.",
            "",
            "  random      any thread, at each access or seldom, as the seed says",
            "  pct         the thread with the highest priority, which changes at a few random steps",
            "  mixed       random for even seeds, pct for odd ones",
            "  stores      random, and a store reaches memory at a random later step if no fence is behind it",
            "  exhaustive  all schedules of a small program that differ in more than the order of accesses to different words;"
                    + " of a group it takes the small programs",
            "",
            "A failing schedule is shortened and printed with a column for each thread."
        })
public final class ReplayCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final long SECOND = 1_000_000_000;
    /** With --first all programs have so many seeds before any has more, and then so many. */
    private static final long A_FEW = 15;
    private static final long SOME = 100;

    @Spec
    private CommandSpec spec;

    @Option(names = "--program", paramLabel = "NAME", split = ",",
            description = "Programs, or groups of programs (default: all). '--program list' lists them.")
    private List<String> programs = new ArrayList<>();

    @Option(names = "--strategy", paramLabel = "NAME",
            description = "random, pct, mixed, stores or exhaustive (default: mixed, then exhaustive for small programs).")
    private String strategy;

    @Option(names = "--seeds", paramLabel = "N", defaultValue = "1000",
            description = "How many seeds of each program (default: ${DEFAULT-VALUE}).")
    private long seeds;

    @Option(names = "--from", paramLabel = "N", defaultValue = "0",
            description = "The first seed (default: ${DEFAULT-VALUE}).")
    private long from;

    @Option(names = "--seed", paramLabel = "N", description = "Run this seed alone, and print its steps.")
    private Long seed;

    @Option(names = "--schedule", paramLabel = "TEXT",
            description = "Run this schedule of one program, and print its steps: '0x12 1x3 0' is twelve steps of thread 0, three of"
                    + " thread 1, one of thread 0; 2t ends a sleep of thread 2 by its limit, 2w without a reason; 2f lets its start of a"
                    + " thread fail; 2s lets a store of thread 2 reach memory.")
    private String schedule;

    @Option(names = "--seconds", paramLabel = "N", defaultValue = "60",
            description = "The most seconds for a program and a strategy (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = "--classes", paramLabel = "DIR", description = "Take classes from DIR first: those of a mutant.")
    private Path classes;

    @Option(names = "--first", description = "End with the first program that fails.")
    private boolean first;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to FILE too.")
    private Path json;

    @Option(names = "--trace", paramLabel = "FILE",
            description = "Write the steps of the schedule that failed, or that --seed or --schedule names, to FILE, as a timeline for"
                    + " Perfetto (ui.perfetto.dev).")
    private Path trace;

    /** For picocli. */
    public ReplayCommand() {
    }

    @Override
    public Integer call() {
        check();
        OutputFiles files = new OutputFiles(spec);
        files.add("--json", json);
        files.add("--trace", trace);
        List<Program> all = Rewriter.load(classes);
        if (programs.contains("list")) {
            list(all);
            return 0;
        }
        List<Program> chosen = choose(all);
        try {
            if (seed != null || schedule != null) {
                return repeat(chosen);
            }
            List<Finding> findings = search(chosen);
            files.write(Map.of("--json", () -> JsonText.of(json(findings))));
            return findings.stream().anyMatch(f -> f.failed() != null) ? FAILED : 0;
        } catch (IOException e) {
            spec.commandLine().getErr().println("gmp: " + e.getMessage().replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    private void writeTrace(Run run) throws IOException {
        if (trace != null) {
            Files.write(trace, Timeline.of(run));
        }
    }

    private void check() {
        if (strategy != null && !Search.STRATEGIES.contains(strategy)) {
            throw bad("--strategy is \"" + strategy + "\": use random, pct, mixed, stores or exhaustive");
        }
        if (seeds < 1) {
            throw bad("--seeds is " + seeds + ": use 1 or more");
        }
        if (from < 0) {
            throw bad("--from is " + from + ": use 0 or more");
        }
        if (seconds < 1) {
            throw bad("--seconds is " + seconds + ": use 1 or more");
        }
        if (seed != null && seed < 0) {
            throw bad("--seed is " + seed + ": use 0 or more");
        }
        if (seed != null && Search.EXHAUSTIVE.equals(strategy)) {
            throw bad("--seed names no schedule of an exhaustive search: use --schedule");
        }
        if (seed != null && schedule != null) {
            throw bad("--seed and --schedule both name a schedule: use one");
        }
        if (classes != null && !Files.isDirectory(classes)) {
            throw bad("--classes is \"" + classes + "\", which is no directory");
        }
    }

    private void list(List<Program> all) {
        PrintWriter out = spec.commandLine().getOut();
        for (Program p : all) {
            out.printf("%-16s %-8s %s%s%n", p.name(), p.group(), p.what(), p.isQuick() ? " (small)" : "");
        }
        out.flush();
    }

    private List<Program> choose(List<Program> all) {
        for (String name : programs) {
            if (all.stream().noneMatch(p -> p.name().equals(name) || p.group().equals(name))) {
                throw bad("there is no program \"" + name + "\": '--program list' lists them");
            }
        }
        boolean exhaustive = Search.EXHAUSTIVE.equals(strategy);
        List<Program> chosen = all.stream().filter(p -> programs.contains(p.name())
                || (programs.isEmpty() || programs.contains(p.group())) && (p.small() || !exhaustive)).toList();
        if ((seed != null || schedule != null) && chosen.size() != 1) {
            throw bad((seed != null ? "--seed" : "--schedule") + " belongs to one program: name it by --program");
        }
        if (chosen.isEmpty()) {
            throw bad("--strategy exhaustive is for small programs, and none of these is small: use mixed");
        }
        for (Program p : chosen) {
            if (exhaustive && p.watched()) {
                throw bad("--strategy exhaustive leaves steps out, and program \"" + p.name() + "\" is checked at each: use mixed");
            }
        }
        return chosen;
    }

    private int repeat(List<Program> chosen) throws IOException {
        Program p = chosen.getFirst();
        Run run;
        try {
            run = schedule != null ? Engine.repeat(p, Schedule.parse(schedule), new Trace(), Search.STORES.equals(strategy))
                    : Engine.run(p, Search.strategy(strategy == null ? Search.MIXED : strategy, seed, Engine.length(p)), new Trace());
        } catch (IllegalArgumentException e) {
            throw bad("--schedule: " + e.getMessage());
        }
        PrintWriter out = spec.commandLine().getOut();
        writeTrace(run);
        out.print(Lanes.text(run));
        out.println(p.name() + ": " + run.steps + " steps, " + new Schedule(run.schedule()).switches() + " switches; "
                + (run.failure == null ? "nothing failed" : run.failure.text()));
        out.flush();
        return run.failure == null ? 0 : FAILED;
    }

    private List<Finding> search(List<Program> chosen) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        out.printf("%-16s %-10s %9s %10s%n", "program", "strategy", "schedules", "time");
        List<Finding> all = new ArrayList<>();
        long done = 0;
        for (long upTo : first ? List.of(Math.min(seeds, A_FEW), Math.min(seeds, SOME), seeds) : List.of(seeds)) {
            for (Program p : upTo > done ? chosen : List.<Program>of()) {
                if (search(p, from + done, upTo - done, upTo == seeds, all) && first) {
                    return all;
                }
            }
            done = upTo;
        }
        out.printf("%d programs, %d schedules, %d failed%n", chosen.size(), all.stream().mapToLong(Finding::schedules).sum(),
                all.stream().filter(f -> f.failed() != null).count());
        out.flush();
        return all;
    }

    /** Runs seeds of one program, and all schedules of a small one with the last of the seeds. Returns whether it failed. */
    private boolean search(Program p, long begin, long n, boolean last, List<Finding> all) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        for (String s : strategies(p)) {
            boolean exhaustive = s.equals(Search.EXHAUSTIVE);
            if (exhaustive && !last) {
                continue;
            }
            Finding f = exhaustive ? Search.all(p, seconds * SECOND) : Search.seeds(p, s, begin, n, seconds * SECOND);
            all.add(f);
            out.println(f.row());
            out.flush(); // Before the schedule is shortened, which may take long.
            if (f.failed() != null) {
                explain(f);
                out.flush();
                return true;
            }
        }
        return false;
    }

    private List<String> strategies(Program p) {
        return strategy != null ? List.of(strategy) : p.isQuick() ? List.of(Search.MIXED, Search.EXHAUSTIVE) : List.of(Search.MIXED);
    }

    /** Prints the shortened schedule of a run that failed, and how to repeat it. */
    private void explain(Finding f) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        Schedule shorter = Engine.shrink(f.program(), f.failed());
        Run again = Engine.repeat(f.program(), shorter, new Trace(), f.failed().delays);
        writeTrace(again);
        out.println();
        out.print(Lanes.text(again));
        out.println(again.failure == null ? "the shortened schedule does not fail" : again.failure.text());
        if (f.seed() >= 0) {
            out.println("gmp replay --program " + f.program().name() + " --strategy " + f.strategy() + " --seed " + f.seed());
        }
        out.println("gmp replay --program " + f.program().name() + (f.failed().delays ? " --strategy " + Search.STORES : "")
                + " --schedule '" + shorter + "'");
        out.println();
    }

    private Map<String, Object> json(List<Finding> findings) {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Finding f : findings) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("program", f.program().name());
            row.put("strategy", f.strategy());
            row.put("schedules", f.schedules());
            row.put("states", f.states());
            row.put("complete", f.complete());
            row.put("steps", f.steps());
            row.put("nanos", f.nanos());
            row.put("failure", f.failed() == null ? null : f.failed().failure.text());
            row.put("seed", f.seed() < 0 ? null : f.seed());
            row.put("schedule", f.failed() == null ? null : new Schedule(f.failed().schedule()).toString());
            rows.add(row);
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("from", from);
        all.put("programs", rows);
        return all;
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
