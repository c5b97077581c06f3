// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.DataFormatException;

import org.HdrHistogram.Histogram;

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
    private static final long USUALLY_MOST_NANOS = 60_000_000_000L;
    private static final int PARTS = 5;

    static Histogram histogram() {
        Histogram h = new Histogram(USUALLY_MOST_NANOS, 3);
        h.setAutoResize(true); // Of a server that falls behind for long.
        return h;
    }

    static Tally parse(String line) throws IOException {
        String[] parts = line.split(" ");
        if (parts.length != PARTS) {
            throw new IOException("the client said " + line);
        }
        try {
            return new Tally(decode(parts[2]), decode(parts[3]), decode(parts[4]), Long.parseLong(parts[0]),
                    Double.parseDouble(parts[1]));
        } catch (DataFormatException | IllegalArgumentException | BufferUnderflowException e) {
            throw new IOException("the client said " + line, e);
        }
    }

    /** As many as were answered. */
    long answered() {
        return shorts.getTotalCount() + longs.getTotalCount();
    }

    @Override
    public String toString() {
        return queued + " " + took + " " + encode(shorts) + " " + encode(longs) + " " + encode(late);
    }

    /** What any of HdrHistogram's tools reads. */
    static String encode(Histogram h) {
        ByteBuffer bytes = ByteBuffer.allocate(h.getNeededByteBufferCapacity());
        h.encodeIntoCompressedByteBuffer(bytes);
        bytes.flip();
        return new String(Base64.getEncoder().encode(bytes).array(), StandardCharsets.ISO_8859_1);
    }

    static Histogram decode(String text) throws DataFormatException {
        Histogram h = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        h.setAutoResize(true);
        return h;
    }
}
