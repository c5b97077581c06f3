// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ProcessEndTest {
    /** However many threads sleep, they do not take the CPU from the thread that ends the process. */
    @Test
    void allOfThemTogetherWakeUpAThousandTimesASecond() {
        assertEquals(10_000_000, ProcessEnd.napOf(0));
        assertEquals(10_000_000, ProcessEnd.napOf(10));
        assertEquals(3_000_000_000L, ProcessEnd.napOf(3_000));
    }
}
