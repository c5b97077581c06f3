// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.measure.JavaCommand;

/** JVMs that measure one thing each, with the agent. Their main classes print lines for people to stdout. */
final class Child {
    private static final String SECONDS = "gmp.bench.seconds";
    private static final double MICROS = 1e3;

    private final PrintWriter out;
    private final double seconds;
    private final boolean points;

    Child(PrintWriter out, double seconds, boolean points) {
        this.out = out;
        this.seconds = seconds;
        this.points = points;
    }

    PrintWriter out() {
        return out;
    }

    /** Runs a main class and passes its lines on. */
    void show(Class<?> main, String... args) throws IOException, InterruptedException {
        show(List.of(), main, args);
    }

    /** Runs the program with more JVM options. */
    void show(List<String> options, Class<?> main, String... args) throws IOException, InterruptedException {
        lines(options, main, points, args).forEach(out::println);
        out.flush();
    }

    /** Runs a main class and returns its lines; {@code points}: classes get preemption points as they load. */
    List<String> lines(Class<?> main, boolean points, String... args) throws IOException, InterruptedException {
        return lines(List.of(), main, points, args);
    }

    /** Runs the program with more JVM options. */
    List<String> lines(List<String> options, Class<?> main, boolean points, String... args)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(
                "-javaagent:" + JavaCommand.runtime() + (points ? "" : "=points=off"), "-D" + SECONDS + "=" + seconds));
        all.addAll(options);
        List<String> command = JavaCommand.of(all, main, List.of(args));
        Process p = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
        List<String> lines;
        try (var in = p.inputReader(StandardCharsets.UTF_8)) {
            lines = in.lines().toList();
            if (p.waitFor() != 0) {
                throw new IOException(main.getSimpleName() + " ended with " + p.exitValue());
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } finally {
            p.destroyForcibly();
        }
        return lines;
    }

    // ---- in the child

    /** Returns how long a figure is measured, in nanoseconds. */
    static long nanos() {
        return (long) (Double.parseDouble(System.getProperty(SECONDS)) * 1e9);
    }

    /** Makes a histogram for nanoseconds, up to a minute. */
    static Histogram histogram() {
        return new Histogram(60_000_000_000L, 3);
    }

    /** Returns a line of percentiles, in microseconds. */
    static String line(String what, Histogram h) {
        return String.format(Locale.ROOT, "  %-44s p50 %9.1f µs  p99 %9.1f µs  max %9.1f µs  n %d", what,
                h.getValueAtPercentile(50) / MICROS, h.getValueAtPercentile(99) / MICROS, h.getMaxValue() / MICROS,
                h.getTotalCount());
    }
}
