// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;

import org.gmp4j.metrics.Description.Kind;
import org.gmp4j.sched.base.Scheduler;

/** The text format of Prometheus, version 0.0.4. */
final class PrometheusText {
    /** The exponents of the first and the last finite bound of histograms, which are powers of two, in ns: from 1 µs to 34 s. */
    private static final int FIRST_POWER = 10;
    private static final int LAST_POWER = 35;
    private static final double NANOS = 1e9;

    private record Sample(String scheduler, Map<String, Object> values) {
    }

    private PrometheusText() {
    }

    static String of(List<Scheduler> schedulers) {
        List<Sample> samples = new ArrayList<>();
        for (Scheduler s : new LinkedHashSet<>(schedulers)) { // A scheduler may be in the list twice.
            try {
                samples.add(new Sample(escaped(s.label()), new Metrics(s).read()));
            } catch (IllegalStateException closed) {
                continue; // The scheduler has just been closed.
            }
        }
        StringBuilder b = new StringBuilder();
        for (Description d : Metrics.all()) {
            String name = name(d);
            b.append("# HELP ").append(name).append(' ').append(d.help().replace("\\", "\\\\")).append('\n');
            b.append("# TYPE ").append(name).append(' ')
                    .append(d.kind() == Kind.HISTOGRAM ? "histogram" : d.cumulative() ? "counter" : "gauge").append('\n');
            for (Sample s : samples) {
                Object v = s.values.get(d.name());
                if (v != null) {
                    value(b, name, "scheduler=\"" + s.scheduler + '"', v);
                }
            }
        }
        return b.toString();
    }

    /** Returns the name of a metric for Prometheus. */
    static String name(Description d) {
        String name = "gmp" + d.name().replaceAll("[^A-Za-z]", "_");
        return d.cumulative() && d.kind() != Kind.HISTOGRAM ? name + "_total" : name;
    }

    private static String escaped(String label) {
        return label.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    private static void value(StringBuilder b, String name, String labels, Object value) {
        switch (value) {
            case Histogram h -> histogram(b, name, labels, h);
            case long[] byP -> {
                for (int p = 0; p < byP.length; p++) {
                    line(b, name, labels + ",p=\"" + p + '"', byP[p]);
                }
            }
            case long[][] byPair -> {
                for (int thief = 0; thief < byPair.length; thief++) {
                    for (int victim = 0; victim < byPair[thief].length; victim++) {
                        if (byPair[thief][victim] != 0) { // Zeros are left out, because there may be millions of them.
                            line(b, name, labels + ",thief=\"" + thief + "\",victim=\"" + victim + '"', byPair[thief][victim]);
                        }
                    }
                }
            }
            default -> line(b, name, labels, value);
        }
    }

    private static void line(StringBuilder b, String name, String labels, Object value) {
        b.append(name).append('{').append(labels).append("} ").append(value).append('\n');
    }

    private static void histogram(StringBuilder b, String name, String labels, Histogram h) {
        for (int power = FIRST_POWER; power <= LAST_POWER; power++) {
            double bound = (1L << power) / NANOS;
            line(b, name + "_bucket", labels + ",le=\"" + bound + '"', h.below(bound));
        }
        long n = h.count();
        line(b, name + "_bucket", labels + ",le=\"+Inf\"", n);
        line(b, name + "_sum", labels, h.sum());
        line(b, name + "_count", labels, n);
    }
}
