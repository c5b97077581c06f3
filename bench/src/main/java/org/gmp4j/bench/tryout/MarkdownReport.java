// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import org.gmp4j.bench.report.Markdown;

/** The results as a page to commit. What people wrote under its last heading stays when it is written again. */
final class MarkdownReport {
    /** What is beneath it is not ours. */
    static final String REMARKS = "## Remarks";

    private MarkdownReport() {
    }

    /** Returns the page. {@code old} is the file's old text, or empty. */
    static String write(Results results, Settings settings, String old) {
        StringBuilder page = new StringBuilder("# A service, tried on gmp4j and on the JDK's scheduler\n\n");
        page.append("Written by `gmp try --markdown`; from \"Remarks\" on it is by hand.\n\n");
        Markdown.facts(page, Reports.facts(results, settings));
        Markdown.paragraphs(page, Reports.outcome(results, settings));
        Reports.figures(results, settings)
                .forEach(part -> page.append("\n## ").append(part.title()).append("\n\n").append(part.table().markdown()));
        page.append("\n## Divided by ").append(results.first().name()).append("\n\n").append(Reports.ratios(results, settings).markdown());
        page.append("\n## How it is measured\n");
        Markdown.paragraphs(page, Reports.notes(results));
        Markdown.paragraphs(page, Reports.how(settings));
        Markdown.kept(page, REMARKS, old);
        return page.toString();
    }
}
