// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

import org.HdrHistogram.HistogramLogWriter;

/**
 * HdrHistogram's log: one histogram a run, with all its counts, for tools that merge and compare histograms. A histogram is tagged with
 * the name of its run. Runs take turns, so each interval is the whole measurement.
 */
final class HlogReport {
    private static final double NANOS = 1e9;

    private HlogReport() {
    }

    static String write(Report report) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        HistogramLogWriter log = new HistogramLogWriter(new PrintStream(bytes, false, StandardCharsets.UTF_8));
        log.outputLogFormatVersion();
        for (Result r : report.results()) {
            log.outputComment("[" + tag(r) + ": nanoseconds of " + r.operations() + (r.operations() == 1 ? " operation]" : " operations]"));
        }
        log.outputLegend();
        double seconds = report.settings().nanos() / NANOS;
        for (Result r : report.results()) {
            r.histogram().setTag(tag(r));
            log.outputIntervalHistogram(0, seconds, r.histogram(), 1);
        }
        log.close();
        return bytes.toString(StandardCharsets.UTF_8);
    }

    /** Returns the name of a run in ASCII without commas and blanks, which a log cannot have in a tag. */
    static String tag(Result r) {
        return r.run().title().replace('µ', 'u').replaceAll("[^A-Za-z0-9.]+", "-");
    }
}
