// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.steal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TextReportTest {
    @Test
    void paragraphsAreBrokenAtBlanks() {
        String text = TextReport.wrap("  word ".repeat(60), 4);
        assertTrue(text.lines().allMatch(l -> l.length() <= 110));
        assertTrue(text.lines().skip(1).allMatch(l -> l.startsWith("    ")));
        assertEquals(60, text.split("word", -1).length - 1);
    }

    @Test
    void mediansOfSlices() {
        Floor floor = new Floor();
        for (int i = 1; i <= 101; i++) {
            floor.add(2 * i, i);
        }
        assertEquals(102, floor.javaNanos());
        assertEquals(51, floor.cNanos());
        assertEquals(2, floor.ratio());
    }
}
