// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.stack.Headroom;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Unlocks for which there is no stack left, and mistakes among them. */
class LeftUnlockTest {
    /** The programs, by name. */
    static final class Program {
        private static final int STACK = 512 << 10;
        private static final int ROUNDS = 2_000;

        private Program() {
        }

        public static void main(String[] args) throws InterruptedException {
            switch (args[0]) {
                case "program" -> Gmp.main(() -> mistakes(args[1]));
                case "service" -> Gmp.main(() -> {
                    try (Gmp service = Gmp.builder().procs(1).maxStack(STACK).build()) {
                        service.run(() -> mistakes(args[1]));
                    }
                    System.out.print("ok");
                });
                default -> besideOthers();
            }
        }

        private static void deep(Runnable r) {
            if (Headroom.enough()) {
                deep(r);
            } else {
                r.run();
            }
        }

        /** Two locks taken, three given back where there is no stack. */
        private static void mistakes(String lock) {
            Mutex m = new Mutex();
            RWMutex rw = new RWMutex();
            Runnable unlock;
            switch (lock) {
                case "Mutex" -> {
                    unlock = m::unlock;
                    m.lock();
                    Go.go(m::lock);
                }
                case "RWMutex" -> {
                    unlock = rw::unlock;
                    rw.lock();
                    Go.go(rw::lock);
                }
                default -> {
                    unlock = rw::rUnlock;
                    rw.rLock();
                    Go.go(rw::lock);
                }
            }
            TestGmp.awaitOthers(); // It waits.
            deep(() -> { // At once: sysmon is to do them all.
                for (int i = 0; i < 3; i++) {
                    try {
                        unlock.run();
                    } catch (IllegalStateException e) {
                        Thread.onSpinWait(); // It was fast.
                    }
                }
            });
            RWMutex last = new RWMutex();
            last.lock();
            deep(last::unlock);
            last.lock(); // What was left is done in the order it came.
        }

        /** Without a scheduler: a thread that has no stack unlocks by mistake, others lock and unlock. */
        private static void besideOthers() throws InterruptedException {
            Mutex m = new Mutex();
            AtomicBoolean stop = new AtomicBoolean();
            Thread mistaken = new Thread(null, () -> deep(() -> {
                while (!stop.get()) {
                    unlock(m);
                }
            }), "mistaken", STACK);
            mistaken.start();
            new Threads().add(4, "user", () -> {
                for (int i = 0; i < ROUNDS; i++) {
                    m.lock();
                    unlock(m);
                }
            }).start().join();
            stop.set(true);
            mistaken.join();
            System.out.print(m.tryLock() ? "ok" : "left locked");
        }

        private static void unlock(Mutex m) {
            try {
                m.unlock();
            } catch (IllegalStateException | StackOverflowError e) {
                Thread.onSpinWait(); // A mistake, or refused.
            }
        }
    }

    /** In a program they end it, as they would have at once. */
    @ParameterizedTest
    @CsvSource({"Mutex, sync: unlock of unlocked mutex", "RWMutex, sync: Unlock of unlocked RWMutex",
        "read, sync: RUnlock of unlocked RWMutex"})
    void mistakesInAProgram(String lock, String text) {
        Result r = new ChildJvm(Program.class).run("program", lock);
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: " + text + "\n\ngoroutine "), r::toString);
    }

    /** A service's do not, also when a program runs beside it. */
    @ParameterizedTest
    @ValueSource(strings = {"Mutex", "RWMutex", "read"})
    void mistakesInAService(String lock) {
        Result r = new ChildJvm(Program.class).run("service", lock);
        assertEquals("ok", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }

    /** Where no scheduler lives to do the work, a mistake leaves no wake-up to do. */
    @Test
    void mistakesBesideThreads() {
        Result r = new ChildJvm(Program.class).run("threads");
        assertEquals("ok", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
