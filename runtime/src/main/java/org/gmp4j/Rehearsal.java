package org.gmp4j;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.context.Context;
import org.gmp4j.netpoll.Netpoller;
import org.gmp4j.proc.Config;
import org.gmp4j.proc.DebugVars;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Waiting;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Pool;
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
    /** What is left of one that failed gets so long to end; after that its threads stay. */
    private static final long END_NANOS = 1_000_000_000;
    private static final int MOST_ENDS = 16;
    /** What of the heap it takes, and half as much again. In pieces: no collector has them in a place of their own. */
    private static final int ROOM_PIECES = 32;
    private static final int PIECE = 64 << 10;
    private static boolean done;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    /** What ends the waits for one that has failed; in an array, for there may be no memory for an iterator. */
    private final AtomicReferenceArray<Runnable> ends = new AtomicReferenceArray<>(MOST_ENDS);
    private final AtomicInteger endCount = new AtomicInteger();
    private boolean interrupted = Thread.interrupted();

    private Rehearsal() {
    }

    /**
     * Does it, if it was not done in this process. An interrupt waits until it is over: half of one would leave a scheduler.
     * If somebody who takes part has too little memory or stack, nobody waits for him, and that is thrown; it may be tried
     * again.
     *
     * @param program whether it is fatal when the system gives no thread
     */
    static synchronized void once(boolean program) {
        if (!done) {
            GStack.checkAll();
            int unused = room();
            Rehearsal r = new Rehearsal();
            try {
                r.run(program);
                done = true;
            } finally {
                if (r.interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** An M for which there is no memory in here may be the end of the process; so it is refused before it begins. */
    private static int room() {
        return new byte[ROOM_PIECES][PIECE].length;
    }

    private void run(boolean program) {
        Scheduler s = Scheduler.rehearsal(new Config(1, null, List.of(), 0, QUANTUM_NANOS, Integer.MAX_VALUE, -1, MAX_STACK,
                this::failed, false, program, DebugVars.parse("")), new TimerHeaps(), new Netpoller());
        try {
            all(new Gmp(s));
        } catch (Throwable t) { // Maybe of a wait that ended because another has failed.
            failed(0, t);
        }
        Throwable failed = failure.get();
        uninterrupted(() -> s.close(failed == null ? -1 : END_NANOS));
        if (failed != null) {
            throw Go.<RuntimeException>sneaky(failed);
        }
        Waiting.rehearsed();
    }

    private void all(Gmp gmp) {
        gmp.run(Rehearsal::switches);
        CountDownLatch over = new CountDownLatch(1);
        endsBy(over::countDown);
        gmp.go(() -> {
            goroutines();
            over.countDown();
        });
        uninterrupted(() -> {
            over.await();
            return true;
        });
        int unused = gmp.setProcs(2);
        Chan<Integer> c = chan(0);
        gmp.go(() -> c.send(1));
        Object got = c.recv();
        gmp.go(() -> c.send(c.recv()));
        c.send(1);
        got = c.recv();
        gmp.go(() -> c.send(1));
        unused = Select.of().recv(c, v -> { }).recv(Chan.make(), v -> { }).run();
        Thread t = gmp.threadFactory().newThread(LockSupport::park);
        t.start();
        LockSupport.unpark(t);
        join(t);
        for (int i = 0; i <= JdkThreads.CUSTOMIZED_AFTER; i++) { // As often as switches: a new stack begins, and ends.
            Thread one = gmp.threadFactory().newThread(() -> { });
            one.start();
            join(one);
        }
    }

    private void join(Thread t) {
        uninterrupted(() -> {
            t.join();
            return true;
        });
    }

    /** Something that an interrupt may end, until it has ended by itself. */
    private interface Wait {
        boolean end() throws InterruptedException;
    }

    private void uninterrupted(Wait w) {
        for (;;) {
            interrupted |= Thread.interrupted();
            try {
                boolean unused = w.end();
                return;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    /** Told of whoever has ended too soon: what he would have done will not come. */
    private void failed(long goid, Throwable t) {
        boolean unused = failure.compareAndSet(null, t);
        for (int i = 0; i < MOST_ENDS && ends.get(i) != null; i++) {
            try {
                ends.get(i).run();
            } catch (Throwable e) {
                continue; // Closed already; and if not, the others all the same.
            }
        }
    }

    /** From whoever is about to wait for others. */
    private void endsBy(Runnable end) {
        ends.set(endCount.getAndIncrement(), end);
    }

    private Chan<Integer> chan(int size) {
        Chan<Integer> c = Chan.make(size);
        endsBy(c::close);
        return c;
    }

    /** So often that the JVM makes code of their own for the handles that are called in a switch. */
    private static void switches() {
        for (int i = 0; i <= JdkThreads.CUSTOMIZED_AFTER; i++) {
            Go.gosched();
            long unused = JdkThreads.frozen(GStack.current()); // As the M does, now and then.
        }
    }

    private void goroutines() {
        channels();
        longs();
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

    private void longs() {
        LongChan c = LongChan.make();
        endsBy(c::close);
        LongBlock.rehearsed();
        Go.go(() -> c.send(1));
        long sum = c.recv();
        Go.go(() -> c.send(1));
        int unused = Select.of().recvLong(c, v -> { }).recv(Chan.make(), v -> { }).run();
        c.close();
    }

    private void channels() {
        Chan<Integer> c = chan(0);
        Chan<Integer> d = chan(1);
        Go.go(() -> {
            c.send(1);
            c.send(2);
            d.close();
        });
        int sum = c.recv() + c.recv(); // One waits for the sender, one finds it waiting.
        d.recv();
        boolean unused = c.trySend(1);
        Chan<Integer> e = chan(1);
        e.send(sum);
        unused = e.trySend(sum);
        sum = e.recv();
        unused = e.sendWithin(1, SOON) && e.sendWithin(2, SOON);
        Object none = c.recvOkWithin(SOON);
    }

    private void selects() {
        Chan<Integer> c = chan(0);
        Chan<Integer> d = chan(0);
        Go.go(() -> c.send(1));
        int unused = Select.of().recv(c, v -> { }).recv(d, v -> { }).run();
        Go.go(() -> {
            int got = d.recv();
        });
        unused = Select.of().recv(c, v -> { }).send(d, 1, () -> { }).run();
        unused = Select.of().recv(c, v -> { }).recv(d, v -> { }).orElse(() -> { }).run();
        unused = Select.of().recv(c, v -> { }).recv(Time.after(SOON), v -> { }).run();
    }

    private void locks() {
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
        try {
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
        } catch (Throwable t) {
            failed(0, t);
            throw t;
        } finally {
            m.unlock();
            rw.unlock();
            sem.release(1);
            for (boolean go = false; !go;) { // It may have lost its P before it came to wait.
                Go.gosched();
                m.lock();
                go = waits[0] || failure.get() != null;
                mayGo[0] = go;
                m.unlock();
            }
            cond.signal();
            cond.broadcast();
        }
        all.await();
        Pool<Object> pool = new Pool<>(Object::new);
        pool.put(pool.get());
    }

    private void waits() {
        Go.sleep(SOON);
        Chan<Integer> fired = chan(1);
        Timer t = Time.afterFunc(SOON, () -> fired.send(1));
        fired.recv();
        boolean unused = t.reset(Duration.ofSeconds(1)) | t.stop();
        Context ctx = Context.background().withCancel();
        endsBy(ctx::cancel);
        Go.go(ctx::cancel);
        ctx.done().recv();
    }

    private void jdk() {
        Object monitor = new Object();
        CountDownLatch latch = new CountDownLatch(1);
        endsBy(latch::countDown);
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
