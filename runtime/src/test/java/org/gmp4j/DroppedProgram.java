// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.check.Invariants;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;

/**
 * Virtual threads of the default scheduler to which the program has no reference. Each argument is a case; how many goroutines there are
 * in the end, beside those that were there before, or how many went on, is printed.
 */
final class DroppedProgram {
    private static final int MANY = 3_000;
    private static final int BYTES = 4_000;
    private static final int FEW = 10;
    private static final int WAKE_UPS = 60;
    private static final int TRIES = 1_000;
    private static final int COLLECTIONS = 10;
    private static final long NAP_NANOS = 1_000_000;

    private static final Gmp GMP = Gmp.makeDefault();
    private static final AtomicInteger WENT_ON = new AtomicInteger();
    private static volatile boolean stop;

    private DroppedProgram() {
    }

    public static void main(String[] args) throws Exception {
        for (String what : args) {
            int before = goroutines();
            WENT_ON.set(0);
            System.out.println(what + " " + result(what, before));
        }
        System.exit(0); // Goroutines are left.
    }

    private static Object result(String what, int before) throws Exception {
        return switch (what) {
            case "rounds" -> rounds(before);
            case "plain" -> {
                for (int i = 0; i < FEW; i++) {
                    Thread _ = Thread.startVirtualThread(DroppedProgram::waitForNothing);
                }
                yield left(before);
            }
            case "reachable" -> reachable(before);
            case "leaks" -> {
                drop(FEW, DroppedProgram::waitForNothing);
                yield GMP.leaks().total() + " " + left(before);
            }
            case "api" -> api(before);
            case "locked" -> {
                drop(1, () -> {
                    Go.lockOSThread();
                    waitForNothing();
                });
                yield left(before);
            }
            case "woken" -> woken();
            case "sleeps" -> sleeps();
            case "sockets" -> sockets();
            case "finalizer" -> finalizer(before);
            default -> throw new AssertionError(what);
        };
    }

    private static void waitForNothing() {
        await(new CountDownLatch(1));
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Starts threads that only an executor refers to, and forgets that. */
    private static void drop(int n, Runnable task) {
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        for (int i = 0; i < n; i++) {
            threads.execute(task);
        }
    }

    /** A collection. A thread begins and ends, as sysmon looks only while something runs. */
    private static void collect() {
        System.gc();
        try {
            Thread.startVirtualThread(() -> { }).join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        LockSupport.parkNanos(NAP_NANOS);
    }

    /** How many goroutines there are once that is stable: threads that went on may be about to end, and others to be collected. */
    private static int goroutines() {
        int n = GMP.numGoroutine();
        for (int same = 0; same < COLLECTIONS; same++) {
            collect();
            int now = GMP.numGoroutine();
            same = now == n ? same : 0;
            n = now;
        }
        return n;
    }

    private static int left(int before) {
        return goroutines() - before;
    }

    /** Collects while it waits until so many have gone on. */
    private static int wentOn(int n) {
        for (int i = 0; i < TRIES && WENT_ON.get() < n; i++) {
            collect();
        }
        return WENT_ON.get();
    }

    private static Scheduler scheduler() {
        AtomicReference<Scheduler> s = new AtomicReference<>();
        GMP.run(() -> s.set(GStack.mine().scheduler()));
        return s.get();
    }

    /** More threads than fit into the heap, one lot after the other: slots of Gs are used again. */
    private static Object rounds(int before) {
        List<Long> slots = new ArrayList<>();
        Scheduler s = scheduler();
        for (int round = 0; round < 3; round++) {
            drop(MANY, () -> {
                byte[] b = new byte[BYTES];
                waitForNothing();
                WENT_ON.addAndGet(b.length);
            });
            int left = left(before);
            for (int i = 0; i < TRIES && left != 0; i++) { // Beside other processes sysmon may be late.
                left = left(before);
            }
            if (left != 0) {
                return "left " + left;
            }
            long[] n = new long[1];
            s.slots.forEach(gp -> n[0]++);
            slots.add(n[0]);
        }
        return slots.getLast() < slots.getFirst() + MANY / 2; // Ps keep some for goroutines that start others.
    }

    private static long seen() {
        return GMP.dump().lines().filter(l -> l.contains("DroppedProgram.await(")).count();
    }

    /** They are seen while they wait, and go on. */
    private static Object reachable(int before) {
        CountDownLatch latch = new CountDownLatch(1);
        drop(FEW, () -> {
            await(latch);
            WENT_ON.incrementAndGet();
        });
        int waiting = left(before);
        long seen = seen();
        long counted = GMP.goroutines().groups().stream()
                .filter(g -> g.frames().stream().anyMatch(f -> f.getMethodName().equals("await"))).mapToInt(g -> g.count()).max().orElse(0);
        Scheduler s = scheduler();
        AtomicReference<List<String>> broken = new AtomicReference<>();
        StopTheWorld.withWorldStopped(s, () -> broken.set(Invariants.check(s)));
        latch.countDown();
        return waiting + " " + seen + " " + counted + " " + broken + " " + wentOn(FEW) + " " + left(before);
    }

    /** Goroutines of our own API, and a wait of our own. */
    private static Object api(int before) {
        GMP.go(DroppedProgram::waitForNothing);
        GMP.threadFactory().newThread(DroppedProgram::waitForNothing).start();
        drop(1, () -> {
            Object _ = Chan.make().recv();
        });
        return left(before);
    }

    /**
     * Threads that are woken as soon as they have parked, and then wait for a timer, which knows the goroutine alone; the collector runs
     * all the time.
     */
    private static Object woken() throws InterruptedException {
        Thread collector = Thread.ofPlatform().start(() -> {
            while (!stop) {
                System.gc();
            }
        });
        for (int i = 0; i < WAKE_UPS; i++) {
            wake();
        }
        int n = wentOn(WAKE_UPS);
        stop = true;
        collector.join();
        return n;
    }

    private static void wake() {
        AtomicReference<Thread> thread = new AtomicReference<>();
        drop(1, () -> {
            thread.set(Thread.currentThread());
            LockSupport.park();
            thread.set(null);
            Go.sleep(Duration.ofMillis(20));
            WENT_ON.incrementAndGet();
        });
        Thread t = thread.get();
        while (t == null || t.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
            t = thread.get();
        }
        LockSupport.unpark(t);
    }

    /** Waits with a limit of time. */
    private static Object sleeps() {
        List<Callable<Void>> waits = List.of(
                () -> {
                    Thread.sleep(50);
                    return null;
                },
                () -> {
                    LockSupport.parkNanos(50_000_000);
                    return null;
                },
                () -> {
                    Object monitor = new Object();
                    synchronized (monitor) {
                        monitor.wait(50);
                    }
                    return null;
                });
        for (Callable<Void> wait : waits) {
            drop(FEW, () -> {
                try {
                    Void _ = wait.call();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                WENT_ON.incrementAndGet();
            });
        }
        return wentOn(waits.size() * FEW);
    }

    /** The other end of each connection is the main thread's. */
    private static Object sockets() throws IOException {
        List<Socket> clients = new ArrayList<>();
        try (ServerSocket listener = new ServerSocket(0, FEW, InetAddress.getLoopbackAddress())) {
            untilOurPollerIsUsed(listener);
            WENT_ON.set(0);
            for (int i = 0; i < FEW; i++) {
                clients.add(connect(listener));
                read(listener.accept());
            }
        }
        for (int i = 0; i < COLLECTIONS; i++) {
            collect();
        }
        for (Socket client : clients) {
            client.getOutputStream().write(1);
        }
        int n = wentOn(FEW);
        for (Socket client : clients) {
            client.close();
        }
        return n;
    }

    private static Socket connect(ServerSocket listener) throws IOException {
        return new Socket(listener.getInetAddress(), listener.getLocalPort());
    }

    /** The JDK's own, which refers to the threads that wait, is used at first. */
    private static void untilOurPollerIsUsed(ServerSocket listener) throws IOException {
        Scheduler s = scheduler();
        for (boolean ours = false; !ours;) {
            try (Socket client = connect(listener)) {
                read(listener.accept());
                for (int i = 0; i < COLLECTIONS && !ours; i++) {
                    LockSupport.parkNanos(NAP_NANOS);
                    ours = s.netpoll().anyWaiters(s);
                }
                int before = WENT_ON.get();
                client.getOutputStream().write(1);
                while (WENT_ON.get() == before) {
                    LockSupport.parkNanos(NAP_NANOS);
                }
            }
        }
    }

    private static void read(Socket s) {
        drop(1, () -> {
            try (s) {
                WENT_ON.addAndGet(s.getInputStream().read());
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** Wakes a thread that nothing else can reach, when the collector has found that. */
    private static final class Last {
        private final CountDownLatch latch;

        Last(CountDownLatch latch) {
            this.latch = latch;
        }

        @Override
        @SuppressWarnings({"removal", "deprecation"})
        protected void finalize() {
            latch.countDown();
        }
    }

    private static Object finalizer(int before) {
        CountDownLatch last = new CountDownLatch(1);
        for (int i = 0; i < FEW; i++) {
            CountDownLatch latch = new CountDownLatch(1);
            Object _ = new Last(latch);
            drop(1, () -> {
                await(latch);
                WENT_ON.incrementAndGet();
                await(last);
            });
        }
        int n = wentOn(FEW);
        collect();
        long seen = seen();
        last.countDown();
        return n + " " + seen + " " + left(before);
    }
}
