// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import org.gmp4j.bench.steal.Table;

/** The results as a page to commit. What people wrote under its last heading stays when it is written again. */
final class MarkdownReport {
    /** What is beneath it is not ours. */
    static final String REMARKS = "## Remarks";

    private MarkdownReport() {}

    /** The page; {@code old} is what stood in the file, or empty. */
    static String write(Results results, Settings settings, String old) {
        StringBuilder page = new StringBuilder("# A service on gmp4j, the JDK's scheduler and Go\n\n");
        page.append("Written by `gmp service --markdown`; from \"Remarks\" on it is by hand.\n\n");
        Reports.facts(results, settings).forEach(
                (name, value) -> page.append("- **").append(name).append(":** ").append(value).append('\n'));
        for (Mix mix : results.mixes()) {
            page.append("\n## ").append(mix).append("\n\n").append(mix.about()).append(".\n\n");
            page.append(Reports.figures(results, mix, true).markdown());
            Table ratios = Reports.ratios(results, mix);
            if (!ratios.rows().isEmpty()) {
                page.append("\nOurs divided by theirs (below 1: we need less):\n\n").append(ratios.markdown());
            }
        }
        page.append("\n## How it is measured\n");
        Reports.notes(results).forEach(note -> page.append('\n').append(note).append('\n'));
        Reports.how(settings).forEach(paragraph -> page.append('\n').append(paragraph).append('\n'));
        int remarks = old.indexOf("\n" + REMARKS);
        page.append('\n').append(remarks < 0 ? REMARKS + "\n" : old.substring(remarks + 1));
        return page.toString();
    }
}
