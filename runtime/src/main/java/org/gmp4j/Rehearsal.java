// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

import org.gmp4j.affinity.StealOrder;
import org.gmp4j.boot.FirstThreads;
import org.gmp4j.boot.Warm;
import org.gmp4j.config.Config;
import org.gmp4j.config.DebugVars;
import org.gmp4j.config.Placement;
import org.gmp4j.context.Context;
import org.gmp4j.context.ContextException;
import org.gmp4j.netpoll.Netpoller;
import org.gmp4j.report.Report;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Outside;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.life.Closing;
import org.gmp4j.sched.life.Schedinit;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Pool;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.sysmon.Sysmon;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;
import org.gmp4j.timer.TimerHeaps;
import org.jspecify.annotations.Nullable;

/**
 * Runs the operations of goroutines once, before the user's first goroutine, on a temporary scheduler. Its goroutines wait and are woken in
 * all ways, exceed their quantum, and end. The first use of a class, of a {@code VarHandle} at a call site or of a method handle takes
 * memory and stack, and may fail for lack of them. In a running scheduler a first use could fail between two steps of a protocol, with a
 * lock held, on an M or in the middle of a user's call. A class whose initialiser has failed stays unusable for ever. So each class, {@code
 * VarHandle} and method handle is used here, while there is memory. {@code boot.Warm} uses the code that goroutines do not reach.
 */
final class Rehearsal {
    private static final long MAX_STACK = 1 << 20;
    private static final long QUANTUM_NANOS = 200_000;
    private static final Duration SOON = Duration.ofNanos(20_000);
    /** A failed rehearsal waits for its other parts to end for at most this time, ns. Threads that need longer are left behind. */
    private static final long END_NANOS = 1_000_000_000;
    private static final int MOST_ENDS = 16;
    /**
     * {@link #room} allocates this many arrays of {@link #PIECE} bytes: in sum one and a half times the heap memory that a rehearsal needs.
     * No collector treats such an array as a large object.
     */
    private static final int ROOM_PIECES = 32;
    private static final int PIECE = 64 << 10;
    /** Whether the parts that virtual threads use were rehearsed. The class's monitor guards this field and the next. */
    private static boolean ofThreads;
    /** Whether the other parts were rehearsed, too. */
    private static boolean done;

    private final boolean api;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    /** The actions that end the waits for a part that has failed. It is an array, because there may be no memory for an iterator. */
    private final AtomicReferenceArray<Runnable> ends = new AtomicReferenceArray<>(MOST_ENDS);
    private final AtomicInteger endCount = new AtomicInteger();
    private boolean interrupted = Thread.interrupted();
    private final Act nothing = new Act(this, Act.NOTHING, this, 0);

    private Rehearsal(boolean api) {
        this.api = api;
    }

    /**
     * Rehearses, unless this process has done that. An interrupt is deferred until the end, because a rehearsal that stopped half-way would
     * leave its scheduler behind. If a thread that takes part has too little memory or stack, the other threads do not wait for it, and its
     * error is thrown. The caller may try again.
     *
     * @param program whether this is program mode, in which the process ends if the system refuses a thread; in other modes a rehearsal
     *     first checks that the system has enough threads
     * @param api whether the program calls the runtime itself; if only its virtual threads use it, fewer classes are loaded
     */
    static synchronized void once(boolean program, boolean api) {
        if (!done && (api || !ofThreads)) {
            GStack.checkAll();
            int _ = room();
            if (!program) {
                FirstThreads.check();
            }
            Rehearsal r = new Rehearsal(api);
            try {
                r.run(program);
                ofThreads = true;
                done = api;
            } finally {
                if (r.interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** Throws an OutOfMemoryError if there is little memory. A rehearsal that lacks memory for an M might end the process. */
    private static int room() {
        return new byte[ROOM_PIECES][PIECE].length;
    }

    private void run(boolean program) {
        Report.ALL.prepare();
        Warm.once();
        Config config = new Config(1, null, Placement.NONE, StealOrder.UNIFORM, false, 0, QUANTUM_NANOS, QUANTUM_NANOS, Integer.MAX_VALUE,
                -1, MAX_STACK, new Failures(this), false, program, 0, DebugVars.parse(""));
        Scheduler s = Schedinit.schedinit("gmp-rehearsal", config, new TimerHeaps(), new Netpoller(), Sysmon.MAKER, Report.ALL);
        try {
            all(new Gmp(s, null));
        } catch (Throwable t) { // If another part has failed before, its exception stays in the field failure, and this one is dropped.
            failed(t);
        }
        Throwable failed = failure.get();
        uninterrupted(new Act(this, Act.CLOSE, s, failed == null ? -1 : END_NANOS));
        if (failed != null) {
            throw Go.<RuntimeException>sneaky(failed);
        }
        Outside.rehearsed();
    }

    private void all(Gmp gmp) {
        if (!ofThreads) {
            Sysmon.rehearse();
        }
        gmp.run(new Act(this, Act.SWITCHES, this, 0));
        CountDownLatch over = new CountDownLatch(1);
        endsBy(new Act(this, Act.COUNT_DOWN, over, 0));
        gmp.go(new Act(this, Act.GOROUTINES, over, 0));
        uninterrupted(new Act(this, Act.AWAIT, over, 0));
        int _ = gmp.setProcs(2);
        if (api) {
            outside(gmp);
        }
        Thread t = gmp.threadFactory().newThread(new Act(this, Act.PARK, this, 0));
        t.start();
        LockSupport.unpark(t);
        uninterrupted(new Act(this, Act.JOIN, t, 0));
    }

    /** Waits on the calling thread, which is no goroutine. */
    private void outside(Gmp gmp) {
        Chan<Integer> c = chan(0);
        Act send = new Act(this, Act.SEND, c, 1);
        gmp.go(send);
        Object got = c.recv();
        gmp.go(new Act(this, Act.PASS_ON, c, 0));
        c.send(1);
        got = c.recv();
        gmp.go(send);
        var _ = Select.of().recv(c, nothing).recv(Chan.make(), nothing).run();
    }

    /** Repeats {@code wait} until it ends without an interrupt. */
    private void uninterrupted(Act wait) {
        for (;;) {
            interrupted |= Thread.interrupted();
            try {
                wait.end();
                return;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
    }

    /** Records the exception with which a part has failed, and ends the waits of other parts for that part. Keeps the first exception. */
    private void failed(Throwable t) {
        boolean _ = failure.compareAndSet(null, t);
        for (int i = 0; i < MOST_ENDS && ends.get(i) != null; i++) {
            try {
                ends.get(i).run();
            } catch (Throwable e) {
                continue; // The object may be closed already. The other actions run in any case.
            }
        }
    }

    /** Adds an action that ends a wait. Called by a part that is about to wait for other parts. */
    private void endsBy(Runnable end) {
        ends.set(endCount.getAndIncrement(), end);
    }

    private Chan<Integer> chan(int size) {
        Chan<Integer> c = Chan.make(size);
        endsBy(new Act(this, Act.CLOSE_CHAN, c, 0));
        return c;
    }

    private static void switches() {
        Go.gosched();
        long _ = JdkThreads.frozen(GStack.mine()); // Prepares a call that Ms make now and then.
    }

    private void goroutines() {
        if (api) {
            channels();
            longs();
            selects();
            locks();
            waits();
            endings();
        }
        jdk();
        long end = System.nanoTime() + 2 * QUANTUM_NANOS;
        Go.go(nothing);
        while (System.nanoTime() < end) {
            Thread.onSpinWait(); // Sysmon retakes the P, or the next call of the runtime yields.
        }
        int _ = Go.gomaxprocs(1);
    }

    private void longs() {
        LongChan c = LongChan.make();
        endsBy(new Act(this, Act.CLOSE_LONGS, c, 0));
        LongBlock.rehearsed();
        Act send = new Act(this, Act.SEND_LONG, c, 1);
        Go.go(send);
        long sum = c.recv();
        Go.go(send);
        int _ = Select.of().recvLong(c, new Ignored()).recv(Chan.make(), nothing).run();
        c.close();
    }

    @SuppressWarnings("NullAway") // Each receive here gets an element.
    private void channels() {
        Chan<Integer> c = chan(0);
        Chan<Integer> d = chan(1);
        Go.go(new Act(this, Act.SEND_TWICE, new Chan<?>[] {c, d}, 1));
        int sum = c.recv() + c.recv(); // One receive waits for the sender, the other finds a waiting sender.
        d.recv();
        boolean _ = c.trySend(1);
        Chan<Integer> e = chan(1);
        e.send(sum);
        var _ = e.trySend(sum);
        sum = e.recv();
        var _ = e.sendWithin(1, SOON) && e.sendWithin(2, SOON);
        Object none = c.recvOkWithin(SOON);
    }

    private void selects() {
        Chan<Integer> c = chan(0);
        Chan<Integer> d = chan(0);
        Go.go(new Act(this, Act.SEND, c, 1));
        int _ = Select.of().recv(c, nothing).recv(d, nothing).run();
        Go.go(new Act(this, Act.RECEIVE, d, 0));
        var _ = Select.of().recv(c, nothing).send(d, 1, nothing).run();
        var _ = Select.of().recv(c, nothing).recv(d, nothing).orElse(nothing).run();
        var _ = Select.of().recv(c, nothing).recv(Time.after(SOON), nothing).run();
    }

    private void locks() {
        Mutex m = new Mutex();
        RWMutex rw = new RWMutex();
        Semaphore sem = new Semaphore(1);
        Cond cond = new Cond(m);
        WaitGroup all = new WaitGroup();
        Waiter waiter = new Waiter(m, cond);
        m.lock();
        rw.lock();
        sem.acquire(1);
        try {
            all.go(waiter);
            all.go(new Act(this, Act.READ_AND_WRITE, rw, 0));
            all.go(new Act(this, Act.ACQUIRE, sem, 1));
            Go.gosched();
        } catch (Throwable t) {
            failed(t);
            throw t;
        } finally {
            m.unlock();
            rw.unlock();
            sem.release(1);
            for (boolean go = false; !go;) { // The waiter may have lost its P before it waited.
                Go.gosched();
                m.lock();
                go = waiter.waits || failure.get() != null;
                waiter.mayGo = go;
                m.unlock();
            }
            cond.signal();
            cond.broadcast();
        }
        all.await();
        Pool<Object> pool = new Pool<>(nothing);
        Object x = pool.get();
        pool.put(x == null ? this : x);
    }

    @SuppressWarnings("NullAway") // Each receive here gets an element.
    private void waits() {
        Go.sleep(SOON);
        Chan<Integer> fired = chan(1);
        Timer t = Time.afterFunc(SOON, new Act(this, Act.SEND, fired, 1));
        fired.recv();
        boolean _ = t.reset(Duration.ofSeconds(1)) | t.stop();
        Context ctx = Context.background().withCancel();
        Act cancel = new Act(this, Act.CANCEL, ctx, 0);
        endsBy(cancel);
        Go.go(cancel);
        ctx.done().recv();
    }

    /** Does waits that a limit of time or a context ends, and one that an interrupt might end. */
    private void endings() {
        Mutex m = new Mutex();
        RWMutex rw = new RWMutex();
        Semaphore sem = new Semaphore(0);
        Cond cond = new Cond(m);
        WaitGroup wg = new WaitGroup();
        m.lock();
        rw.lock();
        wg.add(1);
        boolean _ = m.lockWithin(SOON) || rw.rLockWithin(SOON) || sem.acquireWithin(1, SOON) || cond.awaitWithin(SOON)
                || wg.awaitWithin(SOON);
        int none = Select.of().recv(chan(0), nothing).recv(chan(0), nothing).timeout(SOON, nothing).run();
        try {
            Go.sleepInterruptibly(SOON);
            Go.sleepUnless(Context.background().withTimeout(SOON), Duration.ofSeconds(1));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e); // No other thread has a reference to this goroutine, so none can interrupt it.
        } catch (ContextException e) {
            return;
        }
    }

    private void jdk() {
        Object monitor = new Object();
        CountDownLatch latch = new CountDownLatch(1);
        endsBy(new Act(this, Act.COUNT_DOWN, latch, 0));
        Go.go(new Act(this, Act.NOTIFY, new Object[] {monitor, latch}, 0));
        try {
            synchronized (monitor) {
                monitor.wait(1);
            }
            latch.await();
            Thread.sleep(SOON);
            Object _ = Go.blocking(nothing);
        } catch (Exception e) {
            throw new IllegalStateException(e); // No other thread has a reference to this goroutine, so none can interrupt it.
        }
    }

    /** Gets each exception that ended a goroutine. */
    private record Failures(Rehearsal of) implements BiConsumer<Long, Throwable> {
        @Override
        public void accept(Long goid, Throwable t) {
            of.failed(t);
        }
    }

    private record Ignored() implements LongConsumer {
        @Override
        public void accept(long v) {
        }
    }

    private static final class Waiter implements Runnable {
        private final Mutex m;
        private final Cond cond;
        /** The mutex guards this field and the next. */
        private boolean waits;
        private boolean mayGo;

        Waiter(Mutex m, Cond cond) {
            this.m = m;
            this.cond = cond;
        }

        @Override
        public void run() {
            m.lock();
            waits = true;
            while (!mayGo) {
                cond.await();
            }
            m.unlock();
        }
    }

    /**
     * The bodies of the goroutines and callbacks of the rehearsal. They are one class, because the JVM would generate a class for each
     * lambda.
     */
    private record Act(Rehearsal of, int kind, Object on, long n) implements Runnable, Callable<Object>, Supplier<Object>,
            Consumer<Object> {
        static final int NOTHING = 0;
        static final int SWITCHES = 1;
        static final int GOROUTINES = 2;
        static final int COUNT_DOWN = 3;
        static final int AWAIT = 4;
        static final int JOIN = 5;
        static final int CLOSE = 6;
        static final int PARK = 7;
        static final int SEND = 8;
        static final int SEND_TWICE = 9;
        static final int RECEIVE = 10;
        static final int PASS_ON = 11;
        static final int CLOSE_CHAN = 12;
        static final int SEND_LONG = 13;
        static final int CLOSE_LONGS = 14;
        static final int READ_AND_WRITE = 15;
        static final int ACQUIRE = 16;
        static final int CANCEL = 17;
        static final int NOTIFY = 18;

        @Override
        public void accept(Object v) {
            run();
        }

        @Override
        public @Nullable Object call() {
            run();
            return null;
        }

        @Override
        public Object get() {
            return new Object();
        }

        /** Waits for the end of the object {@link #on}. */
        void end() throws InterruptedException {
            switch (kind) {
                case AWAIT -> ((CountDownLatch) on).await();
                case JOIN -> ((Thread) on).join();
                default -> {
                    boolean _ = Closing.close((Scheduler) on, n);
                }
            }
        }

        @SuppressWarnings("unchecked")
        private Chan<Integer> chan() {
            return (Chan<Integer>) on;
        }

        @Override
        @SuppressWarnings("NullAway") // Each receive here gets an element.
        public void run() {
            switch (kind) {
                case NOTHING -> { }
                case SWITCHES -> switches();
                case GOROUTINES -> {
                    of.goroutines();
                    ((CountDownLatch) on).countDown();
                }
                case COUNT_DOWN -> ((CountDownLatch) on).countDown();
                case PARK -> LockSupport.park();
                case SEND -> chan().send((int) n);
                case SEND_TWICE -> sendTwice((Chan<?>[]) on);
                case RECEIVE -> {
                    int got = chan().recv();
                }
                case PASS_ON -> chan().send(chan().recv());
                case CLOSE_CHAN -> chan().close();
                case SEND_LONG -> ((LongChan) on).send(n);
                case CLOSE_LONGS -> ((LongChan) on).close();
                case READ_AND_WRITE -> readAndWrite((RWMutex) on);
                case ACQUIRE -> {
                    ((Semaphore) on).acquire(n);
                    ((Semaphore) on).release(n);
                }
                case CANCEL -> ((Context) on).cancel();
                case NOTIFY -> notify((Object[]) on);
                default -> throw new AssertionError(kind);
            }
        }

        @SuppressWarnings("unchecked")
        private void sendTwice(Chan<?>[] both) {
            Chan<Integer> c = (Chan<Integer>) both[0];
            c.send(1);
            c.send(2);
            both[1].close();
        }

        private static void readAndWrite(RWMutex rw) {
            rw.rLock();
            rw.rUnlock();
            rw.lock();
            rw.unlock();
        }

        private static void notify(Object[] monitorAndLatch) {
            synchronized (monitorAndLatch[0]) {
                monitorAndLatch[0].notifyAll();
            }
            ((CountDownLatch) monitorAndLatch[1]).countDown();
        }
    }
}
