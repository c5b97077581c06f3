// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.util.zip.DataFormatException;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.report.Histograms;

/**
 * What the client counted, as one line: times are nanoseconds, histograms HdrHistogram's compressed form in base 64.
 *
 * @param shorts latencies of short requests, from the intended time
 * @param longs those of the others
 * @param late from a request's intended time until the client had got round to it: more than a little, and it is the client
 *     that is measured
 * @param queued requests that found all connections taken
 * @param took seconds until everything was answered
 */
record Tally(Histogram shorts, Histogram longs, Histogram late, long queued, double took) {
    private static final int PARTS = 5;

    static Tally parse(String line) throws IOException {
        String[] parts = line.split(" ");
        if (parts.length != PARTS) {
            throw new IOException("the client said " + line);
        }
        try {
            return new Tally(Histograms.decode(parts[2]), Histograms.decode(parts[3]), Histograms.decode(parts[4]),
                    Long.parseLong(parts[0]),
                    Double.parseDouble(parts[1]));
        } catch (DataFormatException | IllegalArgumentException | BufferUnderflowException e) {
            throw new IOException("the client said " + line, e);
        }
    }

    /** Returns the number of answered requests. */
    long answered() {
        return shorts.getTotalCount() + longs.getTotalCount();
    }

    @Override
    public String toString() {
        return queued + " " + took + " " + Histograms.encode(shorts) + " " + Histograms.encode(longs) + " " + Histograms.encode(late);
    }
}
