// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.gmp4j.bench.report.Format;


/** The time slices of a server: one length, or the least and the most of an adaptive one. Both in microseconds. */
record Quantum(long leastMicros, long mostMicros) {
    private static final long MIN = 200;
    private static final long MAX = 60_000_000;
    private static final Pattern TEXT = Pattern.compile("(\\d{1,8})(?:\\.\\.(\\d{1,8}))?");

    /** Parses {@code 1000} or {@code 200..1000}. Returns null for another form, or out of range. */
    static Quantum parse(String text) {
        Matcher m = TEXT.matcher(text);
        if (!m.matches()) {
            return null;
        }
        long least = Long.parseLong(m.group(1));
        long most = m.group(2) == null ? least : Long.parseLong(m.group(2));
        return least >= MIN && least <= most && most <= MAX ? new Quantum(least, most) : null;
    }

    Duration least() {
        return Duration.ofNanos(leastMicros * 1_000);
    }

    Duration most() {
        return Duration.ofNanos(mostMicros * 1_000);
    }

    /** Returns the text that {@link #parse} reads. */
    String argument() {
        return leastMicros == mostMicros ? "" + mostMicros : leastMicros + ".." + mostMicros;
    }

    /** Returns the name for people. */
    String text() {
        String most = Format.gap(mostMicros * 1_000);
        return leastMicros == mostMicros ? most : Format.gap(leastMicros * 1_000) + " to " + most;
    }
}
