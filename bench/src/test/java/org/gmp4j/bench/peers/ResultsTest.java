// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

import org.gmp4j.bench.report.Page;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResultsTest {
    @Test
    void aLineOfTheProtocol() {
        assertEquals(
                new Line("ring/procs=2", "ns", 123.456, ""),
                Line.parse("{\"work\":\"ring/procs=2\",\"unit\":\"ns\",\"value\":123.456}"));
        assertEquals(1.5e-7, Line.parse(" { \"work\" : \"a\", \"unit\" : \"ms\", \"value\" : 1.5e-07 } ").value());
        Line never = Line.parse("{\"work\":\"hogs/1/p50\",\"unit\":\"ns\",\"value\":null,\"note\":\"never in 2 s\"}");
        assertFalse(never.hasValue());
        assertEquals("never in 2 s", never.note());
    }

    @Test
    void whatIsPrintedIsRead() {
        Line line = new Line("a/b", "ns", 0.125, "");
        assertEquals(line, Line.parse(line.toString()));
        Line never = new Line("a", "bytes", Double.NaN, "never in 2 s");
        assertEquals(never, Line.parse(never.toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "[]", "{\"work\":\"a\",\"unit\":\"ns\"}",
        "{\"work\":\"a\",\"unit\":\"ns\",\"value\":x}",
        "{\"work\":\"a\",\"unit\":\"ns\",\"value\":1} 2"})
    void whatIsNoLine(String text) {
        assertThrows(IllegalArgumentException.class, () -> Line.parse(text));
    }

    /** Ratios are fork by fork: ours is always half of Go's here, though both change. */
    @Test
    void ratiosAreOfTheSameTurn() {
        Catalogue.Work work = Catalogue.select(List.of(Pattern.compile("^yield$"))).getFirst();
        Results results = new Results(List.of(work));
        for (int fork = 0; fork < 3; fork++) {
            for (int run = -1; run <= 1; run++) {
                double ours = (fork + 1) * 100 + run;
                results.add(work, Peer.GMP4J, fork, new Line("yield", "ns", ours, ""));
                results.add(work, Peer.GO, fork, new Line("yield", "ns", 2 * ours, ""));
            }
        }
        results.add(work, Peer.JDK, 0, new Line("yield", "ns", Double.NaN, "never in 2 s"));
        Catalogue.Row row = work.rows().getFirst();
        assertEquals(Optional.of(new Estimate(200, 100, 300, 3)), results.figure(work, row, Peer.GMP4J));
        assertEquals(Optional.of(new Estimate(0.5, 0.5, 0.5, 3)), results.ratio(work, row, Peer.GO));
        assertEquals("", results.note(work, row, Peer.GO));
        assertEquals(Optional.empty(), results.ratio(work, row, Peer.JDK));
        assertEquals("never in 2 s", results.note(work, row, Peer.JDK));
        results.failed(work, Peer.KOTLIN, "ended with 1");
        assertEquals("ended with 1", Reports.cell(results, work, row, Peer.KOTLIN));
    }

    @Test
    void whatPeopleWroteStays() {
        Results results = new Results(Catalogue.select(List.of(Pattern.compile("^mutex$"))));
        PeersCommand.Settings settings = new PeersCommand.Settings(3, 1, 1, List.of());
        Page page = Reports.page(results, settings);
        String first = page.markdown("gmp peers", "Where we are behind", "");
        assertTrue(first.endsWith("\n## Where we are behind\n"), first);
        assertTrue(first.contains("\n| row | what | gmp4j |\n|---|---|---:|\n") && !first.contains("<svg"), first);
        String written = first + "\nThe ring, because.\n";
        assertEquals(written, page.markdown("gmp peers", "Where we are behind", written));
    }
}
