// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import org.gmp4j.bench.report.Page;


/** The results as one page: the ratios as a plot, then all figures. */
final class HtmlResults {
    private HtmlResults() {
    }

    static String write(Results results, PeersCommand.Settings settings) {
        StringBuilder page = new StringBuilder(Page.top("gmp peers"));
        page.append("<p class=\"lead\">The same work on gmp4j and on others, in turns on one machine.</p>\n");
        Page.facts(page, Reports.facts(results, settings));
        Page.heading(page, "gmp4j divided by others: left of 1 we need less");
        page.append(new RatioPlot(results).svg());
        Page.heading(page, "Medians and their intervals");
        Page.table(page, Reports.figures(results));
        Page.heading(page, "How it is measured");
        for (String paragraph : Reports.how(settings)) {
            page.append("<p>").append(Page.escape(paragraph)).append("</p>\n");
        }
        return page.append(Page.BOTTOM).toString();
    }
}
