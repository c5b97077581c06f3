// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;

import org.HdrHistogram.Histogram;
import org.gmp4j.SpinPolicy;
import org.gmp4j.bench.HtmlPage;
import org.gmp4j.bench.Json;
import org.gmp4j.bench.report.Histograms;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

/** Reports of made-up runs: three rounds on the JDK and on ours, one of which failed; no Go. */
class ReportsTest {
    private static final Load LIGHT = Load.light(Mix.RARE);
    private static final Load FULL = Load.percent(Mix.RARE, 95);
    private static final Load EXP = Load.requests(Mix.EXP, 100);
    private static final Variant OURS = Variant.ours(Quantum.parse("200"), SpinPolicy.go());
    private static final Settings SETTINGS = new Settings(10, 1, 2, 3, "on", true, "gmp service --x=<&>");

    private final Results results = new Results(List.of(FULL, LIGHT, EXP), List.of(Variant.jdk(), Variant.go(), OURS));

    private static Figures figures(long... micros) {
        Histogram h = Histograms.latencies();
        for (long us : micros) {
            h.recordValue(us * 1_000);
        }
        Histogram late = Histograms.latencies();
        late.recordValue(900);
        Proc.Use use = new Proc.Use(0.5, 0.25, micros.length, 2L * micros.length, 9, 2);
        return new Figures(new Tally(h, Histograms.latencies(), late, 0, 0.5), use, 0.06, 1, 0);
    }

    @BeforeEach
    void fill() {
        results.versions().put(Variant.Peer.JDK, "25");
        results.missing().put(Variant.go(), "Go was not found");
        for (Load load : List.of(FULL, LIGHT)) {
            for (int round = 0; round < 3; round++) {
                results.add(load, Variant.jdk(), round, figures(100 + round, 400));
            }
            results.add(load, OURS, 0, figures(200, 200));
            results.add(load, OURS, 2, figures(51, 100));
        }
        results.failed(LIGHT, OURS, "it | fell");
    }

    /** By rounds: 200/100 and 51/102; the second has no partner of ours. */
    @Test
    void ratios() {
        var ratio = results.ratio(LIGHT, OURS, Variant.jdk(), Metric.P50).orElseThrow();
        assertEquals(1.25, ratio.median(), 0.01);
        assertEquals(0.5, ratio.low(), 0.01);
        assertEquals(2, ratio.high(), 0.01);
        assertTrue(results.ratio(LIGHT, OURS, Variant.go(), Metric.P50).isEmpty());
        assertTrue(results.figure(LIGHT, OURS, Metric.LONG_P50).isEmpty());
        assertEquals(0.375e9, results.figure(LIGHT, OURS, Metric.CPU).orElseThrow().median());
        assertEquals(3, results.figure(LIGHT, OURS, Metric.SWITCHES).orElseThrow().median());
    }

    @Test
    void text() {
        String text = Reports.text(results, SETTINGS);
        assertTrue(text.contains("  light  go            not found"), text);
        assertTrue(text.contains("100/s  jdk           failed") || text.contains("100/s  jdk              failed"), text);
        assertTrue(text.contains("  light  gmp4j 200 µs  jdk         1.25 (0.50 to 2.00)"), text);
        assertTrue(text.contains("go: Go was not found.\n"), text);
        assertTrue(text.contains("rare, light, gmp4j 200 µs: 1 of 3 runs failed: it | fell.\n"), text);
        assertTrue(text.contains("The client itself was late by at most 900 ns at p99 of any run. Others"), text);
        assertTrue(text.contains(" had at most 12 % of the server's CPU in any run.\n"), text);
    }

    @Test
    void json() {
        Map<?, ?> all = (Map<?, ?>) Json.parse(Reports.json(results, SETTINGS));
        assertEquals(10, ((List<?>) all.get("runs")).size());
        List<?> medians = (List<?>) all.get("medians");
        assertEquals(9, medians.size());
        Map<?, ?> go = (Map<?, ?>) medians.get(4);
        assertEquals(List.of("rare", "light", "go"), List.of(go.get("mix"), go.get("load"), go.get("scheduler")));
        assertNull(go.get("p50_ns"));
        assertEquals("Go was not found", go.get("missing"));
        Map<?, ?> ours = (Map<?, ?>) medians.get(5);
        assertEquals(List.of("it | fell"), ours.get("failures"));
        assertEquals(4.0, ours.get("load_percent"));
        assertEquals(1, ((Map<?, ?>) ours.get("ratios")).size());
        Map<?, ?> settings = (Map<?, ?>) all.get("settings");
        assertEquals(List.of(10.0, 3.0, true),
                List.of(settings.get("connections"), settings.get("runs"), settings.get("burn")));
    }

    @Test
    void page() throws Exception {
        String page = Reports.page(results, SETTINGS).html();
        Document document = HtmlPage.parse(page);
        // Four against load and two of percentiles; the mix without figures has none.
        assertEquals(6, document.getElementsByTagName("svg").getLength());
        assertTrue(!page.contains("NaN") && !page.contains("Infinity") && !page.contains("http"), page);
        // To the right by load, whatever the order: light first.
        assertTrue(page.indexOf(">light</text>") < page.indexOf(">95 %</text>"), page);
    }

    /** What people wrote stays. */
    @Test
    void markdown() {
        String page = Reports.page(results, SETTINGS).markdown("gmp service", "Remarks", "# old\n\n## Remarks\n\nWhy it is so.\n");
        assertTrue(page.contains("| light | gmp4j 200 µs | "), page);
        assertTrue(page.lines().allMatch(line -> line.startsWith("|") || line.length() <= 140), page);
        assertTrue(page.lines().anyMatch(line -> line.length() > 120 && !line.startsWith("|")), page);
        assertTrue(page.endsWith("\n## Remarks\n\nWhy it is so.\n") && !page.contains("# old"), page);
        assertTrue(Reports.page(results, SETTINGS).markdown("gmp service", "Remarks", "").endsWith("\n## Remarks\n"), page);
    }
}
