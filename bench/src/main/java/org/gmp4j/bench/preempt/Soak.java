// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.agent.Points;
import org.gmp4j.check.Invariants;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.sysmon.Stalls;

/**
 * Everything at once, once for each collector: preemption every 200 µs, random setProcs, collections, classes loaded and
 * given points, goroutines locked to threads, system calls, locks and monitors of the JDK, channels and sleeps. What is
 * sent has to be received, a goroutine that is locked has to stay on its thread, the invariants have to hold, and it has to end.
 */
final class Soak {
    private static final List<String> COLLECTORS =
            List.of("-XX:+UseG1GC", "-XX:+UseZGC", "-XX:+UseParallelGC", "-XX:+UseSerialGC");
    private static final int WORKERS = 24;
    private static final int KINDS = 6;
    private static final int CLASSES_A_ROUND = 4;
    private static final long PATIENCE_SECONDS = 120;

    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong received = new AtomicLong();
    private final AtomicLong moved = new AtomicLong();
    private final AtomicLong messages = new AtomicLong();
    private final AtomicBoolean stop = new AtomicBoolean();
    private final ReentrantLock lock = new ReentrantLock();
    private final Object monitor = new Object();
    private long locked;
    private long guarded;
    private final AtomicLong lockings = new AtomicLong();
    private final AtomicLong guardings = new AtomicLong();
    private volatile Scheduler scheduler;
    private long resizes;
    private long collections;
    private long classes;
    private volatile long sink;

    private Soak() {
    }

    /** Runs a JVM for each collector, one after the other, {@code seconds} in all. */
    static void measure(Child child) throws IOException, InterruptedException {
        for (String collector : COLLECTORS) {
            child.show(List.of(collector), Soak.class, Integer.toString(COLLECTORS.size()), collector);
        }
    }

    /** Arguments: what part of the time, and a name. */
    public static void main(String[] args) throws Exception {
        long nanos = Child.nanos() / Integer.parseInt(args[0]);
        Thread guard = Thread.ofPlatform().daemon().start(() -> exitIfItHangs(nanos));
        List<String> wrong = new Soak().run(args[1], nanos);
        guard.interrupt();
        if (!wrong.isEmpty()) {
            System.err.println(String.join("\n", wrong));
            System.exit(1);
        }
    }

    private static void exitIfItHangs(long nanos) {
        try {
            Thread.sleep(nanos / 1_000_000 + PATIENCE_SECONDS * 1_000);
        } catch (InterruptedException e) {
            return;
        }
        System.err.println("soak: it hangs");
        Thread.getAllStackTraces().forEach((t, stack) -> {
            System.err.println(t);
            for (StackTraceElement e : stack) {
                System.err.println("\t" + e);
            }
        });
        Runtime.getRuntime().halt(1);
    }

    private List<String> run(String name, long nanos) throws Exception {
        List<String> wrong = new java.util.ArrayList<>();
        String left;
        Gmp gmp = Gmp.builder().procs(4).quantum(Duration.ofNanos(200_000)).idleThreads(Duration.ofMillis(50)).build();
        scheduler = gmp.call(() -> GStack.current().scheduler());
        Chan<Long> c = Chan.make(16);
        Thread driver = Thread.ofPlatform().start(() -> drive(gmp, nanos, wrong));
        gmp.run(() -> work(c));
        driver.join();
        Scheduler.Signals signals = scheduler.signals();
        long ran = Stalls.of(scheduler).ran();
        long blocked = Stalls.of(scheduler).blocked();
        int threads = scheduler.mcount();
        left = gmp.close(Duration.ofSeconds(PATIENCE_SECONDS));
        check(wrong, left.isEmpty(), "left: " + left);
        check(wrong, sent.get() == received.get(), "sent " + sent + ", received " + received);
        check(wrong, locked == lockings.get() && guarded == guardings.get(), "a lock let two in");
        check(wrong, moved.get() == 0, "a locked goroutine changed its thread " + moved + " times");
        Points.Counters points = Points.counters();
        System.out.printf(Locale.ROOT,
                "%-20s %5.1f s: %d messages, %d setProcs, %d collections, %d classes loaded, %d threads at the end%n"
                        + "    signals: %d sent; %d marked the goroutine, %d took the P; refused: %d no P, %d runtime, "
                        + "%d late%n    taken from %d that ran, %d that blocked; points: %d, armed %d times, reached %d times%n",
                name, nanos / 1e9, messages.get(), resizes, collections, classes, threads, signals.sent(),
                signals.marked(), signals.taken(), signals.idle(), signals.locks(), signals.late(), ran, blocked,
                points.points(), points.armings(), points.reached());
        return wrong;
    }

    private static void check(List<String> wrong, boolean holds, String what) {
        if (!holds) {
            wrong.add("soak: " + what);
        }
    }

    private void work(Chan<Long> c) {
        WaitGroup senders = new WaitGroup();
        WaitGroup receivers = new WaitGroup();
        for (int i = 0; i < WORKERS; i++) {
            int kind = i;
            senders.go(() -> send(c, kind));
            receivers.go(() -> {
                for (long v : c) {
                    received.addAndGet(v);
                }
            });
        }
        senders.await();
        c.close();
        receivers.await();
    }

    /** Drives the mix from a thread that is no goroutine. */
    private void drive(Gmp gmp, long nanos, List<String> wrong) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long end = System.nanoTime() + nanos;
        try {
            for (int i = 0; System.nanoTime() < end; i++) {
                int _ = gmp.setProcs(1 + random.nextInt(8));
                resizes++;
                if (i % 16 == 0) {
                    load();
                }
                if (i % 64 == 0) {
                    System.gc();
                    collections++;
                    String dump = gmp.dump();
                    check(wrong, !dump.isEmpty(), "an empty dump");
                }
                if (i % 32 == 0) {
                    wrong.addAll(Invariants.sample(scheduler));
                }
                if (i % 128 == 0) {
                    StopTheWorld.withWorldStopped(scheduler, () -> wrong.addAll(Invariants.check(scheduler)));
                }
                Thread.sleep(random.nextInt(4));
            }
        } catch (ReflectiveOperationException | InterruptedException e) {
            wrong.add("soak: " + e);
        }
        stop.set(true);
    }

    /** Classes with loops, each time new ones. */
    private void load() throws ReflectiveOperationException {
        for (int i = 0; i < CLASSES_A_ROUND; i++) {
            Class<?> c = new Again().loadClass(Loop.class.getName());
            Method sum = c.getDeclaredMethod("sum", int.class);
            sum.setAccessible(true); // Another class loader is another package.
            sink += (long) sum.invoke(null, 1000);
            classes++;
        }
    }

    /** What is loaded again and again. */
    static final class Loop {
        private Loop() {
        }

        /** Returns the sum of the numbers below n. */
        static long sum(int n) {
            long s = 0;
            for (int i = 0; i < n; i++) {
                s += i;
            }
            return s;
        }
    }

    private static final class Again extends ClassLoader {
        Again() {
            super(Soak.class.getClassLoader());
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            if (!name.equals(Loop.class.getName())) {
                return super.loadClass(name);
            }
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] b = in.readAllBytes();
                return defineClass(name, b, 0, b.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    private void send(Chan<Long> c, int kind) {
        if (kind % KINDS == 0) {
            Go.lockOSThread(); // Ends locked: the thread ends too.
        }
        int tid = OsThread.gettid();
        long x = kind + 1;
        while (!stop.get()) {
            for (int i = 0; i < 50_000; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L; // Longer than a quantum now and then.
            }
            long v = x >>> 40;
            sent.addAndGet(v);
            c.send(v);
            messages.incrementAndGet();
            act(kind);
            if (kind % KINDS == 0 && OsThread.gettid() != tid) {
                moved.incrementAndGet();
            }
        }
    }

    private void act(int kind) {
        try {
            switch (kind % KINDS) {
                case 0 -> Go.gosched();
                case 1 -> Go.sleep(Duration.ofNanos(50_000));
                case 2 -> sink += Go.blocking(() -> {
                    Native.usleep(20);
                    return 1;
                });
                case 3 -> Thread.sleep(0, 50_000);
                case 4 -> {
                    synchronized (monitor) {
                        guarded++;
                        guardings.incrementAndGet();
                        Thread.yield();
                    }
                }
                default -> {
                    lock.lock();
                    try {
                        locked++;
                        lockings.incrementAndGet();
                        Thread.yield();
                    } finally {
                        lock.unlock();
                    }
                }
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
