// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.library;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.gmp4j.bench.report.Format;

/**
 * A line of {@code bench/figures.tsv}, which {@link MeasureFigures} writes and {@link FigureTables} reads.
 *
 * @param name the run, and what was measured in it, as {@code ops/yield}
 * @param who whose figure it is, as {@code go}, or whose figure was divided by whose, as {@code gmp4j/go}
 * @param unit {@code ns}, {@code ratio}, one that the command writes, or {@code never}
 * @param median the middle value of all turns
 * @param low the lower end of the interval
 * @param high the upper end of the interval
 */
record Figure(String name, String who, String unit, double median, double low, double high) {
    static final String RATIO = "ratio";
    private static final int FIELDS = 6;

    /** Makes a figure that was measured once. */
    Figure(String name, String who, String unit, double value) {
        this(name, who, unit, value, value, value);
    }

    private static Figure parse(String line) {
        String[] f = line.split("\t", -1);
        if (f.length != FIELDS) {
            throw new IllegalArgumentException(f.length + " fields, not " + FIELDS + ": " + line);
        }
        return new Figure(f[0], f[1], f[2], Double.parseDouble(f[3]), Double.parseDouble(f[4]), Double.parseDouble(f[5]));
    }

    private String line() {
        return String.join("\t", name, who, unit, Format.plain(median), Format.plain(low), Format.plain(high));
    }

    /**
     * The whole file.
     *
     * @param facts of the machine and the peers
     * @param figures by name and who
     */
    record Run(Map<String, String> facts, Map<List<String>, Figure> figures) {
        private static final String FACT = "# ";

        static Run of(Map<String, String> facts, List<Figure> figures) {
            Map<List<String>, Figure> byName = new LinkedHashMap<>();
            for (Figure f : figures) {
                if (byName.put(List.of(f.name, f.who), f) != null) {
                    throw new IllegalArgumentException("twice: " + f);
                }
            }
            return new Run(facts, byName);
        }

        static Run read(Path file) throws IOException {
            Map<String, String> facts = new LinkedHashMap<>();
            List<Figure> figures = new ArrayList<>();
            for (String line : Files.readAllLines(file)) {
                if (line.startsWith(FACT)) {
                    String[] fact = line.substring(FACT.length()).split(": ", 2);
                    facts.put(fact[0], fact[1]);
                } else {
                    figures.add(parse(line));
                }
            }
            return of(facts, figures);
        }

        void write(Path file) throws IOException {
            List<String> lines = new ArrayList<>();
            facts.forEach((fact, text) -> lines.add(FACT + fact + ": " + text));
            figures.values().forEach(f -> lines.add(f.line()));
            Files.write(file, lines);
        }

        Optional<Figure> find(String name, String who) {
            return Optional.ofNullable(figures.get(List.of(name, who)));
        }

        /** Returns the figure, which must be there. */
        Figure get(String name, String who) {
            return find(name, who).orElseThrow(() -> new IllegalArgumentException("no figure " + name + " of " + who));
        }
    }
}
