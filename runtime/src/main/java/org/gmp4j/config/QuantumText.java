// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.config;

import java.time.Duration;

/** A quantum in the text form of settings: one duration, {@code 10ms}, or the least and the greatest one, {@code 200us..10ms}. */
public final class QuantumText {
    /** The possible forms, for a message. */
    public static final String POSSIBLE = "a duration from 200us to 60s, such as 500us or 10ms; or two, as 200us..10ms";

    private QuantumText() {
    }

    /**
     * Returns the quantum.
     *
     * @throws IllegalArgumentException when the text is not a valid quantum; the message says what to use
     */
    public static Quantum parse(String text) {
        int dots = text.indexOf("..");
        Duration least = duration(dots < 0 ? text : text.substring(0, dots));
        Duration most = duration(dots < 0 ? text : text.substring(dots + 2));
        if (least.compareTo(most) > 0) {
            throw new IllegalArgumentException("give the shorter one first");
        }
        return new Quantum(least.toNanos(), most.toNanos());
    }

    private static Duration duration(String text) {
        Duration d = DurationText.parse(text);
        if (d == null || d.compareTo(Quantum.SHORTEST) < 0 || d.compareTo(Quantum.LONGEST) > 0) {
            throw new IllegalArgumentException("use " + POSSIBLE);
        }
        return d;
    }

    /** Returns the quantum in the form that {@link #parse} reads. */
    public static String format(Quantum q) {
        String most = DurationText.format(q.most());
        return q.least() == q.most() ? most : DurationText.format(q.least()) + ".." + most;
    }
}
