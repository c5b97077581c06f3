// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import com.sun.management.HotSpotDiagnosticMXBean;
import jdk.internal.vm.Continuation;
import jdk.internal.vm.ContinuationScope;
import org.gmp4j.sched.GStack;
import org.gmp4j.struct.G;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/**
 * Who am I, asked again after each switch: in one compiled loop, where C2 keeps the first answer because it believes that
 * a method runs on one thread from begin to end.
 */
class IdentityTest {
    private static final int READS = 10_000_000;
    private static final int GOROUTINES = 8;
    private static final int KINDS = 1024;
    private static final int BARE_READS = 2_000_000;
    private static final ThreadLocal<Object> LOCAL = new ThreadLocal<>();

    /** One goroutine's share of the reads. */
    private static final class Reader implements Runnable {
        private long reads;
        private long staleThread;
        private long staleLocal;
        private long staleLock;
        private long staleMonitor;
        private long migrations;

        @Override
        public void run() {
            Thread me = Thread.currentThread();
            Object mine = new Object();
            LOCAL.set(mine);
            ReentrantLock lock = new ReentrantLock();
            long gp = GStack.current().gp();
            long m = G.M.getOpaque(gp);
            lock.lock();
            synchronized (mine) {
                for (int i = 0; i < READS / GOROUTINES; i++) {
                    change(i % KINDS);
                    long now = G.M.getOpaque(gp);
                    if (now != m) {
                        m = now;
                        migrations++;
                    }
                    if (Thread.currentThread() != me) {
                        staleThread++;
                    }
                    if (LOCAL.get() != mine) {
                        staleLocal++;
                    }
                    if (!lock.isHeldByCurrentThread()) {
                        staleLock++;
                    }
                    if (!Thread.holdsLock(mine)) {
                        staleMonitor++;
                    }
                    reads++;
                }
            }
            lock.unlock();
        }

        /** Lets others run: mostly by our switch, which is fastest, now and then by each of the JDK's. */
        private static void change(int kind) {
            switch (kind) {
                case 0 -> Thread.yield();
                case 1 -> LockSupport.parkNanos(1);
                case 2 -> Go.sleep(Duration.ofNanos(1));
                case 3 -> {
                    try {
                        Thread.sleep(0, 1);
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                }
                default -> Go.gosched();
            }
        }
    }

    @Test
    void noReadIsStale() {
        List<Reader> readers = new ArrayList<>();
        try (TestGmp gmp = TestGmp.with(b -> b.procs(3).quantum(Duration.ofMillis(1)))) {
            for (int i = 0; i < GOROUTINES; i++) {
                Reader r = new Reader();
                readers.add(r);
                if (i % 2 == 0) {
                    gmp.go(r);
                } else {
                    gmp.gmp.threadFactory().newThread(r).start();
                }
            }
        }
        assertEquals(READS, readers.stream().mapToLong(r -> r.reads).sum());
        assertEquals(0, readers.stream().mapToLong(r -> r.staleThread).sum(), "of currentThread");
        assertEquals(0, readers.stream().mapToLong(r -> r.staleLocal).sum(), "of the ThreadLocal");
        assertEquals(0, readers.stream().mapToLong(r -> r.staleLock).sum(), "of the ReentrantLock's owner");
        assertEquals(0, readers.stream().mapToLong(r -> r.staleMonitor).sum(), "of the monitor's owner");
        long migrations = readers.stream().mapToLong(r -> r.migrations).sum();
        assertTrue(migrations > 1_000, () -> migrations + " migrations show little");
    }

    private static final long PATIENCE = 60_000_000_000L;
    private static final ContinuationScope SCOPE = new ContinuationScope("bare");

    /** The same loop on a continuation without a virtual thread around it. */
    private static final class Bare implements Runnable {
        private final Continuation cont = new Continuation(SCOPE, this);
        /** Whose loop runs it: written by that thread before it does. */
        private Thread carrier;
        private long stale;

        @Override
        public void run() {
            for (int i = 0; i < BARE_READS / GOROUTINES; i++) {
                boolean _ = Continuation.yield(SCOPE);
                if (Thread.currentThread() != carrier) {
                    stale++;
                }
            }
        }
    }

    /**
     * That the loop above can see a stale read: continuations without identity of their own show some, as soon as the kernel
     * lets the two carriers take enough of them from each other.
     */
    @Test
    void bareContinuationsReadStale() throws InterruptedException {
        assumeTrue(hasC2(), "only C2 keeps the current thread over a call");
        long stale = 0;
        for (long end = System.nanoTime() + PATIENCE; stale == 0 && System.nanoTime() < end;) {
            stale = staleReadsOfBareContinuations();
        }
        assertTrue(stale > 0, "no stale read: the loop proves nothing in this JVM");
    }

    private static long staleReadsOfBareContinuations() throws InterruptedException {
        ConcurrentLinkedQueue<Bare> queue = new ConcurrentLinkedQueue<>();
        List<Bare> all = new ArrayList<>();
        for (int i = 0; i < GOROUTINES; i++) {
            all.add(new Bare());
        }
        queue.addAll(all);
        AtomicInteger left = new AtomicInteger(GOROUTINES);
        new org.gmp4j.testing.Threads().add(2, "carrier", () -> {
            Thread me = Thread.currentThread();
            while (left.get() > 0) {
                Bare b = queue.poll();
                if (b == null) {
                    Thread.onSpinWait();
                    continue;
                }
                b.carrier = me;
                b.cont.run();
                if (b.cont.isDone()) {
                    left.decrementAndGet();
                } else {
                    queue.add(b);
                }
            }
        }).run();
        return all.stream().mapToLong(b -> b.stale).sum();
    }

    private static boolean hasC2() {
        HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
        return System.getProperty("java.vm.info").contains("mixed")
                && vm.getVMOption("TieredStopAtLevel").getValue().equals("4");
    }
}
