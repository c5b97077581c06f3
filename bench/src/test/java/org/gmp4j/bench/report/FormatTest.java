// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FormatTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0 ns", "0.5625, 0.56 ns", "3.4375, 3.44 ns", "9.999, 10.0 ns", "34.44, 34.4 ns", "99.97, 100 ns",
        "999, 999 ns",
        "999.6, 1.00 µs", "1000, 1.00 µs", "101320, 101 µs", "1828000, 1.83 ms", "5.7e9, 5.70 s", "1.2e12, 1200 s"
    })
    void threeDigits(double nanos, String text) {
        assertEquals(text, Format.nanos(nanos));
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "500, 500 ns", "20000, 20 µs", "1000000, 1 ms", "1500, 1500 ns"})
    void gaps(long nanos, String text) {
        assertEquals(text, Format.gap(nanos));
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "15, 15", "2.5, 2.5", "1.7654321, 1.765", "100, 100", "0.0001, 0"})
    void plainNumbers(double v, String text) {
        assertEquals(text, Format.plain(v));
        assertEquals(text, Format.seconds(Math.round(v * 1e9)));
    }

    @Test
    void tablesStandInColumns() {
        Table table = new Table(1, "what", "ns");
        table.row(List.of("a", "1"));
        table.row(List.of("longer", "100"));
        assertEquals("  what     ns\n  a         1\n  longer  100\n", table.text());
    }

    @Test
    void pageTextIsEscaped() {
        assertEquals("a &lt;b&gt; &amp; &quot;c&quot;", Page.escape("a <b> & \"c\""));
    }
}
