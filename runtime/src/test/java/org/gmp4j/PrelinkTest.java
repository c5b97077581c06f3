// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.Membarrier;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.ChildJvm;
import org.gmp4j.testing.ChildJvm.Result;
import org.gmp4j.time.Time;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No class of ours is first used by a goroutine of the user's: it might have too little stack or memory for its
 * initialiser.
 */
class PrelinkTest {
    private static final String BEGIN = "the user's begin";

    static final class Program {
        private static final Duration SOON = Duration.ofMillis(1);

        private Program() {
        }

        public static void main(String[] args) {
            Gmp gmp = Gmp.builder().procs(2).build();
            AtomicReference<Mutex> _ = new AtomicReference<>(new Mutex());
            System.out.println(BEGIN);
            gmp.run(() -> {
                Chan<Integer> c = Chan.make();
                Chan<Integer> d = Chan.make(1);
                WaitGroup all = new WaitGroup();
                Mutex m = new Mutex();
                RWMutex rw = new RWMutex();
                Semaphore sem = new Semaphore(1);
                Cond cond = new Cond(m);
                all.go(() -> c.send(1));
                all.go(() -> {
                    rw.rLock();
                    sem.acquire(1);
                    sem.release(1);
                    rw.rUnlock();
                });
                int sum = Select.of().recv(c, v -> { }).recv(d, v -> { }).run();
                sum += Select.of().recv(d, v -> { }).recv(Time.after(SOON), v -> { }).run();
                m.lock();
                cond.signal();
                m.unlock();
                d.sendWithin(sum, SOON);
                d.sendWithin(sum, SOON);
                Go.sleep(SOON);
                var _ = Time.afterFunc(SOON, () -> { });
                LockSupport.parkNanos(SOON.toNanos());
                all.await();
            });
            gmp.threadFactory().newThread(() -> { }).start();
            System.exit(0);
        }
    }

    /** For the flag's scheduler, which comes first, the classes of the API are left out. */
    @ParameterizedTest
    @ValueSource(strings = {"off", "on"})
    void nothingIsLeftToLoad(String byTheFlag) {
        Result r = new ChildJvm(Program.class).plain().with("-Dgmp.default=" + byTheFlag)
                .with("-Xlog:class+init=info:stdout:none", "-Xlog:class+load=info:stdout:none").run();
        List<String> lines = r.out().lines().toList();
        int begin = lines.indexOf(BEGIN);
        assertTrue(begin > 0, r::toString);
        List<String> late = lines.subList(begin, lines.size()).stream().filter(PrelinkTest::needsMemory)
                .filter(l -> !l.contains("PrelinkTest")).toList();
        assertEquals(List.of(), late);
        assertEquals(0, r.exit());
    }

    /** Returns whether a line of the JVM's log says that a class of ours was loaded or initialised. */
    static boolean needsMemory(String line) {
        return (line.startsWith("org.gmp4j.") && line.contains(" source:")
                || line.contains("Initializing 'org/gmp4j/") && !line.contains("(no method)")) && !line.contains("$$Lambda");
    }

    static final class Interrupted {
        private static final long NAP_NANOS = 20_000;

        private Interrupted() {
        }

        public static void main(String[] args) {
            boolean _ = Membarrier.isAvailable(); // Loads our library: from a file.
            Thread builder = Thread.currentThread();
            AtomicBoolean built = new AtomicBoolean();
            Thread.ofPlatform().daemon().start(() -> {
                while (!built.get()) {
                    builder.interrupt();
                    LockSupport.parkNanos(NAP_NANOS);
                }
            });
            Gmp gmp = Gmp.builder().procs(1).build();
            built.set(true);
            System.out.print(Thread.interrupted() + " ");
            gmp.run(() -> { });
            System.out.println(Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
                    .filter(n -> n.startsWith("gmp-first")).toList());
            System.exit(0);
        }
    }

    /** The threads that are tried first end whatever interrupts, and the interrupt is not lost. */
    @Test
    void interruptsWait() {
        Result r = new ChildJvm(Interrupted.class).plain().run();
        assertEquals("true []\n", r.out(), r::toString);
        assertEquals(0, r.exit(), r::toString);
    }
}
