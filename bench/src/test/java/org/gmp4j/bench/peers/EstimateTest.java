// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

class EstimateTest {
    @Test
    void ofFewForksTheLeastAndTheGreatest() {
        assertEquals(new Estimate(7, 7, 7, 1), Estimate.of(List.of(7.0)));
        assertEquals(new Estimate(2.5, 2, 3, 2), Estimate.of(List.of(3.0, 2.0)));
        assertEquals(new Estimate(3, 1, 10, 3), Estimate.of(List.of(10.0, 1.0, 3.0)));
        assertThrows(IllegalArgumentException.class, () -> Estimate.of(List.of()));
    }

    /** The ranks of the binomial test, as tables have them: 1 of 6, 2 of 9, 6 of 20. */
    @Test
    void ofManyForksTheRanksOfTheBinomialTest() {
        assertEquals(new Estimate(3.5, 1, 6, 6), Estimate.of(upTo(6)));
        assertEquals(new Estimate(5, 2, 8, 9), Estimate.of(upTo(9)));
        assertEquals(new Estimate(10.5, 6, 15, 20), Estimate.of(upTo(20)));
    }

    @Test
    void medians() {
        assertEquals(3, Estimate.median(5, 1, 3));
        assertEquals(2.5, Estimate.median(4, 1, 3, 2));
        assertTrue(Double.isNaN(Estimate.median(new double[0])));
    }

    @Test
    void confidence() {
        assertEquals(0, Estimate.confidence(1), 1e-12);
        assertEquals(0.75, Estimate.confidence(3), 1e-12);
        assertEquals(0.9375, Estimate.confidence(5), 1e-12);
        assertEquals(0.96875, Estimate.confidence(6), 1e-12);
        assertEquals(0.958611, Estimate.confidence(20), 1e-6);
    }

    private static List<Double> upTo(int n) {
        List<Double> values = new ArrayList<>(IntStream.rangeClosed(1, n).mapToObj(i -> (double) i).toList());
        Collections.shuffle(values, new Random(n));
        return values;
    }
}
