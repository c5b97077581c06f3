// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import org.gmp4j.bench.report.Markdown;
import org.gmp4j.bench.report.Table;

/** The results as a page to commit. What people wrote under its last heading stays when it is written again. */
final class MarkdownReport {
    /** What is beneath it is not ours. */
    static final String REMARKS = "## Remarks";

    private MarkdownReport() {
    }

    /** Returns the page. {@code old} is the file's old text, or empty. */
    static String write(Results results, Settings settings, String old) {
        StringBuilder page = new StringBuilder("# A service on gmp4j, the JDK's scheduler and Go\n\n");
        page.append("Written by `gmp service --markdown`; from \"Remarks\" on it is by hand.\n\n");
        Markdown.facts(page, Reports.facts(results, settings));
        for (Mix mix : results.mixes()) {
            page.append("\n## ").append(mix).append("\n\n").append(mix.about()).append(".\n\n");
            page.append(Reports.figures(results, mix, false).markdown());
            Table ratios = Reports.ratios(results, mix);
            if (!ratios.rows().isEmpty()) {
                page.append("\nOurs divided by theirs (below 1: we need less):\n\n").append(ratios.markdown());
            }
        }
        page.append("\n## How it is measured\n");
        Markdown.paragraphs(page, Reports.notes(results));
        Markdown.paragraphs(page, Reports.how(settings));
        Markdown.kept(page, REMARKS, old);
        return page.toString();
    }
}
