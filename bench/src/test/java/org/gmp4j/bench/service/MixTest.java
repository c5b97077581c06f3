// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class MixTest {
    /** The load is computed from the mean: it has to be what is drawn. */
    @ParameterizedTest
    @EnumSource
    void mean(Mix mix) {
        SplittableRandom random = new SplittableRandom(1);
        double sum = 0;
        int n = 200_000;
        for (int i = 0; i < n; i++) {
            sum += mix.next(random);
        }
        assertEquals(mix.meanNanos(), sum / n, 0.02 * mix.meanNanos());
    }

    @Test
    void names() {
        for (String name : Mix.names()) {
            assertEquals(name, Mix.of(name).toString());
        }
        assertNull(Mix.of(""));
        assertSame(Mix.RARE, Mix.of("rare"));
    }

    @Test
    void loads() {
        Load light = Load.light(Mix.FIXED);
        assertEquals(2_000, light.rate(), 1e-6);
        assertEquals(4, light.percent(), 1e-9);
        assertEquals("62.5 %", Load.percent(Mix.EXP, 62.5).name());
        assertEquals(3_125, Load.percent(Mix.EXP, 62.5).rate(), 1e-6);
        assertEquals(69.8, Load.requests(Mix.RARE, 10_000).percent(), 1e-6);
        assertEquals("10000/s", Load.requests(Mix.RARE, 10_000).name());
    }
}
