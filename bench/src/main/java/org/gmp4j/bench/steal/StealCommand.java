// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import org.gmp4j.Gmp;
import org.gmp4j.SpinPolicy;
import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.Topology;
import org.gmp4j.bench.report.OutputFiles;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gmp steal}: what stealing, waking and handing off cost on this machine, as percentiles. */
@Command(
        name = "steal",
        description = {
            "Measure steal, wake and handoff on pinned threads of this machine, as percentiles.",
            "",
            "steal: taking 1, 4, 16, 128 goroutines from another P, and a probe that finds none; from 'go f()' to f"
                    + " running on another P (wake) and from a send to its receiver running there (handoff), by spin"
                    + " policy and by the gap since the last one.",
            ""
        })
public final class StealCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int MAX_PROCS = 4096;
    private static final double MAX_SECONDS = 86_400;
    private static final long LONG_RUN = 4_000_000_000L;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--procs",
            paramLabel = "N",
            description = "Ps, from 2 on (default: the CPUs that this process may use).")
    private Integer procs;

    @Option(
            names = "--affinity",
            paramLabel = "POLICY",
            description = "Where the Ps are pinned: none, compact, scatter, cores, pernode, or a list of CPUs such as 0,2,4-7"
                    + " (default: compact; none with a single CPU).")
    private String affinity;

    @Option(
            names = "--spin",
            paramLabel = "POLICY",
            description = "What a thread without work does: go, latency, latency:50us, busy, or all (default: all).")
    private String spin = "all";

    @Option(
            names = "--samples",
            paramLabel = "N",
            description = "Most samples of a run (default: ${DEFAULT-VALUE}).",
            defaultValue = "100000")
    private long samples;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long all runs take together, warm-up not counted (default: ${DEFAULT-VALUE}).",
            defaultValue = "12")
    private double seconds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to FILE too, in nanoseconds.")
    private Path json;

    @Option(
            names = "--hgrm",
            paramLabel = "FILE",
            description = "Write each run's percentiles to FILE in HdrHistogram's form, a section a run.")
    private Path hgrm;

    @Option(
            names = "--hlog",
            paramLabel = "FILE",
            description = "Write each run's histogram to FILE as a log of HdrHistogram's, tagged with the run.")
    private Path hlog;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with the percentile curves to FILE.")
    private Path html;

    /** Makes the command; picocli calls this. */
    public StealCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        Settings settings = settings();
        tryScheduler(settings);
        PrintWriter err = spec.commandLine().getErr();
        OutputFiles files = new OutputFiles(spec);
        files.add("--json", json);
        files.add("--hgrm", hgrm);
        files.add("--hlog", hlog);
        files.add("--html", html);
        if (settings.crowded()) {
            err.println("gmp: there are fewer CPUs than Ps: one waits for another, and the tails tell about the kernel's"
                    + " time slices.");
        }
        return measure(settings, files);
    }

    private int measure(Settings settings, OutputFiles files) throws InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        Progress progress = new Progress(err, settings.nanos() >= LONG_RUN);
        try {
            Report report = new Measurement(settings, progress).run();
            PrintWriter out = spec.commandLine().getOut();
            out.print(TextReport.write(report));
            out.flush();
            files.write(Map.of(
                    "--json", () -> JsonReport.write(report),
                    "--hgrm", () -> HgrmReport.write(report),
                    "--hlog", () -> HlogReport.write(report),
                    "--html", () -> ReportPage.of(report).html()));
            return 0;
        } catch (IllegalStateException | IOException e) {
            progress.done();
            err.println("gmp: " + e.getMessage().replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    /** Makes a scheduler once, so that faults of the environment show here: GMPDEBUG, the JVM's flags. */
    private void tryScheduler(Settings settings) {
        try (Gmp gmp = Measurement.scheduler(settings, SpinPolicy.go())) {
            gmp.run(() -> {});
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw bad(e.getMessage());
        }
    }

    private Settings settings() {
        if (samples < 1) {
            throw bad("--samples is " + samples + ": use 1 or more");
        }
        if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
            throw bad("--seconds is " + seconds + ": use more than 0, and at most " + (long) MAX_SECONDS);
        }
        int usable = Topology.system().allowed().cardinality();
        int n = procs == null ? Math.max(2, Topology.system().defaultProcs()) : procs;
        if (n < 2 || n > MAX_PROCS) {
            throw bad("--procs is " + n + ": use 2 to " + MAX_PROCS + ", since a goroutine is woken on another P");
        }
        return new Settings(n, affinity(usable), spins(), samples, Math.max(1, Math.round(seconds * 1e9)));
    }

    private Affinity affinity(int usable) {
        if (affinity == null) {
            return usable < 2 ? Affinity.none() : Affinity.compact();
        }
        try {
            return Affinity.parse(affinity);
        } catch (IllegalArgumentException e) {
            throw bad("--affinity: " + e.getMessage());
        }
    }

    private List<SpinPolicy> spins() {
        try {
            return spin.strip().equalsIgnoreCase("all")
                    ? List.of(SpinPolicy.go(), SpinPolicy.parse("latency"), SpinPolicy.busy())
                    : List.of(SpinPolicy.parse(spin));
        } catch (IllegalArgumentException e) {
            throw bad("--spin: " + e.getMessage().replaceAll("\\.$", "") + ", or all");
        }
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
