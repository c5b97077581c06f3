// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.Phaser;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.BooleanSupplier;

import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** The reasons for which virtual threads wait in the JDK: in counts, which read hardly any stack, and where stacks are shown. */
class StatesTest {
    private static final int FULL = 64 << 20;
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private interface Waiting {
        void now() throws Exception;
    }

    private final List<Thread> threads = new ArrayList<>();

    private void waits(TestGmp g, Waiting w) {
        Thread t = g.gmp.threadFactory().newThread(() -> {
            try {
                w.now();
            } catch (Exception interrupted) {
                return;
            }
        });
        threads.add(t);
        t.start();
    }

    private static Map<String, Long> stacks(Scheduler s) {
        Map<String, Long> states = new TreeMap<>();
        Traceback.list(s, one -> states.merge(one.state(), 1L, Long::sum));
        return states;
    }

    /** Without frames, sockets are told by their descriptors alone. */
    private static Map<String, Long> counts(Scheduler s) {
        return Traceback.states(s, new States(s, 0));
    }

    private static void await(Scheduler s, BooleanSupplier come) {
        long end = System.nanoTime() + PATIENCE_NANOS;
        while (!come.getAsBoolean()) {
            assertTrue(System.nanoTime() < end, () -> counts(s) + "\n" + Traceback.all(s));
            Thread.yield();
        }
    }

    /** Has threads wait in the scheduler's poller: the first ones wait in the JDK's. */
    private void awaitPoller(TestGmp g, ServerSocket free) throws Exception {
        free.setSoTimeout(1);
        AtomicBoolean ours = new AtomicBoolean();
        waits(g, () -> {
            while (!ours.get()) {
                try {
                    free.accept().close();
                } catch (SocketTimeoutException again) {
                    continue;
                }
            }
        });
        Scheduler s = g.scheduler();
        await(s, () -> s.netpoll().anyWaiters(s));
        ours.set(true);
        threads.getLast().join();
        free.setSoTimeout(0);
    }

    @Test
    void everyKind() throws Exception {
        Map<String, Long> counts = new TreeMap<>();
        ReentrantLock lock = new ReentrantLock();
        ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
        Object monitor = new Object();
        Object notified = new Object();
        Process cat = new ProcessBuilder("cat").start();
        lock.lock();
        rw.writeLock().lock();
        try (TestGmp g = TestGmp.procs(2); ServerSocket free = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ServerSocket idle = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Socket _ = new Socket(full.getInetAddress(), full.getLocalPort());
                Socket _ = new Socket(full.getInetAddress(), full.getLocalPort());
                Selector selector = Selector.open()) {
            Pipe pipe = Pipe.open();
            Scheduler s = g.scheduler();
            awaitPoller(g, free);
            waits(g, () -> Thread.sleep(Long.MAX_VALUE));
            waits(g, lock::lockInterruptibly);
            waits(g, () -> rw.readLock().lockInterruptibly());
            waits(g, () -> new LinkedBlockingQueue<>().take());
            waits(g, () -> new SynchronousQueue<>().take());
            waits(g, () -> new LinkedTransferQueue<>().take());
            waits(g, () -> new Semaphore(0).acquire());
            waits(g, () -> new CountDownLatch(1).await());
            waits(g, () -> new CompletableFuture<>().get());
            waits(g, () -> new FutureTask<>(() -> 1).get());
            waits(g, () -> new Phaser(2).awaitAdvanceInterruptibly(0));
            waits(g, () -> LockSupport.park(this));
            waits(g, () -> LockSupport.park());
            waits(g, () -> {
                synchronized (notified) {
                    notified.wait();
                }
            });
            waits(g, () -> {
                try (Socket c = new Socket(idle.getInetAddress(), idle.getLocalPort())) {
                    int _ = c.getInputStream().read();
                }
            });
            waits(g, () -> {
                try (Socket c = new Socket(idle.getInetAddress(), idle.getLocalPort())) {
                    c.getOutputStream().write(new byte[FULL]);
                }
            });
            waits(g, () -> free.accept().close());
            waits(g, () -> new Socket(full.getInetAddress(), full.getLocalPort()).close());
            waits(g, selector::select);
            waits(g, () -> pipe.source().read(ByteBuffer.allocate(1)));
            waits(g, cat::waitFor);
            for (String one : List.of("sleep", "monitor", "Object.wait", "park", "park (StatesTest)", "park (ReentrantLock)",
                    "park (ReentrantReadWriteLock)", "park (Condition)", "park (SynchronousQueue)", "park (LinkedTransferQueue)",
                    "park (Semaphore)", "park (CountDownLatch)", "park (CompletableFuture)", "park (FutureTask)", "park (Phaser)",
                    "socket read", "socket write", "socket accept", "socket connect", "selector", "pipe")) {
                counts.put(one, 1L);
            }
            counts.put("park (Condition)", 2L); // That of the process.
            synchronized (monitor) {
                waits(g, () -> {
                    synchronized (monitor) {
                        monitor.notifyAll();
                    }
                });
                await(s, () -> counts(s).equals(counts));
                assertEquals(counts, Traceback.states(s));
                counts.put("park (Condition)", 1L);
                counts.put("process", 1L);
                assertEquals(counts, stacks(s));
            }
            for (Thread t : threads) {
                t.interrupt();
            }
            pipe.source().close();
            pipe.sink().close();
        } finally {
            cat.destroy();
        }
    }

    /** A descriptor that was closed after the look at the poller is not taken for a pipe. */
    @Test
    void aClosedDescriptorSaysNothing() {
        assertNull(States.ofDescriptor(Integer.MAX_VALUE)); // More than a process may have.
        assertNull(States.ofDescriptor(-Integer.MAX_VALUE));
    }
}
