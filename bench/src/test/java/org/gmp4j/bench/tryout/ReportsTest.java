// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.HtmlPage;
import org.gmp4j.bench.Json;
import org.gmp4j.bench.report.Histograms;
import org.gmp4j.bench.report.Verdict;
import org.junit.jupiter.api.Test;

/** Reports of made-up turns. */
class ReportsTest {
    private static final Variant SHORT = new Variant("short", true, List.of("-Da=<&>|"));
    private static final long US = 1_000;

    private final Results results = new Results(List.of(Variant.JDK, Variant.GMP4J, SHORT));

    private static Settings settings(int turns) {
        BitSet one = new BitSet();
        one.set(0);
        return new Settings(500, "/hello", List.of(), 50, 2, 4, 1, turns, 0, one, one, List.of("java", "X"), "gmp try --x=<&>");
    }

    /** All latencies are of so many microseconds, the memory of a MiB for each. */
    private static Turn turn(long micros, int length, long lateMicros, double others) {
        Tape tape = new Tape(0, 2, 4);
        for (long due : new long[] {0, 1_500_000 * US, 4_500_000 * US}) {
            tape.sent(due, due + lateMicros * US);
            tape.answered(due, due + micros * US, 200, length);
        }
        Histogram full = Histograms.latencies();
        full.recordValue(micros * US);
        return new Turn(1, 2, 3, 0.5, tape, new Turn.Saturation(full, 1e-6 * micros, 0.25, 0.5), (double) micros * (1 << 20), 9, 0, others);
    }

    private void add(Variant v, long... micros) {
        for (long us : micros) {
            results.add(v, turn(us, 5, 10, 1));
        }
    }

    private Figure figure(String key) {
        return Figure.all(settings(5)).stream().filter(f -> f.key().equals(key)).findFirst().orElseThrow();
    }

    /** The JDK's own turns reach from 0.8 to 1.2 of their median. A ratio of 0.9 in every turn is inside of that, one of 0.5 is not. */
    @Test
    void noWinnerInsideTheNoise() {
        add(Variant.JDK, 80, 90, 100, 110, 120);
        add(Variant.GMP4J, 72, 81, 90, 99, 108);
        add(SHORT, 40, 45, 50, 55, 60);
        assertEquals(Verdict.NOTHING, results.verdict(Variant.GMP4J, figure("young_p50_ns")).orElseThrow());
        assertEquals(Verdict.LESS, results.verdict(SHORT, figure("young_p50_ns")).orElseThrow());
        assertEquals(Verdict.MORE, results.verdict(SHORT, figure("full_answers_per_second")).orElseThrow());
        assertTrue(results.verdict(SHORT, figure("from_0_to_1_s_p50_ns")).isEmpty(), "of a window there is no verdict");
        String text = Reports.text(results, settings(5));
        assertTrue(text.contains("\ngmp4j: no figure differs from jdk's by more than chance.\n"), text);
        assertTrue(text.contains("\nshort is better than jdk: p50 (first 2 s) 0.50, p90"), text);
        assertTrue(text.contains("answers/s (at full load) 2.00"), text);
        assertTrue(text.contains("; no difference shown in "), text);
        assertFalse(text.contains("worse"), text);
        assertTrue(text.matches("(?s).*\n  0 to 1 s +gmp4j +90.0 µs \\(72.1 to 108\\) .*"), text);
        assertTrue(text.matches("(?s).* 0.50 \\(0.50 to 0.50\\) +0.80 to 1.20 +better\n.*"), text);
    }

    @Test
    void worse() {
        add(Variant.JDK, 99, 100, 101, 100, 100);
        add(Variant.GMP4J, 200, 210, 220, 210, 210);
        add(SHORT, 150, 90, 170, 160, 160);
        List<String> outcome = Reports.outcome(results, settings(5));
        assertTrue(outcome.getFirst().startsWith("gmp4j is worse than jdk: p50 (first 2 s) 2.10,"), outcome.toString());
        assertTrue(outcome.getFirst().contains("answers/s (at full load) 0.48"), outcome.toString());
        assertEquals("short: no figure differs from jdk's by more than chance.", outcome.getLast(), "its interval has 1 in it");
    }

    /** A service that does not settle in one of its turns. */
    @Test
    void settles() {
        add(Variant.JDK, 80, 6_000, 80);
        add(Variant.GMP4J, 6_000, 7_000, 8_000);
        add(SHORT, 100, 100, 100);
        String text = Reports.text(results, settings(5));
        assertTrue(text.matches("(?s).*\n  jdk  .*  0 s, never in 1 of 3  .*"), text);
        assertTrue(text.matches("(?s).*\n  gmp4j  [^\n]*  never  .*"), text);
    }

    @Test
    void fewTurns() {
        add(Variant.JDK, 100, 100, 100, 100);
        add(Variant.GMP4J, 10, 10, 10, 10);
        add(SHORT, 10, 10, 10, 10);
        assertTrue(results.verdict(SHORT, figure("young_p50_ns")).isEmpty());
        assertEquals(List.of("No verdict: with fewer than five turns there is no telling a difference from chance."),
                Reports.outcome(results, settings(4)));
        assertFalse(Reports.text(results, settings(4)).contains("verdict  "));
    }

    @Test
    void notes() {
        results.add(Variant.JDK, turn(100, 5, 10, 1));
        results.add(Variant.GMP4J, turn(100, 6, 2_000, 30));
        results.add(SHORT, turn(100, 5, 10, 1));
        Tape tape = results.turns(SHORT).getFirst().tape();
        tape.answered(0, 1, 503, 5);
        List<String> notes = Reports.notes(results);
        assertTrue(notes.getFirst().startsWith(
                "The answers differ: jdk status 200, 5 bytes; gmp4j status 200, 6 bytes; short status 200 and 503"),
                notes.toString());
        assertTrue(notes.contains("short: answers with an error 1, requests without an answer 0, of 4."), notes.toString());
        assertTrue(notes.get(2).startsWith("gmp4j: in 1 of 1 turn the client itself was late, at worst by 2.00 ms at p99"),
                notes.toString());
        assertTrue(notes.getLast().endsWith("30 % of the service's CPUs in any turn, which is much: measure on a quiet machine."),
                notes.toString());
    }

    /** Lengths that vary are no difference as long as they could be the same. */
    @Test
    void lengths() {
        results.add(Variant.JDK, turn(100, 5, 10, 1));
        results.add(Variant.JDK, turn(100, 7, 10, 1));
        results.add(Variant.GMP4J, turn(100, 6, 10, 1));
        results.add(SHORT, turn(100, 6, 10, 1));
        assertEquals("All answers: status 200, 5 to 7 bytes; the lengths vary.", Reports.notes(results).getFirst());
    }

    @Test
    void files() throws Exception {
        add(Variant.JDK, 80, 90, 100, 110, 120);
        add(Variant.GMP4J, 72, 81, 90, 99, 108);
        add(SHORT, 40, 45, 50, 55, 60);
        Map<?, ?> json = (Map<?, ?>) Json.parse(Reports.json(results, settings(5)));
        assertEquals(15, ((List<?>) json.get("turns")).size());
        Map<?, ?> last = (Map<?, ?>) ((List<?>) json.get("variants")).getLast();
        assertEquals(0.5, (Double) ((Map<?, ?>) last.get("ratios")).get("young_p50_ns"), 0.01);
        assertEquals("better", ((Map<?, ?>) last.get("verdicts")).get("young_p50_ns"));
        String page = Reports.page(results, settings(5)).html();
        assertEquals("html", HtmlPage.parse(page).getDocumentElement().getTagName());
        assertEquals(5, page.split("<svg", -1).length, "two by time, two of percentiles");
        String markdown = Reports.page(results, settings(5)).markdown("gmp try", "Remarks", "old\n## Remarks\nmine\n");
        assertTrue(markdown.endsWith("## Remarks\nmine\n"), markdown);
        assertTrue(markdown.contains("| first 2 s | short | 50.0 µs (40.0 to 60.0) |"), markdown);
    }
}
