// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.context.Context;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;

/**
 * Waits of all kinds, or of one kind, begin, then the heap is filled to the last byte, and the waits end: each in its way for the first
 * time in the process. Prints the waits that do not end, and the releases of locks that throw. Other wakers may get an OutOfMemoryError.
 * They try again when there is memory.
 */
final class FullHeapFirstProgram {
    private static final long NAP_NANOS = 50_000_000;
    /** Longer than it takes to fill the heap. */
    private static final Duration LIMIT = Duration.ofNanos(20 * NAP_NANOS);
    private static final Duration NEVER = Duration.ofDays(1);
    private static final Integer ONE = 1;
    private static final int LOOKS = 1_000;
    /** So many that some find no memory. */
    private static final int FUNCTIONS = 500;

    private static final List<Wait> ALL = new ArrayList<>();
    private static volatile boolean full;

    private FullHeapFirstProgram() {
    }

    private interface Step {
        void run() throws Exception;
    }

    /** A wait, and the action that ends it; null if a limit of time does, or {@link #full}. */
    private static final class Wait implements Runnable {
        final String name;
        private final Step wait;
        private final Step wake;
        private final boolean unlocks;
        boolean ofGoroutines;
        volatile Thread thread;
        volatile boolean ended;
        private boolean woken;
        Throwable thrown;

        Wait(String name, Step wait, Step wake, boolean unlocks) {
            this.name = name;
            this.wait = wait;
            this.wake = wake;
            this.unlocks = unlocks;
        }

        @Override
        public void run() {
            thread = Thread.currentThread();
            try {
                wait.run();
            } catch (OutOfMemoryError | Exception e) {
                ended = true; // An error that tells the caller is an end, too.
            }
            ended = true;
        }

        void wake() {
            if (wake != null && !woken) {
                try {
                    wake.run();
                    woken = true;
                } catch (OutOfMemoryError e) {
                    thrown = unlocks ? e : null;
                } catch (Exception e) {
                    thrown = e;
                }
            }
        }
    }

    private static void ends(String name, Step wait) {
        ALL.add(new Wait(name, wait, null, false));
    }

    private static void woken(String name, Step wait, Step wake) {
        ALL.add(new Wait(name, wait, wake, false));
    }

    private static void unlocked(String name, Step wait, Step wake) {
        ALL.add(new Wait(name, wait, wake, true));
    }

    /** Makes the waits, and returns their names. */
    static List<String> names() {
        channels();
        locks();
        contexts();
        jdk();
        sleeps();
        return ALL.stream().map(w -> w.name).toList();
    }

    /** @param args whether the waits are goroutines' or threads', and perhaps the name of the only wait */
    public static void main(String[] args) throws Exception {
        Gmp gmp = Gmp.builder().procs(2).build();
        gmp.run(() -> { });
        Thread.startVirtualThread(() -> { }).join(); // The JDK's pool loses a task if there is no memory for the pool's first thread.
        boolean threads = args[0].equals("threads");
        var _ = names();
        ALL.removeIf(w -> threads && w.ofGoroutines || args.length > 1 && !w.name.equals(args[1]));
        for (Wait w : ALL) {
            if (threads) {
                Thread.ofPlatform().daemon().start(w);
            } else {
                gmp.go(w);
            }
        }
        LockSupport.parkNanos(NAP_NANOS); // They wait, more or less.
        Ballast.fill();
        full = true;
        for (int i = 0; i < ALL.size(); i++) { // No iterator: there is no memory for one.
            ALL.get(i).wake();
        }
        for (long passed = System.nanoTime() + LIMIT.toNanos() + NAP_NANOS; System.nanoTime() < passed;) {
            Ballast.fill(); // The waits that have ended leave garbage.
            LockSupport.parkNanos(NAP_NANOS / 10);
        }
        Ballast.drop();
        ALL.forEach(Wait::wake);
        for (int i = 0; i < LOOKS && !ALL.stream().allMatch(w -> w.ended); i++) {
            LockSupport.parkNanos(NAP_NANOS / 5);
        }
        System.out.println("waits on: " + ALL.stream().filter(w -> !w.ended).map(w -> w.name).toList()
                + ", thrown: " + ALL.stream().filter(w -> w.thrown != null).map(w -> w.name + " " + w.thrown).toList());
        System.exit(0);
    }

    private static void channels() {
        Chan<Integer> c = Chan.make();
        woken("receive", c::recv, () -> c.send(ONE));
        Chan<Integer> d = Chan.make();
        woken("send", () -> d.send(ONE), d::recv);
        Chan<Integer> e = Chan.make();
        woken("close", e::recv, e::close);
        LongChan l = LongChan.make();
        woken("long", l::recv, () -> l.send(1));
        Chan<Integer> none = Chan.make();
        ends("receive within", () -> none.recvWithin(LIMIT));
        ends("send within", () -> Chan.<Integer>make().sendWithin(ONE, LIMIT));
        Chan<Integer> f = Chan.make();
        Select receives = Select.of().recv(f, v -> { }).recv(none, v -> { });
        woken("select receives", receives::run, () -> f.send(ONE));
        Chan<Integer> g = Chan.make();
        Select sends = Select.of().send(g, ONE, () -> { }).recv(none, v -> { });
        woken("select sends", sends::run, g::recv);
        Select late = Select.of().recv(none, v -> { }).recv(Chan.make(), v -> { }).timeout(LIMIT, () -> { });
        ends("select within", late::run);
        ends("after", () -> Time.after(LIMIT).recv());
        Chan<Integer> told = Chan.make(FUNCTIONS);
        Runnable tells = () -> told.trySend(ONE);
        ends("functions", () -> {
            for (int i = 0; i < FUNCTIONS; i++) {
                var _ = Time.afterFunc(LIMIT, tells);
            }
            for (int i = 0; i < FUNCTIONS; i++) {
                told.recv();
            }
        });
    }

    private static void locks() {
        Mutex m = new Mutex();
        m.lock();
        unlocked("mutex", () -> {
            m.lock();
            m.unlock();
        }, m::unlock);
        RWMutex written = new RWMutex();
        written.lock();
        unlocked("read lock", written::rLock, written::unlock);
        RWMutex read = new RWMutex();
        read.rLock();
        unlocked("write lock", read::lock, read::rUnlock);
        Semaphore sem = new Semaphore(1);
        sem.acquire(1);
        unlocked("semaphore", () -> sem.acquire(1), () -> sem.release(1));
        WaitGroup wg = new WaitGroup();
        wg.add(1);
        unlocked("group", wg::await, wg::done);
        condition();
        Mutex held = new Mutex();
        held.lock();
        ends("mutex within", () -> held.lockWithin(LIMIT));
        ends("semaphore within", () -> new Semaphore(0).acquireWithin(1, LIMIT));
    }

    private static void condition() {
        Mutex m = new Mutex();
        Cond cond = new Cond(m);
        boolean[] holds = new boolean[1];
        unlocked("condition", () -> {
            m.lock();
            while (!holds[0]) {
                cond.await();
            }
            m.unlock();
        }, () -> {
            m.lock();
            holds[0] = true;
            cond.signal();
            m.unlock();
        });
    }

    private static void contexts() {
        Context ctx = Context.background().withCancel();
        woken("cancel", () -> ctx.done().recv(), ctx::cancel);
        ends("deadline", () -> Context.background().withTimeout(LIMIT).done().recv());
    }

    /** The waits of which only goroutines are capable. */
    private static void sleeps() {
        int others = ALL.size();
        ends("sleep", () -> Go.sleep(LIMIT));
        Context ctx = Context.background().withCancel();
        woken("sleep unless", () -> Go.sleepUnless(ctx, NEVER), ctx::cancel);
        interrupted("sleep interruptibly", () -> Go.sleepInterruptibly(NEVER));
        ends("blocking", () -> Go.blocking(() -> {
            while (!full) {
                LockSupport.parkNanos(NAP_NANOS / 10);
            }
            return full;
        }));
        ALL.subList(others, ALL.size()).forEach(w -> w.ofGoroutines = true);
    }

    private static void interrupted(String name, Step wait) {
        Wait[] of = new Wait[1];
        of[0] = new Wait(name, wait, () -> of[0].thread.interrupt(), false);
        ALL.add(of[0]);
    }

    private static void jdk() {
        ends("park within", () -> LockSupport.parkNanos(LIMIT.toNanos()));
        ends("JDK's sleep", () -> Thread.sleep(LIMIT));
        interrupted("JDK's interrupted sleep", () -> Thread.sleep(NEVER));
        Object monitor = new Object();
        ends("wait within", () -> {
            synchronized (monitor) {
                monitor.wait(LIMIT.toMillis());
            }
        });
        Object notified = new Object();
        woken("wait", () -> {
            synchronized (notified) {
                notified.wait();
            }
        }, () -> {
            synchronized (notified) {
                notified.notifyAll();
            }
        });
        ReentrantLock lock = new ReentrantLock();
        lock.lock();
        unlocked("JDK's lock", () -> {
            lock.lock();
            lock.unlock();
        }, lock::unlock);
        CountDownLatch latch = new CountDownLatch(1);
        woken("latch", latch::await, latch::countDown);
        ends("latch within", () -> new CountDownLatch(1).await(LIMIT.toNanos(), TimeUnit.NANOSECONDS));
        LinkedBlockingQueue<Integer> q = new LinkedBlockingQueue<>();
        woken("queue", q::take, () -> q.put(ONE));
        CompletableFuture<Integer> f = new CompletableFuture<>();
        woken("future", f::get, () -> f.complete(ONE));
    }
}
