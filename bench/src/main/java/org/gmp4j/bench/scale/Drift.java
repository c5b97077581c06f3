// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.scale;

import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.bench.report.Format;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;

/** A steady mix for long: what its latencies, memory and threads are, ten times, and where they go. */
final class Drift {
    static final List<String> COLUMNS = List.of("spawn p50", "p99", "pass p50", "p99", "timer p50", "p99", "select p50",
            "p99", "resident", "heap", "threads", "Ms");
    private static final int LATENCIES = 8;
    private static final int MEMORIES = 10;
    private static final int PARTS = 10;

    private static final int WORKERS = 4;
    private static final int SPAWNED = 10;
    private static final Duration PACE = Duration.ofNanos(500_000);
    private static final Duration ALARM = Duration.ofMillis(1);
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final Recorder[] recorders = {new Recorder(3), new Recorder(3), new Recorder(3), new Recorder(3)};
    private volatile boolean stop;

    private Drift() {
    }

    /**
     * What was measured.
     *
     * @param rows seconds, then the columns, by tenth
     * @param slopes change of each column in an hour, of its mean, without the first tenth, in which the JVM warms up
     */
    record Result(List<double[]> rows, double[] slopes) {
    }

    /** Prints each tenth when it is over. */
    static Result measure(PrintWriter out, double seconds) throws IOException, InterruptedException {
        out.println("A steady mix for " + Format.plain(seconds) + " s, a line each tenth; memory after a collection.");
        out.println(line("s", COLUMNS::get));
        out.flush();
        List<double[]> rows = new ArrayList<>();
        Jvm.run(List.of(), Drift.class, text -> {
            double[] row = Arrays.stream(text.split(" ")).mapToDouble(Double::parseDouble).toArray();
            rows.add(row);
            out.println(line(Format.decimals(row[0], 1), i -> cell(i, row[i + 1])));
            out.flush();
        }, Double.toString(seconds));
        double[] slopes = slopes(rows.subList(Math.min(1, rows.size()), rows.size()));
        out.println(line("an hour", i -> Double.isFinite(slopes[i])
                ? String.format(Locale.ROOT, "%+.1f %%", slopes[i] * 100) : "0"));
        out.println();
        return new Result(rows, slopes);
    }

    /** Returns each column's change in an hour, as part of its mean. The rows begin with seconds. */
    static double[] slopes(List<double[]> rows) {
        double[] hours = rows.stream().mapToDouble(r -> r[0] / 3600).toArray();
        return IntStream.rangeClosed(1, COLUMNS.size()).mapToDouble(i -> {
            double[] values = rows.stream().mapToDouble(r -> r[i]).toArray();
            return Fit.slope(hours, values) / Arrays.stream(values).average().orElse(Double.NaN);
        }).toArray();
    }

    private static String line(String first, IntFunction<String> cell) {
        StringBuilder text = new StringBuilder(String.format("  %8s", first));
        for (int i = 0; i < COLUMNS.size(); i++) {
            text.append(String.format("  %9s", cell.apply(i)));
        }
        return text.toString();
    }

    private static String cell(int column, double v) {
        return column < LATENCIES ? Format.nanos(v)
                : column < MEMORIES ? Math.round(v / 1e4) / 100.0 + " MB" : Format.plain(v);
    }

    // ---- in the JVM

    /** Prints a row each tenth of the time. The argument is the time in seconds. */
    public static void main(String[] args) throws Exception {
        new Drift().run((long) (Double.parseDouble(args[0]) * 1e9));
    }

    private void run(long nanos) throws Exception {
        Gmp gmp = Gmp.builder().build();
        Scheduler scheduler = gmp.call(() -> GStack.current().scheduler());
        for (int i = 0; i < WORKERS; i++) {
            gmp.go(this::spawn);
            gmp.go(this::pass);
            gmp.go(this::timer);
            gmp.go(this::select);
        }
        long start = System.nanoTime();
        for (int part = 1; part <= PARTS; part++) {
            long left = start + nanos * part / PARTS - System.nanoTime();
            Thread.sleep(Duration.ofNanos(Math.max(0, left)));
            StringBuilder row = new StringBuilder(Format.plain((System.nanoTime() - start) / 1e9));
            for (Recorder r : recorders) {
                Histogram h = r.getIntervalHistogram();
                row.append(' ').append(h.getValueAtPercentile(50)).append(' ').append(h.getValueAtPercentile(99));
            }
            System.gc();
            row.append(' ').append(GcCost.resident()).append(' ').append(GcCost.heap());
            row.append(' ').append(ManagementFactory.getThreadMXBean().getThreadCount());
            row.append(' ').append(scheduler.mcount());
            System.out.println(row);
            for (Recorder r : recorders) {
                r.reset(); // The collection was ours.
            }
        }
        stop = true;
        String left = gmp.close(PATIENCE);
        Load.check(left.isEmpty(), "left: " + left);
    }

    /** Something that takes a while. */
    private interface Step {
        void run(long i);
    }

    private void paced(int recorder, Duration ofIt, Step step) {
        for (long i = 1; !stop; i++) {
            long start = System.nanoTime();
            step.run(i);
            long late = System.nanoTime() - start - ofIt.toNanos();
            Load.check(late >= 0, "a timer was early");
            recorders[recorder].recordValue(late);
            Go.sleep(PACE);
        }
    }

    private void spawn() {
        AtomicInteger ran = new AtomicInteger();
        paced(0, Duration.ZERO, i -> {
            WaitGroup all = new WaitGroup();
            for (int k = 0; k < SPAWNED; k++) {
                all.go(ran::incrementAndGet);
            }
            all.await();
            Load.check(ran.getAndSet(0) == SPAWNED, "how many goroutines ran");
        });
    }

    private void pass() {
        LongChan ping = LongChan.make();
        LongChan pong = LongChan.make();
        Go.go(() -> {
            for (long v : ping) {
                pong.send(v);
            }
        });
        paced(1, Duration.ZERO, i -> {
            ping.send(i);
            Load.check(pong.recv() == i, "what came back");
        });
        ping.close();
    }

    private void timer() {
        paced(2, ALARM, i -> {
            boolean stopped = Time.newTimer(PATIENCE).stop();
            Load.check(stopped && Time.after(ALARM).recv() != null, "a timer's value");
        });
    }

    private void select() {
        Chan<Long> even = Chan.make();
        Chan<Long> odd = Chan.make();
        Chan<Long> asked = Chan.make(1);
        Go.go(() -> {
            for (long v : asked) {
                (v % 2 == 0 ? even : odd).send(v);
            }
        });
        long[] got = new long[1];
        Select s = Select.of().recv(even, v -> got[0] = v).recv(odd, v -> got[0] = v);
        paced(3, Duration.ZERO, i -> {
            asked.send(i);
            Load.check(s.run() == i % 2 && got[0] == i, "a select's case");
        });
        asked.close();
    }
}
