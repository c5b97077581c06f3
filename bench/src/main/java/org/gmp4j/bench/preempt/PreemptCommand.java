// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code gmp preempt}: what preemption costs and how soon it works. Each measurement runs in a JVM of its own. */
@Command(
        name = "preempt",
        description = {
            "Measure preemption: what it costs, and how soon others get their turn.",
            "",
            "  ticker      gaps of a goroutine that ticks each millisecond beside code that does not yield, 1 P",
            "  hogs        how long a turn takes beside 1 and 4 hogs, and the hogs' shares, 1 P",
            "  shorthogs   how late a sleep is beside goroutines that need the CPU for 2 to 50 ms, 1 P, quantum 1 ms",
            "  throughput  what two hogs on a P lose against one",
            "  blocked     from a call that blocks to another goroutine on the P",
            "  syscall     a system call's entry and exit",
            "  stop        stopping and starting the world with 8 busy Ps",
            "  points      what the agent's points cost loops, unarmed and disarmed, against the same loops without",
            "  load        what the agent costs while classes load",
            "  soak        all of it at once on each collector, results checked; only when asked for, as",
            "              'gmp preempt soak --seconds 1800'",
            ""
        })
public final class PreemptCommand implements Callable<Integer> {
    private static final List<String> ALL =
            List.of("ticker", "hogs", "shorthogs", "throughput", "blocked", "syscall", "stop", "points", "load");

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "WHAT", description = "What to measure (default: all).")
    private List<String> what = new ArrayList<>();

    @Option(
            names = "--seconds",
            paramLabel = "S",
            description = "How long each figure is measured (default: ${DEFAULT-VALUE}).",
            defaultValue = "3")
    private double seconds;

    @Option(
            names = "--runs",
            paramLabel = "N",
            description = "JVMs for points and load; figures are medians over them (default: ${DEFAULT-VALUE}).",
            defaultValue = "5")
    private int runs;

    @Option(names = "--no-points", description = "Without the agent's preemption points.")
    private boolean noPoints;

    /** Makes the command; picocli calls this. */
    public PreemptCommand() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        for (String w : what) {
            if (!ALL.contains(w) && !w.equals("soak")) {
                throw new ParameterException(spec.commandLine(), "nothing is called '" + w + "'");
            }
        }
        if (!(seconds > 0) || runs < 1) {
            throw new ParameterException(spec.commandLine(), "--seconds and --runs must be positive");
        }
        PrintWriter out = spec.commandLine().getOut();
        Child child = new Child(out, seconds, !noPoints);
        for (String w : what.isEmpty() ? ALL : what) {
            switch (w) {
                case "ticker" -> Ticker.measure(child);
                case "hogs" -> child.show(Hogs.class);
                case "shorthogs" -> ShortHogs.measure(child);
                case "throughput" -> child.show(Throughput.class);
                case "blocked" -> child.show(Blocked.class);
                case "syscall" -> child.show(SyscallCost.class);
                case "stop" -> child.show(StopCost.class);
                case "points" -> PointsCost.measure(child, runs);
                case "soak" -> Soak.measure(child);
                default -> LoadCost.measure(child, runs);
            }
            out.flush();
        }
        return 0;
    }
}
