// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Collectors;

import org.gmp4j.metrics.Inspection.Kind;
import org.gmp4j.metrics.Profile.Sample;
import org.gmp4j.report.Traceback;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The block profile from outside has waits in the JDK. All waits here last for longer than the profile. */
class JdkWaitProfileTest {
    private static final double SECONDS = 0.1;
    private static final double NANOS = 1e9;
    private static final int MANY = 1_200;

    private interface Wait {
        void now() throws InterruptedException;
    }

    private static void start(TestGmp g, List<Thread> threads, Wait w) {
        Thread t = g.gmp.threadFactory().newThread(() -> {
            try {
                w.now();
            } catch (InterruptedException e) {
                return;
            }
        });
        threads.add(t);
        t.start();
    }

    private static void awaitStates(TestGmp g, Map<String, Long> states) {
        Scheduler s = g.scheduler();
        while (!Traceback.states(s).equals(states)) {
            Thread.yield();
        }
    }

    @Test
    void everyKindButSleepsAndDescriptors() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        Object monitor = new Object();
        Object notified = new Object();
        Semaphore blue = new Semaphore(0);
        List<Thread> threads = new ArrayList<>();
        Process cat = new ProcessBuilder("cat").start();
        lock.lock();
        rw.writeLock().lock();
        try (TestGmp g = TestGmp.procs(2)) {
            start(g, threads, lock::lockInterruptibly);
            start(g, threads, lock::lockInterruptibly);
            start(g, threads, () -> rw.readLock().lockInterruptibly());
            start(g, threads, () -> new Semaphore(0).acquire());
            start(g, threads, () -> {
                synchronized (notified) {
                    notified.wait();
                }
            });
            start(g, threads, () -> Labels.run(Map.of("tenant", "blue"), blue::acquireUninterruptibly));
            start(g, threads, () -> Thread.sleep(Long.MAX_VALUE));
            start(g, threads, cat::waitFor);
            synchronized (monitor) {
                start(g, threads, () -> {
                    synchronized (monitor) {
                        monitor.notifyAll();
                    }
                });
                awaitStates(g, Map.of("park (ReentrantLock)", 2L, "park (ReentrantReadWriteLock)", 1L, "park (Semaphore)", 2L,
                        "Object.wait", 1L, "monitor", 1L, "sleep", 1L, "park (Condition)", 1L)); // The last is that of the process.
                long start = System.nanoTime();
                Profile p = Inspection.profile(g.scheduler(), Kind.BLOCK, SECONDS);
                check(p, System.nanoTime() - start);
            }
            blue.release();
            threads.forEach(Thread::interrupt);
        } finally {
            cat.destroy();
        }
    }

    private static void check(Profile p, long took) {
        Map<String, Long> counts = p.samples().stream().collect(Collectors.toMap(s -> new TreeMap<>(s.labels()).toString(), Sample::count,
                Long::sum, TreeMap::new));
        assertEquals(new TreeMap<>(Map.of("{wait=park (ReentrantLock)}", 2L, "{wait=park (ReentrantReadWriteLock)}", 1L,
                "{wait=park (Semaphore)}", 1L, "{tenant=blue, wait=park (Semaphore)}", 1L, "{wait=Object.wait}", 1L, "{wait=monitor}", 1L)),
                counts, p::toString);
        for (Sample s : p.samples()) {
            assertTrue(s.nanos() >= s.count() * SECONDS * NANOS && s.nanos() <= s.count() * took, p::toString);
            assertTrue(s.frames().stream().anyMatch(f -> f.getClassName().equals(JdkWaitProfileTest.class.getName())), p::toString);
        }
    }

    /** Where more wait than a look reads, each that it reads stands for several. */
    @Test
    void many() throws InterruptedException {
        Semaphore s = new Semaphore(0);
        List<Thread> threads = new ArrayList<>();
        try (TestGmp g = TestGmp.procs(2)) {
            for (int i = 0; i < MANY; i++) {
                start(g, threads, s::acquire);
            }
            awaitStates(g, Map.of("park (Semaphore)", (long) MANY));
            long start = System.nanoTime();
            Profile p = Inspection.profile(g.scheduler(), Kind.BLOCK, SECONDS);
            long took = System.nanoTime() - start;
            assertTrue(p.nanos() >= MANY * SECONDS * NANOS && p.nanos() <= MANY * took, p::toString);
            assertTrue(p.samples().getFirst().count() <= MANY, p::toString);
            s.release(MANY);
        }
    }
}
