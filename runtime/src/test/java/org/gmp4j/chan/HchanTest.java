// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.chan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class HchanTest {
    /** The place of the next element, where the sum of places is beyond an int too. */
    @Test
    void nextPlace() {
        for (int[] t : new int[][] {{0, 0, 3, 0}, {0, 2, 3, 2}, {2, 0, 3, 2}, {2, 1, 3, 0}, {1, 2, 3, 0}, {2, 2, 3, 1},
            {1_100_000_000, 1_150_000_000, 1_200_000_000, 1_050_000_000},
            {Integer.MAX_VALUE - 1, Integer.MAX_VALUE - 1, Integer.MAX_VALUE, Integer.MAX_VALUE - 2}}) {
            assertEquals(t[3], Hchan.next(t[0], t[1], t[2]));
        }
    }
}
