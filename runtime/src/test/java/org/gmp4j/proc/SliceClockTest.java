// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.gmp4j.Go;
import org.gmp4j.ffi.Alarm;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.Signals;
import org.gmp4j.ffi.gmp.p;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@link SliceClock}. */
class SliceClockTest {
    private static final long ESTIMATE = 42;
    private static final long LONG_AFTER = 101_000_000;
    private static final long MILLISECOND = 1_000_000;
    private static final long HOUR = 3_600_000_000_000L;
    /** Slices in a millisecond: too many to be timed; not too many. */
    private static final int MANY = 101;
    private static final int FEW = 100;

    private long first;
    private long second;

    @BeforeEach
    void twoPs() {
        first = Mem.alloc(p.layout(), 1);
        second = Mem.alloc(p.layout(), 1);
        P.setId(second, 1);
    }

    @AfterEach
    void free() {
        Mem.recycle(p.layout(), first);
        Mem.recycle(p.layout(), second);
    }

    @Test
    void whichSlice() {
        SliceClock c = new SliceClock();
        assertFalse(c.look(System.nanoTime(), MANY, MILLISECOND));
        P.setSchedtickOpaque(first, 7);
        c.begins(first);
        assertEquals(ESTIMATE, c.began(SliceClock.slice(first, 7), ESTIMATE), "nobody asked for it");
        c.ranOn(System.nanoTime());
        long before = System.nanoTime();
        P.setSchedtickOpaque(first, 8);
        c.begins(first);
        long began = c.began(SliceClock.slice(first, 8), ESTIMATE);
        assertTrue(before <= began && began <= System.nanoTime());
        assertEquals(ESTIMATE, c.began(SliceClock.slice(first, 7), ESTIMATE));
        assertEquals(ESTIMATE, c.began(SliceClock.slice(first, 9), ESTIMATE));
        assertEquals(ESTIMATE, c.began(SliceClock.slice(second, 8), ESTIMATE), "of another P");
    }

    /** While goroutines run on though others wait, and for a while afterwards. */
    @Test
    void forAWhile() {
        SliceClock c = new SliceClock();
        long now = System.nanoTime();
        assertFalse(c.look(now, MANY, MILLISECOND));
        c.ranOn(now);
        assertTrue(c.look(now + LONG_AFTER / 2, MANY, MILLISECOND));
        assertFalse(c.look(now + LONG_AFTER, MANY, MILLISECOND));
        P.setSchedtickOpaque(first, 8);
        c.begins(first);
        assertEquals(ESTIMATE, c.began(SliceClock.slice(first, 8), ESTIMATE));
    }

    @Test
    void whileTheyAreFew() {
        SliceClock c = new SliceClock();
        long now = System.nanoTime();
        assertFalse(c.look(now, MANY, MILLISECOND));
        assertTrue(c.look(now, FEW, MILLISECOND));
        assertFalse(c.look(now, MANY, MILLISECOND));
        assertTrue(c.look(now, 0, 1), "the same slice still");
    }

    private static int alarm() {
        assertTrue(Signals.installPreempt(Signals.SIGURG));
        assertTrue(Alarm.works(Signals.SIGURG));
        return Alarm.open(Signals.SIGURG, Memory.map(Integer.BYTES));
    }

    /** A slice after a pause: slices are few. */
    private void beginsLater(SliceClock c) {
        long end = System.nanoTime() + MILLISECOND;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        P.setSchedtickOpaque(first, P.schedtick(first) + 1);
        c.begins(first);
    }

    @Test
    void itsAlarmIsPutOffWhenAQuarterIsOver() {
        SliceClock c = new SliceClock();
        c.begins(first);
        assertFalse(c.willRing() || c.isSet(System.nanoTime()), "there is none");
        c.setAlarm(alarm(), HOUR, null);
        long before = System.nanoTime();
        beginsLater(c);
        assertTrue(c.willRing());
        assertTrue(c.isSet(before + HOUR - 1));
        long after = System.nanoTime();
        assertFalse(c.isSet(after + HOUR));
        beginsLater(c);
        assertTrue(c.willRing());
        assertFalse(c.isSet(after + HOUR), "put off though most of the time was left");
        Alarm.close(c.takeAlarm());
        assertFalse(c.isSet(before));
    }

    @Test
    void itsAlarmIsPutOffWhenItIsDue() {
        SliceClock c = new SliceClock();
        c.setAlarm(alarm(), MILLISECOND, null);
        for (int rang = 0; rang < 3; rang++) {
            do {
                beginsLater(c);
            } while (!c.isSet(System.nanoTime())); // The thread may lose its CPU.
            while (c.isSet(System.nanoTime())) {
                Thread.onSpinWait();
            }
        }
        Alarm.close(c.takeAlarm());
    }

    /** Slices of a millisecond, with an alarm after twenty: it rings after some thirty all the same. */
    @Test
    void itsAlarmIsNotPutOffForEver() {
        SliceClock c = new SliceClock();
        c.setAlarm(alarm(), 20 * MILLISECOND, null);
        do {
            beginsLater(c);
        } while (!c.willRing());
        while (c.isSet(System.nanoTime() + MILLISECOND)) {
            beginsLater(c);
        }
        Alarm.close(c.takeAlarm());
    }

    /** Then it rings, and sysmon sees that they are many. */
    @Test
    void itsAlarmIsNotPutOffWhileSlicesAreMany() {
        SliceClock c = new SliceClock();
        c.setAlarm(alarm(), MILLISECOND, null);
        beginsLater(c);
        assertTrue(c.willRing());
        do {
            c.begins(first);
        } while (c.willRing());
        Alarm.close(c.takeAlarm());
    }

    /** Without a time, nobody knows whether the alarm belongs to the slice. */
    @Test
    void aSliceThatIsNotTimedDoesNotRing() {
        SliceClock c = new SliceClock();
        c.setAlarm(alarm(), HOUR, null);
        beginsLater(c);
        assertTrue(c.willRing());
        assertFalse(c.look(System.nanoTime(), MANY, MILLISECOND));
        c.begins(first);
        assertFalse(c.willRing());
        c.timed();
        c.begins(first);
        assertTrue(c.willRing());
        Alarm.close(c.takeAlarm());
        assertFalse(c.willRing(), "it was taken away");
    }

    /** Slices are timed while one that runs on has others waiting, and not while it has the P for itself. */
    @Test
    void whileOthersWait() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(Duration.ofMinutes(1)))) {
            gmp.run(() -> {
                Machine m = Machine.of();
                long alone = System.nanoTime();
                while (System.nanoTime() - alone < LONG_AFTER) {
                    assertFalse(m.slices.look(alone, MANY, MILLISECOND));
                }
                boolean[] ran = new boolean[1];
                Go.go(() -> ran[0] = true);
                while (!m.slices.look(alone, MANY, MILLISECOND)) {
                    Thread.onSpinWait();
                }
                assertFalse(ran[0]);
            });
        }
    }
}
