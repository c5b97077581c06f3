// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.FutureTask;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@link Alarm}, and the handler's part of it. */
class AlarmTest {
    private static final long SOON = 1_000_000;
    private static final long NEVER = 3_600_000_000_000L;
    private static final int SIGCHLD = 17; // Ignored by default.
    private static final int NO_SIGNAL = 99;

    private long note;

    @BeforeEach
    void note() {
        assertTrue(Signals.installPreempt(Signals.SIGURG));
        note = Memory.map(Integer.BYTES);
    }

    @AfterEach
    void free() {
        Memory.unmap(note, Integer.BYTES);
    }

    @SuppressWarnings("restricted")
    private boolean rung() {
        return (int) ValueLayout.JAVA_INT.varHandle().getVolatile(MemorySegment.ofAddress(note).reinterpret(Integer.BYTES), 0L) == 1;
    }

    private interface Body {
        void run() throws Exception;
    }

    /** On a thread of its own, that has no note yet. */
    private static void onAThread(Body body) throws Exception {
        FutureTask<Void> task = new FutureTask<>(() -> {
            body.run();
            return null;
        });
        Thread t = new Thread(task);
        t.start();
        task.get();
    }

    @Test
    void itRings() throws Exception {
        onAThread(() -> {
            assertTrue(Alarm.works(Signals.SIGURG));
            int alarm = Alarm.open(Signals.SIGURG, note);
            assertTrue(alarm >= 0);
            assertEquals(0, Alarm.set(alarm, SOON));
            while (!rung()) {
                Futex.await(note, 0, -1); // The signal ends it; nobody calls the kernel to wake it.
            }
            assertEquals(0, Alarm.close(alarm));
            assertEquals(-Errno.EINVAL, Alarm.set(alarm, SOON));
            assertEquals(-Errno.EINVAL, Alarm.close(alarm));
        });
    }

    /** Another thread sets it: for that one nothing ends early. */
    @Test
    void itRingsWhereItWasOpened() throws Exception {
        onAThread(() -> {
            assertTrue(Alarm.works(Signals.SIGURG));
            int alarm = Alarm.open(Signals.SIGURG, note);
            onAThread(() -> assertEquals(0, Alarm.set(alarm, SOON)));
            while (!rung()) {
                Futex.await(note, 0, -1);
            }
            assertEquals(0, Alarm.close(alarm));
        });
    }

    @Test
    void itIsSetAnew() throws Exception {
        onAThread(() -> {
            assertTrue(Alarm.works(Signals.SIGURG));
            int alarm = Alarm.open(Signals.SIGURG, note);
            assertEquals(0, Alarm.set(alarm, NEVER));
            assertEquals(0, Alarm.set(alarm, SOON));
            while (!rung()) {
                Futex.await(note, 0, -1);
            }
            assertEquals(0, Alarm.close(alarm));
        });
    }

    /** A signal without our handler: it is ignored by default, or another's. */
    @Test
    void itDoesNotWorkWithoutTheHandler() throws Exception {
        onAThread(() -> assertFalse(Alarm.works(SIGCHLD)));
        assertFalse(Alarm.works(NO_SIGNAL));
    }
}
