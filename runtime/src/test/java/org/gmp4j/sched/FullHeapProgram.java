// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.RecvChan;
import org.gmp4j.Select;
import org.gmp4j.check.Invariants;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sync.Mutex;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/**
 * Fills the heap again and again from the moment that there is a scheduler, while everything runs and much happens for the
 * first time, then looks whether anything was lost. What users do may throw OutOfMemoryError, and they try again; the
 * scheduler goes on whatever happens. Argument: seconds.
 *
 * <p>What users do links no lambda, which might fail for ever: their steps take what they need from outside, made while there is
 * memory, or make objects of named classes.
 */
final class FullHeapProgram {
    private static final int PROCS = 3;
    private static final long PATIENCE_SECONDS = 30;

    private static final Gmp GMP = Gmp.builder().procs(PROCS).quantum(Duration.ofMillis(1)).debug("schedtrace=20,scheddetail=1")
            .uncaught((goid, t) -> unexpected(t)).build();
    private static final AtomicReference<Throwable> UNEXPECTED = new AtomicReference<>();
    private static final AtomicLong NO_MEMORY = new AtomicLong();
    private static final AtomicLong DONE = new AtomicLong();
    private static final List<CountDownLatch> LIVING = new ArrayList<>();
    /** What starts the users, once all is made that they need. */
    private static final List<Start> STARTS = new ArrayList<>();
    private static volatile boolean stop;
    private static volatile Object ballast;

    private FullHeapProgram() {
    }

    public static void main(String[] args) throws Exception {
        Scheduler s = GMP.call(() -> GStack.current().scheduler());
        long nanos = Long.parseLong(args[0]) * 1_000_000_000;
        Thread filler = new Thread(() -> fill(nanos));
        users();
        filler.start();
        for (int i = 0; i < STARTS.size(); i++) { // No iterator: from here on there may be no memory for one.
            surely(STARTS.get(i));
        }
        filler.join();
        stop = true;
        long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS); // For all: many may wait for one thing.
        boolean ended = true;
        for (CountDownLatch living : LIVING) {
            ended &= living.await(patience - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
        if (!ended) {
            System.out.println("hangs:\n" + GMP.dump());
            Runtime.getRuntime().halt(1);
        }
        if (UNEXPECTED.get() != null) {
            UNEXPECTED.get().printStackTrace(System.out);
            Runtime.getRuntime().halt(1);
        }
        if (!GMP.call(FullHeapMore::allFree)) {
            System.out.println("a lock is held");
            Runtime.getRuntime().halt(1);
        }
        AtomicReference<List<String>> broken = new AtomicReference<>();
        StopTheWorld.withWorldStopped(s, () -> broken.set(Invariants.check(s)));
        int _ = GMP.setProcs(2);
        int sum = GMP.call(() -> pingPong(1_000));
        String left = GMP.close(Duration.ofSeconds(PATIENCE_SECONDS));
        System.out.printf("broken %s, sum %d, left [%s]%n", broken.get(), sum, left);
        System.err.printf("done %d, no memory %d%n", DONE.get(), NO_MEMORY.get());
        System.exit(0); // Nothing else keeps the process alive, nor may.
    }

    private static void unexpected(Throwable t) {
        if (t instanceof OutOfMemoryError) {
            long _ = NO_MEMORY.incrementAndGet();
        } else {
            boolean _ = UNEXPECTED.compareAndSet(null, t);
        }
    }

    /** Rounds of filling the heap to the last byte, with what one of the users then drops to live on. */
    private static void fill(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(System.nanoTime() & 0xffffff); // Up to 16 ms.
            fillOnce();
            LockSupport.parkNanos(System.nanoTime() & 0x3fffff);
            ballast = null;
        }
    }

    private static void fillOnce() {
        Object[] head = null;
        for (int size = 1 << 16; size >= 16;) {
            try {
                head = new Object[] {head, new byte[size]};
                ballast = head;
            } catch (OutOfMemoryError e) {
                size /= 4;
            }
        }
    }

    /** One step of a user, done again and again; without memory it has not happened. */
    interface Step {
        void run() throws Exception;
    }

    static void user(Step step) {
        loop(GMP::go, step);
    }

    /** What a user does. No lambda: that would be linked when the first starts, maybe with a full heap. */
    private record User(Step step, Runnable last, CountDownLatch living) implements Runnable {
        @Override
        public void run() {
            try {
                while (!stop) {
                    attempt(step);
                }
                last.run();
            } finally {
                living.countDown();
            }
        }
    }

    /** Tells a channel that a time has come. */
    record Told(Chan<Integer> fired) implements Runnable {
        @Override
        public void run() {
            boolean _ = fired.trySend(1);
        }
    }

    /** What a channel brings, until it has come. */
    static <T> T surelyFrom(RecvChan<T> c) {
        for (;;) {
            try {
                return c.recv();
            } catch (OutOfMemoryError e) {
                long _ = NO_MEMORY.incrementAndGet();
            }
        }
    }

    private record Start(Consumer<Runnable> how, User user) {
    }

    static void loop(Consumer<Runnable> how, Step step) {
        loop(how, step, () -> { });
    }

    /** @param last done once, when there is memory again */
    private static void loop(Consumer<Runnable> how, Step step, Runnable last) {
        CountDownLatch living = new CountDownLatch(1);
        LIVING.add(living);
        STARTS.add(new Start(how, new User(step, last, living)));
    }

    /** Without an object of its own: the heap may be full. */
    private static void surely(Start start) {
        for (;;) {
            try {
                start.how.accept(start.user);
                return;
            } catch (OutOfMemoryError e) {
                long _ = NO_MEMORY.incrementAndGet();
            }
        }
    }

    static void attempt(Step step) {
        try {
            step.run();
            long _ = DONE.incrementAndGet();
        } catch (OutOfMemoryError e) {
            long _ = NO_MEMORY.incrementAndGet();
        } catch (Throwable e) {
            unexpected(e);
        }
    }

    /** Until it is closed. */
    static void surelyClose(Gmp gmp) {
        for (;;) {
            try {
                gmp.close();
                return;
            } catch (OutOfMemoryError e) {
                long _ = NO_MEMORY.incrementAndGet();
            }
        }
    }

    private static int pingPong(int n) {
        Chan<Integer> there = Chan.make();
        Chan<Integer> back = Chan.make();
        Go.go(() -> {
            for (int i : there) {
                back.send(i + 1);
            }
        });
        int sum = 0;
        for (int i = 0; i < n; i++) {
            there.send(i);
            sum += back.recv() - i;
        }
        there.close();
        return sum;
    }

    private static void users() {
        channels();
        sleepers();
        locks();
        starts();
        FullHeapMore.users();
        loop(body -> Thread.ofPlatform().daemon().start(body), () -> {
            int _ = GMP.setProcs(1 + (int) (System.nanoTime() & 3));
            Thread.sleep(3);
        });
        Runnable yield = Go::gosched;
        loop(body -> Thread.ofPlatform().daemon().start(body), () -> GMP.run(yield));
        user(() -> {
            int _ = Go.gomaxprocs(1 + (int) (System.nanoTime() & 3));
            Go.sleep(Duration.ofMillis(7));
        });
        user(() -> { // Without a point.
            for (long end = System.nanoTime() + 3_000_000; System.nanoTime() < end;) {
                Thread.onSpinWait();
            }
            Go.sleep(Duration.ofMillis(2));
        });
    }

    private static void channels() {
        Chan<Integer> c = Chan.make();
        Chan<Integer> d = Chan.make(4);
        boolean[] over = new boolean[1]; // Of the receiver: it goes on until the sender, wherever that is when all stop, has ended.
        loop(GMP::go, () -> c.send(1), () -> c.send(0));
        loop(GMP::go, () -> {
            int got = c.recv();
            over[0] = got == 0;
            boolean _ = d.trySend(got);
        }, () -> {
            while (!over[0]) {
                over[0] = c.recv() == 0;
            }
        });
        Consumer<Object> ignored = v -> { };
        user(() -> {
            int _ = Select.of().recv(d, ignored).recv(Time.after(Duration.ofMillis(1)), ignored).run();
        });
    }

    private static void sleepers() {
        for (int i = 0; i < 4; i++) {
            user(() -> Go.sleep(Duration.ofNanos(300_000)));
            user(() -> Thread.sleep(1));
        }
        user(() -> Time.after(Duration.ofMillis(1)).recv());
        user(() -> {
            Chan<Integer> fired = Chan.make(1);
            Timer t = Time.afterFunc(Duration.ofMillis(1), new Told(fired));
            fired.recv();
            boolean _ = t.stop();
        });
        Callable<Object> sleeping = () -> {
            Thread.sleep(1);
            return null;
        };
        user(() -> Go.blocking(sleeping));
    }

    private static void locks() {
        Object monitor = new Object();
        ReentrantLock jdk = new ReentrantLock();
        Mutex mutex = new Mutex();
        for (int i = 0; i < 3; i++) {
            user(() -> {
                synchronized (monitor) {
                    monitor.wait(1);
                    monitor.notifyAll();
                }
            });
            user(() -> {
                synchronized (monitor) {
                    Go.gosched();
                }
            });
            user(() -> {
                jdk.lock();
                try {
                    Go.gosched();
                } finally {
                    jdk.unlock();
                }
            });
            user(() -> {
                mutex.lock();
                try {
                    Go.gosched();
                } finally {
                    mutex.unlock();
                }
            });
        }
    }

    private static void starts() {
        Runnable done = DONE::incrementAndGet;
        user(() -> {
            Go.go(done);
            Go.gosched();
        });
        user(() -> {
            Thread t = GMP.threadFactory().newThread(done);
            t.start();
            t.join();
        });
        user(() -> GMP.run(done));
    }
}
