// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.zip.DataFormatException;

import org.HdrHistogram.Histogram;

/** Histograms of latencies in nanoseconds, and their form in files: HdrHistogram's compressed one in base 64. */
public final class Histograms {
    private static final long USUALLY_MOST_NANOS = 60_000_000_000L;
    private static final int DIGITS = 3;

    private Histograms() {
    }

    /** Makes an empty histogram, which grows when a server falls behind for long. */
    public static Histogram latencies() {
        return latencies(DIGITS);
    }

    /** Makes an empty histogram with so many significant digits; with two it takes an eighth of the memory. */
    public static Histogram latencies(int digits) {
        Histogram h = new Histogram(USUALLY_MOST_NANOS, digits);
        h.setAutoResize(true);
        return h;
    }

    /** Returns the histogram as text that HdrHistogram's tools read. */
    public static String encode(Histogram h) {
        ByteBuffer bytes = ByteBuffer.allocate(h.getNeededByteBufferCapacity());
        h.encodeIntoCompressedByteBuffer(bytes);
        bytes.flip();
        return new String(Base64.getEncoder().encode(bytes).array(), StandardCharsets.ISO_8859_1);
    }

    /** Reads what {@link #encode} wrote. */
    public static Histogram decode(String text) throws DataFormatException {
        Histogram h = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(Base64.getDecoder().decode(text)), 0);
        h.setAutoResize(true);
        return h;
    }
}
