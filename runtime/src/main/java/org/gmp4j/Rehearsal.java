package org.gmp4j;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.context.Context;
import org.gmp4j.netpoll.Netpoller;
import org.gmp4j.proc.Config;
import org.gmp4j.proc.DebugVars;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Waiting;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.gmp4j.timer.TimerHeaps;

/**
 * What goroutines do, done once before the first of the user's runs, on a scheduler of its own that is closed again: wait
 * and be woken on whatever there is, run over their time, end. The first use of a class, of a {@code VarHandle} at a place,
 * of a method handle takes memory and stack, and may fail for want of them. It would fail between two steps of a protocol,
 * with a lock held, on an M or in the middle of a user's call; a class whose initialiser failed fails for ever. So all of
 * it is used while there is memory; what goroutines do not get to is in {@code proc.Warm}.
 */
final class Rehearsal {
    private static final long MAX_STACK = 1 << 20;
    private static final long QUANTUM_NANOS = 200_000;
    private static final Duration SOON = Duration.ofNanos(20_000);
    private static boolean done;

    private Rehearsal() {
    }

    /** Does it, if it was not done in this process. May be tried again when there was no memory. */
    static synchronized void once() throws InterruptedException {
        if (done) {
            return;
        }
        Scheduler s = Scheduler.rehearsal(new Config(1, null, List.of(), 0, QUANTUM_NANOS, Integer.MAX_VALUE, -1, MAX_STACK,
                (goid, t) -> { }, false, false, DebugVars.parse("")), new TimerHeaps(), new Netpoller());
        try {
            Gmp gmp = new Gmp(s);
            gmp.run(Rehearsal::switches);
            gmp.run(() -> goroutines(gmp));
            int unused = gmp.setProcs(2);
            Chan<Integer> c = Chan.make();
            gmp.go(() -> c.send(1));
            unused = c.recv();
            gmp.go(() -> c.send(c.recv()));
            c.send(1);
            unused = c.recv();
            gmp.go(() -> c.send(1));
            unused = Select.of().recv(c, v -> { }).recv(Chan.make(), v -> { }).run();
            Thread t = gmp.threadFactory().newThread(LockSupport::park);
            t.start();
            LockSupport.unpark(t);
            t.join();
        } finally {
            boolean unused = s.close(-1);
        }
        Waiting.rehearsed();
        done = true;
    }

    /** So often that the JVM makes code of their own for the handles that are called in a switch. */
    private static void switches() {
        for (int i = 0; i <= JdkThreads.CUSTOMIZED_AFTER; i++) {
            Go.gosched();
        }
    }

    private static void goroutines(Gmp gmp) {
        channels();
        selects();
        locks();
        waits();
        jdk();
        long end = System.nanoTime() + 2 * QUANTUM_NANOS;
        Go.go(() -> { });
        while (System.nanoTime() < end) {
            Thread.onSpinWait(); // Sysmon takes the P, or the next call of the runtime gives it up.
        }
        int unused = Go.gomaxprocs(1);
    }

    private static void channels() {
        Chan<Integer> c = Chan.make();
        Chan<Integer> d = Chan.make(1);
        Go.go(() -> {
            c.send(1);
            c.send(2);
            d.close();
        });
        int sum = c.recv() + c.recv(); // One waits for the sender, one finds it waiting.
        d.recv();
        boolean unused = c.trySend(1);
        Chan<Integer> e = Chan.make(1);
        e.send(sum);
        unused = e.trySend(sum);
        sum = e.recv();
        unused = e.sendWithin(1, SOON) && e.sendWithin(2, SOON);
        Object none = c.recvOkWithin(SOON);
    }

    private static void selects() {
        Chan<Integer> c = Chan.make();
        Chan<Integer> d = Chan.make();
        Go.go(() -> c.send(1));
        int unused = Select.of().recv(c, v -> { }).recv(d, v -> { }).run();
        Go.go(() -> {
            int got = d.recv();
        });
        unused = Select.of().recv(c, v -> { }).send(d, 1, () -> { }).run();
        unused = Select.of().recv(c, v -> { }).recv(d, v -> { }).orElse(() -> { }).run();
        unused = Select.of().recv(c, v -> { }).recv(Time.after(SOON), v -> { }).run();
    }

    private static void locks() {
        Mutex m = new Mutex();
        RWMutex rw = new RWMutex();
        Semaphore sem = new Semaphore(1);
        Cond cond = new Cond(m);
        WaitGroup all = new WaitGroup();
        boolean[] waits = new boolean[1];
        boolean[] mayGo = new boolean[1];
        m.lock();
        rw.lock();
        sem.acquire(1);
        all.go(() -> {
            m.lock();
            waits[0] = true;
            while (!mayGo[0]) {
                cond.await();
            }
            m.unlock();
        });
        all.go(() -> {
            rw.rLock();
            rw.rUnlock();
            rw.lock();
            rw.unlock();
        });
        all.go(() -> {
            sem.acquire(1);
            sem.release(1);
        });
        Go.gosched();
        m.unlock();
        rw.unlock();
        sem.release(1);
        while (!mayGo[0]) { // It may have lost its P before it came to wait.
            Go.gosched();
            m.lock();
            mayGo[0] = waits[0];
            m.unlock();
        }
        cond.signal();
        cond.broadcast();
        all.await();
    }

    private static void waits() {
        Go.sleep(SOON);
        Chan<Integer> fired = Chan.make(1);
        Timer t = Time.afterFunc(SOON, () -> fired.send(1));
        fired.recv();
        boolean unused = t.reset(Duration.ofSeconds(1)) | t.stop();
        Context ctx = Context.background().withCancel();
        Go.go(ctx::cancel);
        ctx.done().recv();
    }

    private static void jdk() {
        Object monitor = new Object();
        CountDownLatch latch = new CountDownLatch(1);
        Go.go(() -> {
            synchronized (monitor) {
                monitor.notifyAll();
            }
            latch.countDown();
        });
        try {
            synchronized (monitor) {
                monitor.wait(1);
            }
            latch.await();
            Thread.sleep(SOON);
            Object unused = Go.blocking(() -> null);
        } catch (Exception e) {
            throw new IllegalStateException(e); // Nobody knows this goroutine, to interrupt it.
        }
    }
}
