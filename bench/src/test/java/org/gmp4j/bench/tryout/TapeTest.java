// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.tryout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

class TapeTest {
    private static final long MS = 1_000_000;
    private static final long BEGIN = -5_000 * MS; // nanoTime may be anything

    private final Tape tape = new Tape(BEGIN, 3, 10);

    private void answer(long millis, long took) {
        tape.sent(BEGIN + millis * MS, BEGIN + millis * MS);
        tape.answered(BEGIN + millis * MS, BEGIN + (millis + took) * MS, 200, 7);
    }

    /** By when they were due, however late the answer came. */
    @Test
    void windows() {
        answer(0, 2_500);
        answer(999, 1);
        answer(1_000, 1);
        answer(2_999, 1);
        answer(3_000, 1);
        answer(9_999, 1);
        answer(10_000, 1);
        answer(12_999, 5_000);
        answer(13_000, 1);
        assertEquals(List.of("0 to 1 s", "1 to 2 s", "2 to 3 s"), tape.windows().stream().map(Tape.Window::name).toList());
        assertEquals(List.of(2L, 1L, 1L), tape.windows().stream().map(w -> w.latencies().getTotalCount()).toList());
        assertEquals(4, tape.young().getTotalCount());
        assertEquals(2, tape.warm().getTotalCount());
        assertEquals(4, tape.youngLate().getTotalCount());
        assertEquals(2, tape.warmLate().getTotalCount());
        assertEquals(9, tape.all());
        assertEquals(2, tape.slots().get(0).getTotalCount() + tape.slots().get(3).getTotalCount());
    }

    /** The first half second whose mean is below 5 ms; one without requests says nothing. */
    @Test
    void settled() {
        assertTrue(Double.isNaN(tape.settled()));
        answer(0, 100);
        answer(300, 1);
        assertTrue(Double.isNaN(tape.settled()));
        answer(1_000, 9);
        answer(1_400, 2);
        assertTrue(Double.isNaN(tape.settled()), "5.5 ms");
        answer(1_499, 1);
        assertEquals(1, tape.settled());
        answer(1_250, 900);
        answer(2_000, 1);
        assertEquals(2, tape.settled());
    }

    @Test
    void settledInTheEnd() {
        answer(2_600, 1);
        assertEquals(2.5, tape.settled());
    }

    @Test
    void answers() {
        assertTrue(tape.leastLength() > tape.mostLength());
        tape.answered(BEGIN, BEGIN, 200, 9);
        tape.answered(BEGIN, BEGIN, 304, 0);
        tape.answered(BEGIN, BEGIN, 503, 99);
        tape.answered(BEGIN, BEGIN, 500, 99);
        tape.answered(BEGIN, BEGIN, 503, 99);
        tape.broken(BEGIN, BEGIN + 10_000 * MS);
        assertEquals(Map.of(200, 1L, 304, 1L, 500, 1L, 503, 2L), tape.statuses());
        assertEquals(503, tape.usualError());
        assertEquals(3, tape.errors());
        assertEquals(1, tape.broken());
        assertEquals(0, tape.leastLength());
        assertEquals(9, tape.mostLength());
        assertEquals(10_000.0 * MS, tape.young().getMaxValue(), 10.0 * MS);
    }
}
