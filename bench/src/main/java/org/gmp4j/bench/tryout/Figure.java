// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.report.Format;

/**
 * A figure of a turn.
 *
 * @param part which part of the turn it is of
 * @param title for people, within its part
 * @param key for files
 * @param unit how it is written
 * @param isJudged whether a verdict is given of it
 * @param of the turn's value; NaN for none
 */
record Figure(String part, String title, String key, Unit unit, boolean isJudged, ToDoubleFunction<Turn> of) {
    static final String START = "start";
    static final String WARM = "warm";
    static final String FULL = "at full load";
    static final String PROCESS = "process";

    /** How a value is written; times are in nanoseconds. */
    enum Unit {
        NANOS, SECONDS, BYTES, COUNT, PER_SECOND
    }

    /** Returns the figures of turns with these settings, in the order of reports. */
    static List<Figure> all(Settings settings) {
        List<Figure> all = new ArrayList<>();
        String young = young(settings);
        all.add(new Figure(START, "until the port answers", "answer_ns", Unit.NANOS, true, t -> 1e9 * t.answerSeconds()));
        all.add(new Figure(START, "CPU until it answers", "start_cpu_ns", Unit.NANOS, true, t -> 1e9 * t.startCpu()));
        all.add(new Figure(START, "settled after", "settled_ns", Unit.SECONDS, true, t -> 1e9 * t.tape().settled()));
        all.add(new Figure(START, "CPU of the " + young, "young_cpu_ns", Unit.NANOS, true, t -> 1e9 * t.youngCpu()));
        List<Tape.Window> windows = Tape.windows(settings.seconds());
        if (windows.size() > 1) {
            for (int i = 0; i < windows.size(); i++) {
                int n = i;
                Tape.Window w = windows.get(i);
                percentiles(all, w.name(), "from_" + Format.plain(w.from()) + "_to_" + Format.plain(w.to()) + "_s", false,
                        t -> t.tape().windows().get(n).latencies());
            }
        }
        percentiles(all, young, "young", true, t -> t.tape().young());
        if (settings.hasWarm()) {
            percentiles(all, WARM, "warm", true, t -> t.tape().warm());
            all.add(new Figure(WARM, "CPU/request", "warm_cpu_ns_per_request", Unit.NANOS, true,
                    t -> 1e9 * t.warmCpu() / t.tape().warm().getTotalCount()));
        }
        if (settings.saturates()) {
            all.add(new Figure(FULL, "answers/s", "full_answers_per_second", Unit.PER_SECOND, true, t -> t.saturation().perSecond()));
            percentiles(all, FULL, "full", true, t -> t.saturation().latencies());
            all.add(new Figure(FULL, "CPU/request", "full_cpu_ns_per_request", Unit.NANOS, true,
                    t -> 1e9 * t.saturation().cpu() / t.saturation().latencies().getTotalCount()));
        }
        all.add(new Figure(PROCESS, "peak memory", "peak_memory_bytes", Unit.BYTES, true, Turn::peakMemory));
        all.add(new Figure(PROCESS, "threads", "threads", Unit.COUNT, true, Turn::threads));
        return all;
    }

    /** Returns the name of the part in which the service is young. */
    static String young(Settings settings) {
        return "first " + Format.plain(settings.seconds()) + " s";
    }

    private static void percentiles(List<Figure> all, String part, String key, boolean isJudged, Function<Turn, Histogram> of) {
        for (int percentile : new int[] {50, 90, 99, 100}) {
            String title = percentile == 100 ? "max" : "p" + percentile;
            all.add(new Figure(part, title, key + "_" + title + "_ns", Unit.NANOS, isJudged, t -> value(of.apply(t), percentile)));
        }
    }

    private static double value(Histogram h, int percentile) {
        return h.getTotalCount() == 0 ? Double.NaN : h.getValueAtPercentile(percentile);
    }

    /** Returns whether a greater value is the better one. */
    boolean isMoreBetter() {
        return unit == Unit.PER_SECOND;
    }

    /** Returns the name with its part, for a sentence. */
    String name() {
        return part.equals(START) || part.equals(PROCESS) ? title : title + " (" + part + ")";
    }

    /** Returns a value with its unit. */
    String text(double v) {
        return switch (unit) {
            case NANOS -> Format.nanos(v);
            case SECONDS -> Format.seconds(Math.round(v)) + " s";
            case BYTES -> Format.count(Math.round(v / (1 << 20))) + " MiB";
            case COUNT -> Format.plain(v);
            case PER_SECOND -> Format.count(Math.round(v));
        };
    }
}
