// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Go;
import org.gmp4j.ffi.Alarm;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.Signals;
import org.gmp4j.lock.Note;
import org.gmp4j.proc.Machine;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.SliceClock;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Schedt;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@link Alarms}, and how {@link Sysmon} sleeps with them. */
class AlarmsTest {
    private static final Duration QUANTUM = Duration.ofMillis(2);
    private static final long WORK = 100_000;

    @BeforeAll
    static void on() {
        System.setProperty("gmp.alarms", "on");
    }

    @AfterAll
    static void off() {
        System.clearProperty("gmp.alarms");
    }

    private static void work(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }

    /** Goroutines with short slices, on all Ps and without a pause: sysmon waits for alarms. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void itWaitsWhileSlicesAreShort(int procs) {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(procs).quantum(QUANTUM))) {
            Scheduler s = gmp.scheduler();
            AtomicBoolean end = new AtomicBoolean();
            for (int i = 0; i < 2 * procs; i++) {
                gmp.go(() -> {
                    while (!end.get()) {
                        work(WORK);
                        Go.gosched();
                    }
                });
            }
            while (Schedt.sysmonwaitAcquire(s.sched) != Schedt.SYSMON_WAITS) {
                Thread.onSpinWait();
            }
            end.set(true);
        }
    }

    /** And when nothing runs it sleeps deeply at once; an M that has an alarm does not wake it. */
    @Test
    void whatBeginsIsTimed() {
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            Scheduler s = gmp.scheduler();
            SliceClock[] clock = new SliceClock[1];
            do {
                while (Schedt.sysmonwaitAcquire(s.sched) != Schedt.SYSMON_SLEEPS) {
                    Thread.onSpinWait();
                }
                gmp.run(() -> {
                    clock[0] = Machine.current().slices;
                    work(5 * WORK); // Sysmon sees it run.
                });
            } while (!clock[0].hasAlarm() || !clock[0].isSet(System.nanoTime()));
        }
    }

    /** The timers of other code may carry any value. */
    @Test
    void onlyTheThreadsOwnNoteIsWritten() throws InterruptedException, ExecutionException {
        assertTrue(Signals.installPreempt(Signals.SIGURG));
        long others = Memory.map(Integer.BYTES);
        long note = Memory.map(Integer.BYTES);
        FutureTask<Integer> task = new FutureTask<>(() -> {
            assertTrue(Alarm.works(Signals.SIGURG));
            int its = Alarm.open(Signals.SIGURG, others);
            int own = Alarm.open(Signals.SIGURG, note); // From here on this is the thread's.
            assertEquals(0, Alarm.set(its, 1));
            assertEquals(0, Alarm.set(own, WORK));
            Note.sleep(note);
            assertEquals(0, Alarm.close(its) + Alarm.close(own));
            return Mem.INT.getVolatile(others);
        });
        Thread.ofPlatform().start(task);
        assertEquals(0, task.get());
        Memory.unmap(others, Integer.BYTES);
        Memory.unmap(note, Integer.BYTES);
    }

    /** All are closed with the scheduler; one that is taken away is not set again. */
    @Test
    void closedWithTheScheduler() {
        SliceClock[] clock = new SliceClock[1];
        try (TestGmp gmp = TestGmp.with(b -> b.procs(1).quantum(QUANTUM))) {
            do {
                gmp.run(() -> {
                    clock[0] = Machine.current().slices;
                    work(5 * WORK); // Sysmon sees it run.
                });
            } while (!clock[0].hasAlarm());
        }
        assertFalse(clock[0].hasAlarm());
    }
}
