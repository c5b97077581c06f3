// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.BitSet;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RandomOrderTest {
    /** Go: {@code RunStealOrderTest}: every walk visits every P once, for any number of Ps and any seed. */
    @Test
    void everyWalkVisitsEachOnce() {
        Random random = new Random(7);
        for (int procs = 1; procs <= 64; procs++) {
            RandomOrder order = new RandomOrder(procs);
            assertEquals(procs, order.count());
            for (int i = 0; i < 3 * procs * procs; i++) {
                int seed = i < procs * procs ? i : random.nextInt();
                BitSet seen = new BitSet();
                int step = order.step(seed);
                for (int k = 0, pos = order.start(seed); k < procs; k++, pos = order.next(pos, step)) {
                    seen.set(pos);
                }
                assertEquals(procs, seen.cardinality(), procs + " Ps, seed " + seed);
            }
        }
    }

    /** Seeds reach every pair of a start and a step: as many as there are numbers coprime to the count. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 12, 64, 4096})
    void allStartsAndSteps(int procs) {
        RandomOrder order = new RandomOrder(procs);
        Set<Long> pairs = new HashSet<>();
        long phi = 0;
        for (int i = 1; i <= procs; i++) {
            phi += java.math.BigInteger.valueOf(i).gcd(java.math.BigInteger.valueOf(procs)).intValue() == 1 ? 1 : 0;
        }
        int steps = procs > 100 ? 50 : (int) phi;
        for (int seed = 0; seed < procs * steps; seed++) {
            pairs.add((long) order.start(seed) << 32 | order.step(seed));
        }
        assertEquals((long) procs * steps, pairs.size());
    }
}
