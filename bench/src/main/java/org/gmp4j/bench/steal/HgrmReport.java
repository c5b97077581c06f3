// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * HdrHistogram's percentile output, in nanoseconds: one section a run, each after a line {@code # run: NAME}.
 * {@code csplit FILE '/^# run/' '{*}'} makes one file of each, which HdrHistogram's plotter reads.
 */
final class HgrmReport {
    private static final int TICKS = 5;

    private HgrmReport() {
    }

    static String write(Report report) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8);
        for (Result r : report.results()) {
            out.print("# run: " + r.run().title() + " [ns]\n");
            r.histogram().outputPercentileDistribution(out, TICKS, (double) r.operations());
            out.print("\n");
        }
        out.flush();
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
