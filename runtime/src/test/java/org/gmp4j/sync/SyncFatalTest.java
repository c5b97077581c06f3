// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Misuse and deadlocks in program mode: Go's {@code TestMutexMisuse} and the like, each in a JVM of its own. */
class SyncFatalTest {
    /** The programs, by name. */
    static final class Program {
        private Program() {
        }

        public static void main(String[] args) {
            switch (args[0]) {
                case "Mutex" -> Gmp.main(() -> new Mutex().unlock());
                case "Cond" -> Gmp.main(() -> new Cond(new Mutex()).await());
                case "RUnlock" -> Gmp.main(() -> new RWMutex().rUnlock());
                case "RUnlockLocked" -> Gmp.main(() -> {
                    RWMutex m = new RWMutex();
                    m.lock();
                    m.rUnlock();
                });
                case "Unlock" -> Gmp.main(() -> {
                    RWMutex m = new RWMutex();
                    m.rLock();
                    m.unlock();
                });
                case "Thread" -> Gmp.main(() -> {
                    Thread t = Thread.ofPlatform().daemon().start(() -> new Mutex().unlock());
                    while (t.isAlive()) {
                        Go.sleep(Duration.ofMillis(1)); // In a recv all would be asleep: plain threads that wait for nothing do not count.
                    }
                });
                case "WaitGroup" -> Gmp.main(() -> new WaitGroup().done());
                case "Deadlock" -> deadlock();
                default -> throw new AssertionError(args[0]);
            }
            System.out.println("returned");
        }

        private static void deadlock() {
            Gmp.main(() -> {
                Mutex m = new Mutex();
                RWMutex held = new RWMutex();
                RWMutex read = new RWMutex();
                Cond c = new Cond(m);
                Semaphore s = new Semaphore(1);
                held.lock();
                read.rLock();
                Go.go(held::rLock);
                Go.go(read::lock);
                Go.go(() -> s.acquire(2));
                Go.go(() -> {
                    m.lock();
                    c.await();
                });
                TestGmp.awaitOthers();
                m.lock();
                m.lock();
            });
        }
    }

    private static Result run(String program) {
        return new ChildJvm(Program.class).run(program);
    }

    @ParameterizedTest
    @CsvSource({"Mutex,sync: unlock of unlocked mutex", "Cond,sync: unlock of unlocked mutex",
        "RUnlock,sync: RUnlock of unlocked RWMutex", "RUnlockLocked,sync: RUnlock of unlocked RWMutex",
        "Unlock,sync: Unlock of unlocked RWMutex", "Thread,sync: unlock of unlocked mutex"})
    void misuse(String program, String text) {
        Result r = run(program);
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: " + text + "\n\ngoroutine 1 ["), r::toString);
        assertEquals("", r.out(), r::toString);
    }

    /** What is a panic in Go is one here. */
    @Test
    void negativeCounter() {
        Result r = run("WaitGroup");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("panic: java.lang.IllegalStateException: sync: negative WaitGroup counter\n\n"
                + "goroutine 1 [running]:\n"), r::toString);
    }

    /** Each with what it waits for. */
    @Test
    void deadlock() {
        Result r = run("Deadlock");
        assertEquals(2, r.exit(), r::toString);
        assertTrue(r.err().startsWith("fatal error: all goroutines are asleep - deadlock!\n\ngoroutine "), r::toString);
        for (String frame : new String[] {"1 [sync.Mutex.Lock]:\n\torg.gmp4j.sync.Mutex.lock",
            " [sync.RWMutex.RLock]:\n\torg.gmp4j.sync.RWMutex.rLock", " [sync.RWMutex.Lock]:\n\torg.gmp4j.sync.RWMutex.lock",
            " [sync.Cond.Wait]:\n\torg.gmp4j.sync.Cond.await", " [semacquire]:\n\torg.gmp4j.sync.Semaphore.acquire"}) {
            assertTrue(r.err().contains(frame), () -> frame + " is not in " + r);
        }
        assertEquals("", r.out(), r::toString);
    }
}
