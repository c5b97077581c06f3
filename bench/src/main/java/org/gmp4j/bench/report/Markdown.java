// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import java.util.List;
import java.util.Map;

/** The parts of a page of results that is committed. */
public final class Markdown {
    private Markdown() {
    }

    /** Names and what they stand for, as a list. */
    public static void facts(StringBuilder page, Map<String, String> facts) {
        facts.forEach((name, value) -> page.append("- **").append(name).append(":** ").append(value).append('\n'));
    }

    /** Appends the paragraphs, each with an empty line before it. */
    public static void paragraphs(StringBuilder page, List<String> all) {
        all.forEach(p -> page.append('\n').append(p).append('\n'));
    }

    /** Appends the last part, which people write: the heading, and the text below it in the old page. */
    public static void kept(StringBuilder page, String heading, String old) {
        String lines = "\n" + old;
        int at = lines.indexOf("\n" + heading);
        page.append('\n').append(at < 0 ? heading + "\n" : lines.substring(at + 1));
    }
}
