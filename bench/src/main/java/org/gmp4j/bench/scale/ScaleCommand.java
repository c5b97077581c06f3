// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import com.sun.management.OperatingSystemMXBean;
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

/** {@code gmp scale}: how costs grow with sizes, with the collector, and with time. */
@Command(
        name = "scale",
        description = {
            "Measure how the cost of an operation grows, with the exponent that it has and should have.",
            "",
            "  procs       1 to 64 Ps, or four times the CPUs: yield, start, pass",
            "  goroutines  10 to 1,000,000: yield, a token's hop",
            "  timers      10 to 1,000,000: one more, reset",
            "  channels    10 to 100,000: send and receive in turn; select over 1 to 1,000",
            "  queues      10 to 100,000 that wait: for a channel, a mutex, in the global run queue",
            "  gc          G1, ZGC, Parallel, Serial: switches before and after promotion, memory, wake-ups",
            "  drift       a steady mix, ten times looked at; only when asked for, as",
            "              'gmp scale drift --seconds 3600'",
            ""
        })
public final class ScaleCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int LEAST_MAX = 100;
    private static final int MOST_MAX = 10_000_000;
    private static final double MOST_SECONDS = 1_000_000;

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "WHAT", description = "What to measure (default: all but drift).")
    private List<String> what = new ArrayList<>();

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long each point is measured, or the mix of drift (default: ${DEFAULT-VALUE}).",
            defaultValue = "1")
    private double seconds;

    @Option(
            names = "--max",
            paramLabel = "N",
            description = "The largest size: of goroutines up to 10,000,000 where there is memory, of the others up to what"
                    + " stands above (default: ${DEFAULT-VALUE}).",
            defaultValue = "1000000")
    private int max;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the results to FILE too.")
    private Path json;

    /** Makes the command; picocli calls this. */
    public ScaleCommand() {
    }

    @Override
    public Integer call() throws InterruptedException {
        List<String> all = new ArrayList<>(Series.GROUPS);
        all.add("gc");
        for (String w : what) {
            if (!all.contains(w) && !w.equals("drift")) {
                throw bad("nothing is called '" + w + "'");
            }
        }
        if (!(seconds > 0 && seconds <= MOST_SECONDS)) {
            throw bad("--seconds is above 0, and at most " + Format.count((long) MOST_SECONDS));
        }
        if (max < LEAST_MAX || max > MOST_MAX) {
            throw bad("--max is " + max + ": use " + LEAST_MAX + " to " + MOST_MAX);
        }
        List<String> wanted = what.isEmpty() ? all : what.stream().distinct().toList();
        if (wanted.contains("goroutines") && Series.ROUND.memory(max) > memory()) {
            throw bad("--max is " + max + ": so many goroutines need " + (Series.ROUND.memory(max) >> 20)
                    + " MiB, and there are " + (memory() >> 20));
        }
        OutputFiles files = new OutputFiles(spec);
        files.add("--json", json);
        try {
            String text = JsonText.of(measure(wanted));
            files.write(Map.of("--json", () -> text));
            return 0;
        } catch (IOException e) {
            spec.commandLine().getErr().println("gmp: " + e.getMessage().replaceAll("\\.$", "") + ".");
            return FAILED;
        }
    }

    private Map<String, Object> measure(List<String> wanted) throws IOException, InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        Map<String, Object> report = new LinkedHashMap<>();
        report.put("machine", MachineInfo.here().json());
        report.put("settings", Map.of("seconds", seconds, "max", max));
        List<Object> scaling = new ArrayList<>();
        report.put("scaling", scaling);
        for (String w : wanted) {
            switch (w) {
                case "gc" -> {
                    var figures = GcCost.measure(seconds, max);
                    report.put("gc", Reports.gcJson(figures));
                    out.println(Reports.gc(figures));
                }
                case "drift" -> report.put("drift", Reports.driftJson(Drift.measure(out, seconds)));
                default -> {
                    List<Scaling.Result> results = new ArrayList<>();
                    for (Series s : Series.values()) {
                        if (s.group.equals(w)) {
                            sayWhatFits(s);
                            results.add(Scaling.measure(s, s.sizes(max, memory()), seconds));
                        }
                    }
                    scaling.addAll(Reports.scalingJson(results));
                    out.println(Reports.scaling(w, results));
                }
            }
            out.flush();
        }
        return report;
    }

    private void sayWhatFits(Series series) {
        if (series.memory(max) > memory()) {
            spec.commandLine().getErr().println("gmp: " + series.title + ": measured up to "
                    + Format.count(series.sizes(max, memory()).getLast()) + " only, as " + Format.count(max) + " need "
                    + (series.memory(max) >> 20) + " MiB, and there are " + (memory() >> 20) + ".");
        }
    }

    private static long memory() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
    }

    private ParameterException bad(String sentence) {
        return new ParameterException(spec.commandLine(), sentence);
    }
}
