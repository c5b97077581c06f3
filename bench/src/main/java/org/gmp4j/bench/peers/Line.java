// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What peers print: one JSON object a line, {@code {"work":…,"unit":…,"value":…}}. One that has no value has null, and
 * {@code "note"} says why.
 *
 * @param work the figure's name, without quotes and backslashes
 * @param unit {@code ns}, {@code ms}, {@code bytes}, {@code ms/s}, {@code times}
 * @param value NaN when there is none
 * @param note empty when there is a value
 */
record Line(String work, String unit, double value, String note) {
    private static final String STRING = "\"([^\"\\\\]*)\"";
    private static final Pattern FORM = Pattern.compile("\\s*\\{\\s*\"work\"\\s*:\\s*" + STRING
            + "\\s*,\\s*\"unit\"\\s*:\\s*" + STRING
            + "\\s*,\\s*\"value\"\\s*:\\s*(null|-?[0-9][0-9.eE+-]*)"
            + "\\s*(?:,\\s*\"note\"\\s*:\\s*" + STRING + "\\s*)?\\}\\s*");

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException if it is none
     */
    static Line parse(String text) {
        Matcher m = FORM.matcher(text);
        if (!m.matches()) {
            throw new IllegalArgumentException("not a figure: " + text);
        }
        double value = m.group(3).equals("null") ? Double.NaN : Double.parseDouble(m.group(3));
        return new Line(m.group(1), m.group(2), value, m.group(4) == null ? "" : m.group(4));
    }

    boolean hasValue() {
        return !Double.isNaN(value);
    }

    @Override
    public String toString() {
        String start = "{\"work\":\"" + work + "\",\"unit\":\"" + unit + "\",\"value\":";
        return hasValue()
                ? start + String.format(Locale.ROOT, "%.3f", value) + "}"
                : start + "null,\"note\":\"" + note + "\"}";
    }
}
