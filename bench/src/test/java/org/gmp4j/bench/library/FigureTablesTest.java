// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FigureTablesTest {
    private static final Figure.Run RUN = run();

    private static Figure.Run run() {
        try {
            return Figure.Run.read(FigureTables.FILE);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void pagesHaveTheTablesOfTheFile() throws Exception {
        FigureTables tables = new FigureTables(RUN);
        for (Path page : FigureTables.PAGES) {
            assertEquals(tables.fill(Files.readString(page)), Files.readString(page),
                    page + " differs from figures.tsv; MeasureFigures writes both");
        }
    }

    @Test
    void eachRowHasFigures() {
        FigureTables tables = new FigureTables(RUN);
        for (String name : List.of("front operations", "front services", "operations", "rings", "young", "loads", "servers")) {
            tables.table(name).lines().skip(2).forEach(row -> assertTrue(
                    Stream.of(row.split("\\|")).skip(2).anyMatch(cell -> !cell.isBlank()), "no figure in " + row));
        }
    }

    @Test
    void worseIsBold() {
        List<Figure> figures = List.of(
                new Figure("web/jetty 32/requests", "gmp4j/jdk", Figure.RATIO, 0.93),
                new Figure("web/jetty 32/p50", "gmp4j/jdk", Figure.RATIO, 1.004),
                new Figure("web/jetty 32/p99", "gmp4j/jdk", Figure.RATIO, 1.25, 0.8, 12),
                new Figure("web/jetty 32/cpu", "gmp4j/jdk", Figure.RATIO, 0.05),
                new Figure("web/jetty 256/requests", "gmp4j/jdk", Figure.RATIO, 1.12));
        String table = new FigureTables(Figure.Run.of(Map.of(), figures)).table("servers");
        assertEquals(List.of("| Jetty, 32 connections | **0.93** | 1.00 | **1.25** (0.80 to 12.0) | 0.050 |",
                "| Jetty, 256 | 1.12 |  |  |  |"), table.lines().skip(2).limit(2).toList());
    }

    @Test
    void fillReplacesWhatStandsBetweenTheMarks() {
        FigureTables tables = new FigureTables(Figure.Run.of(Map.of("JVM", "one"), List.of()));
        assertEquals("a\n<!-- figures: machine -->\n- **JVM:** one\n<!-- end -->\nb\n",
                tables.fill("a\n<!-- figures: machine -->\nold\n<!-- end -->\nb\n"));
        assertThrows(IllegalArgumentException.class, () -> tables.fill("<!-- figures: other -->\n<!-- end -->\n"));
    }

    @Test
    void fileKeepsFigures(@TempDir Path dir) throws Exception {
        Map<String, String> facts = new LinkedHashMap<>(Map.of("machine", "a: b"));
        Figure.Run run = Figure.Run.of(facts, List.of(new Figure("ops/yield", "gmp4j/go", Figure.RATIO, 1.25, 1, 2.5)));
        run.write(dir.resolve("figures.tsv"));
        assertEquals(run, Figure.Run.read(dir.resolve("figures.tsv")));
        Path cut = Files.writeString(dir.resolve("cut.tsv"), "ops/yield\tgo\tns\t1\n");
        assertThrows(IllegalArgumentException.class, () -> Figure.Run.read(cut));
    }

    @Test
    void answersOfWebServersAreRead() {
        assertEquals(List.of(0.97, 1.02, 1.10, 0.99), MeasureFigures.server("""
                jetty /, 32 connections
                             requests/s       p50 µs       p99 µs    server CPU µs/req
                gmp4j            97,000          230        1,100           10
                JDK             100,000          225        1,000           10
                gmp4j/JDK          0.97         1.02         1.10         0.99
                """).stream().map(Figure::median).toList());
    }
}
