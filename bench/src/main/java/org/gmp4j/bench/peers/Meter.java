// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

import org.HdrHistogram.Histogram;

/**
 * Takes a work's figures in a peer's own process: a warm-up, then runs until the time is up. Each figure becomes a line of
 * the protocol, {@link Line}. For one thread at a time.
 */
final class Meter {
    /** Each work has at least so many runs. */
    static final int LEAST_RUNS = 3;

    private static final int BURSTS = 4;

    /** The JIT has finished when its clock has stood still for so many pauses. */
    private static final int QUIET = 3;

    private static final long DRAIN = 10_000_000L;
    private static final long MOST_DRAIN = 200_000_000L;
    private static final long MOST_NANOS = 100_000_000_000L;

    private final Settings settings;
    private final String variant;
    private final Consumer<Line> out;

    /**
     * How long to measure.
     *
     * @param warmUpNanos before each figure
     * @param nanos for each figure
     * @param limitNanos what waits longer than that for its turn never gets it
     * @param scale what each run's size is divided by: above 1 for tests
     */
    record Settings(long warmUpNanos, long nanos, long limitNanos, int scale) {
    }

    /** Makes a meter whose lines have the variant in their names, or {@code ""}. */
    Meter(Settings settings, String variant, Consumer<Line> out) {
        this.settings = settings;
        this.variant = variant;
        this.out = out;
    }

    Settings settings() {
        return settings;
    }

    /** Returns a run's size. */
    int size(int n) {
        return Math.max(1, n / settings.scale());
    }

    /**
     * Nanoseconds an operation of something that does {@code operations} of them, a line a run. Each run is a new thread of
     * the kit's: one that never ended would keep interpreted frames on its stack, which slow each switch down.
     */
    void perOperation(Kit kit, String name, int operations, Runnable body) {
        warmUp(nanos -> {
            long end = System.nanoTime() + nanos;
            do {
                kit.run(body);
            } while (System.nanoTime() - end < 0);
        });
        long end = System.nanoTime() + settings.nanos();
        for (int runs = 0; runs < LEAST_RUNS || System.nanoTime() - end < 0; runs++) {
            long start = System.nanoTime();
            kit.run(body);
            value(name, "ns", (System.nanoTime() - start) / (double) operations);
        }
    }

    /** Does it in bursts, between which the JIT has the CPUs until it has compiled what it wants to; from outside. */
    void warmUp(LongConsumer forNanos) {
        for (int i = 0; i < BURSTS; i++) {
            forNanos.accept(settings.warmUpNanos() / BURSTS);
            long end = System.nanoTime() + Math.min(MOST_DRAIN, settings.warmUpNanos());
            long last = jitMillis();
            for (int quiet = 0; quiet < QUIET && System.nanoTime() - end < 0; quiet++) {
                LockSupport.parkNanos(DRAIN);
                long now = jitMillis();
                if (now != last) {
                    last = now;
                    quiet = -1;
                }
            }
        }
    }

    private static long jitMillis() {
        return ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
    }

    /** Makes a histogram for nanoseconds. */
    static Histogram histogram() {
        return new Histogram(MOST_NANOS, 3);
    }

    /** Writes a line for each percentile. */
    void percentiles(String name, Histogram h, double... percentiles) {
        for (double p : percentiles) {
            value(name + "/p" + (int) p, "ns", h.getValueAtPercentile(p));
        }
    }

    /** Writes a line. */
    void value(String name, String unit, double value) {
        out.accept(new Line(named(name), unit, value, ""));
    }

    /** Writes that the work did not end within the limit. */
    void never(String name, String unit) {
        out.accept(new Line(named(name), unit, Double.NaN, "never in " + settings.limitNanos() / 1_000_000_000 + " s"));
    }

    /** Returns the name with the variant in it: {@code wake/p50} with {@code spin=go} is {@code wake/spin=go/p50}. */
    private String named(String name) {
        int end = name.indexOf('/');
        return variant.isEmpty() ? name
                : end < 0 ? name + "/" + variant : name.substring(0, end) + "/" + variant + name.substring(end);
    }
}
