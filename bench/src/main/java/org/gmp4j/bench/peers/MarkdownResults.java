// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import org.gmp4j.bench.report.Markdown;


/** The results as a page to commit. What people wrote under its last heading stays when it is written again. */
final class MarkdownResults {
    /** What is beneath it is not ours. */
    static final String BEHIND = "## Where we are behind";

    private MarkdownResults() {
    }

    /** Returns the page. {@code old} is the file's old text, or empty. */
    static String write(Results results, PeersCommand.Settings settings, String old) {
        StringBuilder page = new StringBuilder("# gmp4j beside Go, the JDK and Kotlin\n\n");
        page.append("Written by `gmp peers --markdown`; from \"Where we are behind\" on it is by hand.\n\n");
        Markdown.facts(page, Reports.facts(results, settings));
        page.append("\n## Figures\n\n");
        page.append(Reports.figures(results).markdown());
        page.append("\n## How it is measured\n");
        Markdown.paragraphs(page, Reports.how(settings));
        Markdown.kept(page, BEHIND, old);
        return page.toString();
    }
}
