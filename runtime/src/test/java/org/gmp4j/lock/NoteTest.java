// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Throw;
import org.gmp4j.testing.NoHalt;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoHalt.class)
class NoteTest {
    private static final int PING_PONGS = 100_000;

    private final long words = Memory.map(4096);
    private final long a = words;
    private final long b = words + Mem.LINE;

    @AfterEach
    void unmap() {
        Memory.unmap(words, 4096);
    }

    @Test
    void aWakeUpBeforeTheSleepCounts() {
        Note.wakeup(a);
        assertTrue(Note.woken(a));
        Note.sleep(a);
        assertTrue(Note.sleep(a, 0), "until it is cleared");
        Note.clear(a);
        assertFalse(Note.woken(a));
        assertFalse(Note.sleep(a, 1_000));
    }

    @Test
    void timeIsUp() {
        long before = System.nanoTime();
        assertFalse(Note.sleep(a, 2_000_000));
        assertTrue(System.nanoTime() - before >= 2_000_000);
        assertFalse(Note.woken(a));
        assertFalse(Note.sleep(a, 0));
        Note.wakeup(a);
        assertTrue(Note.sleep(a, 1_000));
    }

    @Test
    void twoWakeUpsAreAMistake() {
        Note.wakeup(a);
        Throw t = assertThrows(Throw.class, () -> Note.wakeup(a));
        assertEquals("notewakeup - double wakeup", t.getMessage());
        Note.ring(a); // For this one they are not.
        Note.ring(a);
    }

    /** The kernel may wake a sleeper for nothing, as often as it likes: it sleeps on. */
    @Test
    void theKernelWakesForNothing() throws InterruptedException {
        AtomicBoolean awake = new AtomicBoolean();
        Threads sleeper = new Threads().add("sleeper", () -> {
            Note.sleep(a);
            awake.set(true);
        }).start();
        for (int i = 0; i < 3; i++) {
            while (Futex.wake(a, 1) == 0 && !awake.get()) {
                Thread.onSpinWait(); // Until it sleeps (again).
            }
        }
        assertFalse(awake.get());
        Note.wakeup(a);
        sleeper.join();
    }

    /** No wake-up is lost, and what the waker wrote before is seen after. */
    @Stress
    void pingPong() throws InterruptedException {
        int[] plain = new int[1];
        new Threads().add("ping", () -> {
            for (int i = 0; i < PING_PONGS; i++) {
                assertEquals(2 * i, plain[0]++);
                Note.wakeup(b);
                Note.sleep(a);
                Note.clear(a);
            }
        }).add("pong", () -> {
            for (int i = 0; i < PING_PONGS; i++) {
                Note.sleep(b);
                Note.clear(b);
                assertEquals(2 * i + 1, plain[0]++);
                Note.wakeup(a);
            }
        }).run();
    }

    /** The wake-up comes at the moment when the sleeper goes to sleep. */
    @Stress
    void atTheSameMoment() throws InterruptedException {
        AtomicInteger round = new AtomicInteger();
        AtomicInteger woken = new AtomicInteger();
        new Threads().add("sleeper", () -> {
            for (int i = 1; i <= PING_PONGS; i++) {
                Note.clear(a);
                round.set(i);
                Note.sleep(a);
                woken.set(i);
            }
        }).add("waker", () -> {
            for (int i = 1; i <= PING_PONGS; i++) {
                while (round.get() < i) {
                    Thread.onSpinWait();
                }
                for (int pause = i % 32; pause > 0; pause--) {
                    Thread.onSpinWait();
                }
                Note.wakeup(a);
                while (woken.get() < i) {
                    Thread.onSpinWait();
                }
            }
        }).run();
    }

    /** Sleeps that end by time as often as by a wake-up: each wake-up is reported by exactly one sleep. */
    @Stress
    void timeoutsRace() throws InterruptedException {
        AtomicInteger rung = new AtomicInteger();
        AtomicInteger seen = new AtomicInteger();
        new Threads().add("sleeper", () -> {
            while (seen.get() < PING_PONGS / 10) {
                if (Note.sleep(a, 2_000)) {
                    Note.clear(a);
                    assertEquals(rung.get(), seen.incrementAndGet());
                    Note.wakeup(b);
                }
            }
        }).add("waker", () -> {
            for (int i = 0; i < PING_PONGS / 10; i++) {
                for (int spin = i % 300; spin > 0; spin--) {
                    Thread.onSpinWait();
                }
                rung.incrementAndGet();
                Note.wakeup(a);
                Note.sleep(b);
                Note.clear(b);
            }
        }).run();
    }
}
