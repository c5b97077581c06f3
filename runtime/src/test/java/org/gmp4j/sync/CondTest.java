// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.Go;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ring")
class CondTest {
    private static final int N = 20;

    /** Go: {@code TestCondSignal}, {@code TestCondBroadcast}: one for each signal, all for a broadcast. */
    @Stress
    void signalAndBroadcast() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                Mutex m = new Mutex();
                Cond c = new Cond(m);
                Chan<Boolean> waiting = Chan.make(N);
                Chan<Boolean> awake = Chan.make(N);
                for (int i = 0; i < N; i++) {
                    Go.go(() -> {
                        for (int k = 0; k < 2; k++) {
                            m.lock();
                            waiting.send(true);
                            c.await();
                            awake.send(true);
                            m.unlock();
                        }
                    });
                }
                all(waiting, N);
                for (int i = 1; i <= N; i++) {
                    m.lock();
                    assertEquals(i - 1, awoken.get());
                    c.signal();
                    m.unlock();
                    awake.recv();
                    awoken.incrementAndGet();
                }
                all(waiting, N);
                m.lock();
                assertEquals(0, awake.len());
                c.broadcast();
                m.unlock();
                all(awake, N);
                c.signal(); // Without a waiter nothing happens.
                c.broadcast();
            });
        }
    }

    private final AtomicInteger awoken = new AtomicInteger();

    private static void all(Chan<Boolean> c, int n) {
        for (int i = 0; i < n; i++) {
            c.recv();
        }
    }

    /** Go: {@code TestCondSignalGenerations}: signals reach waiters in the order in which they began to wait. */
    @Stress
    void condSignalGenerations() {
        try (TestGmp gmp = TestGmp.procs(2)) {
            gmp.run(() -> {
                Mutex m = new Mutex();
                Cond c = new Cond(m);
                int n = 100;
                Chan<Boolean> waiting = Chan.make(n);
                Chan<Integer> awake = Chan.make(n);
                for (int i = 0; i < n; i++) {
                    int id = i;
                    Go.go(() -> {
                        m.lock();
                        waiting.send(true);
                        c.await();
                        awake.send(id);
                        m.unlock();
                    });
                    if (i > 0) {
                        assertEquals(i - 1, awake.recv());
                    }
                    waiting.recv();
                    m.lock();
                    c.signal();
                    m.unlock();
                }
                assertEquals(n - 1, awake.recv());
            });
        }
    }

    /** Go: {@code TestCondSignalStealing}: one that begins to wait after a signal does not take it from one that waited before. */
    @Stress
    void condSignalStealing() {
        try (TestGmp gmp = TestGmp.procs(4)) {
            gmp.run(() -> {
                for (int i = 0; i < 300; i++) {
                    Mutex m = new Mutex();
                    Cond c = new Cond(m);
                    Chan<Boolean> first = Chan.make();
                    Go.go(() -> {
                        m.lock();
                        first.send(true);
                        c.await();
                        m.unlock();
                        first.send(true);
                    });
                    first.recv();
                    m.lock();
                    m.unlock(); // It waits now, or will before anyone that locks after this.
                    Chan<Boolean> second = Chan.make();
                    boolean[] enough = new boolean[1];
                    Go.go(() -> {
                        m.lock();
                        second.send(true);
                        while (!enough[0]) {
                            c.await();
                        }
                        m.unlock();
                        second.send(true);
                    });
                    second.recv();
                    m.lock();
                    m.unlock(); // It waits too, and may be the first to sleep.
                    c.signal();
                    first.recv(); // Hangs if the second took it.
                    m.lock();
                    enough[0] = true;
                    m.unlock();
                    c.broadcast();
                    second.recv();
                }
            });
        }
    }

    /** A bounded buffer between goroutines, threads and virtual threads: what goes in comes out. */
    @Stress
    void boundedBuffer() {
        Mutex m = new Mutex();
        Cond notFull = new Cond(m);
        Cond notEmpty = new Cond(m);
        ArrayDeque<Integer> q = new ArrayDeque<>();
        int turns = 3_000;
        AtomicLong in = new AtomicLong();
        AtomicLong out = new AtomicLong();
        try (TestGmp gmp = TestGmp.procs(2)) {
            // An even number of each kind; even ones give, odd ones take.
            Crew.run(gmp, 4, 2, 2, id -> {
                for (int i = 0; i < turns; i++) {
                    m.lock();
                    if (id % 2 == 0) {
                        while (q.size() == 3) {
                            notFull.await();
                        }
                        q.add(i);
                        in.addAndGet(i);
                        if (i % 4 == 0) {
                            notEmpty.broadcast();
                        } else {
                            notEmpty.signal();
                        }
                    } else {
                        while (q.isEmpty()) {
                            notEmpty.await();
                        }
                        out.addAndGet(q.poll());
                        notFull.signal();
                    }
                    m.unlock();
                }
            });
        }
        assertEquals(in.get(), out.get());
        assertEquals(4L * turns * (turns - 1) / 2, out.get());
    }

    /** Without the mutex: Go's text, and no ticket is lost. */
    @Test
    void misuse() {
        Mutex m = new Mutex();
        Cond c = new Cond(m);
        assertEquals("sync: unlock of unlocked mutex",
                assertThrows(IllegalStateException.class, c::await).getMessage());
        assertThrows(NullPointerException.class, () -> new Cond(null));
        try (TestGmp gmp = TestGmp.procs(1)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                wg.go(() -> {
                    m.lock();
                    c.await();
                    m.unlock();
                });
                TestGmp.awaitOthers();
                c.signal();
                wg.await();
            });
        }
    }
}
