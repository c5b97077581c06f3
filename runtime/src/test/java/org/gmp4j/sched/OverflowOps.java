// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.context.Context;
import org.gmp4j.stack.Headroom;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Pool;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

/** Operations that {@link OverflowProgram} does with ever less stack: those that all else is made of. */
final class OverflowOps {
    /** What the JDK's unpark takes before it calls us, and the look there. */
    private static final int OF_UNPARK = 4 << 10;
    static final Duration LONG = Duration.ofHours(1);

    final AtomicReference<Throwable> failed = new AtomicReference<>();
    final Gmp gmp = Gmp.builder().procs(2).maxStack(OverflowProgram.STACK)
            .uncaught((id, t) -> failed.compareAndSet(null, t)).build();
    final Map<String, Runnable> ops = new LinkedHashMap<>();
    /** What others do with the same objects, again and again until the end. */
    final Map<String, Runnable> partners = new LinkedHashMap<>();
    /** What is true at the end of an operation's test; by its name. */
    final Map<String, Runnable> ends = new LinkedHashMap<>();
    /** Those that are done as long as there is any stack at all, and those that HotSpot refuses. */
    final Set<String> neverRefused = new HashSet<>(Set.of("unpark", "point"));
    /** Those that end their goroutine, or leave it work for its end: one for each depth. */
    final Set<String> fresh = new HashSet<>();
    /** Those of goroutines of a bubble. */
    final Set<String> inBubble = new HashSet<>();
    volatile boolean stop;
    /** The partner has ended. */
    volatile boolean ended;
    /** How often the operation was done. */
    int done;
    private volatile boolean closing;
    private final AtomicReference<Thread> parked = new AtomicReference<>();

    void add(boolean goroutine) {
        channels();
        locks();
        others();
        if (goroutine) {
            ofGoroutines();
        }
    }

    void close() {
        closing = true;
        LockSupport.unpark(parked.get());
    }

    private void channels() {
        Chan<Integer> buffered = Chan.make(3);
        ops.put("try", () -> {
            buffered.trySend(1);
            buffered.tryRecv();
        });
        LongChan longs = LongChan.make(3);
        ops.put("tryLong", () -> {
            longs.trySend(1);
            longs.tryRecv();
        });
        Chan<Integer> to = Chan.make();
        AtomicInteger received = new AtomicInteger();
        ops.put("send", () -> to.send(1));
        partners.put("send", () -> {
            if (to.recvWithin(Duration.ofMillis(5)) != null) {
                received.incrementAndGet();
            }
        });
        ends.put("send", () -> {
            while (received.get() < done) {
                Thread.yield();
            }
            if (received.get() > done) {
                throw new AssertionError("sent " + done + ", received " + received);
            }
        });
        Chan<Integer> from = Chan.make();
        ops.put("recv", () -> from.recv());
        partners.put("recv", () -> from.sendWithin(1, Duration.ofMillis(5)));
        Chan<Integer> never = Chan.make();
        ops.put("timed", () -> {
            never.recvWithin(Duration.ofNanos(1000));
            never.sendWithin(1, Duration.ofNanos(1000));
        });
        Chan<Integer> a = Chan.make();
        Chan<Integer> b = Chan.make(1);
        ops.put("select", () -> Select.of().recv(a, v -> { }).send(b, 1, () -> { }).run());
        partners.put("select", () -> {
            a.sendWithin(1, Duration.ofMillis(1));
            b.tryRecv();
        });
        ops.put("selectDefault", () -> Select.of().recv(never, v -> { }).send(never, 1, () -> { }).orElse(() -> { }).run());
        ops.put("close", () -> {
            Chan<Integer> c = Chan.make();
            c.close();
            c.recv();
        });
    }

    private void locks() {
        Mutex m = new Mutex();
        ops.put("mutex", () -> {
            m.lock();
            m.unlock();
        });
        partners.put("mutex", () -> {
            m.lock();
            Go.gosched();
            m.unlock();
        });
        RWMutex rw = new RWMutex();
        ops.put("rwmutex", () -> {
            rw.lock();
            rw.unlock();
            rw.rLock();
            rw.rUnlock();
        });
        partners.put("rwmutex", () -> {
            rw.lock();
            Go.gosched();
            rw.unlock();
            rw.rLock();
            Go.gosched();
            rw.rUnlock();
        });
        Semaphore sem = new Semaphore(2);
        ops.put("semaphore", () -> {
            sem.acquire(2);
            sem.release(2);
        });
        partners.put("semaphore", () -> {
            sem.acquire(1);
            Go.gosched();
            sem.release(1);
        });
        ops.put("waitGroup", () -> {
            WaitGroup g = new WaitGroup();
            g.add(1);
            gmp.go(g::done);
            g.await();
        });
        Mutex cm = new Mutex();
        Cond cond = new Cond(cm);
        ops.put("cond", () -> {
            cond.signal();
            cond.broadcast();
        });
        partners.put("cond", () -> {
            cm.lock();
            cond.await();
            cm.unlock();
        });
        ends.put("cond", () -> {
            while (!ended) { // It may not wait yet.
                cond.broadcast();
                Thread.yield();
            }
        });
        Mutex em = new Mutex();
        Cond each = new Cond(em);
        ops.put("condAwait", () -> {
            em.lock();
            try {
                each.await();
            } finally {
                em.unlock();
            }
        });
        partners.put("condAwait", () -> {
            each.broadcast();
            Go.gosched();
        });
        Pool<Object> pool = new Pool<>(Object::new);
        ops.put("pool", () -> {
            pool.put(pool.get());
            pool.put(new Object());
            pool.get();
        });
        partners.put("pool", () -> pool.put(pool.get()));
    }

    private void others() {
        Timer channel = Time.newTimer(LONG);
        ops.put("timer", () -> {
            channel.reset(LONG);
            channel.stop();
            Time.newTimer(LONG).stop();
        });
        AtomicInteger fired = new AtomicInteger();
        ops.put("afterFunc", () -> {
            Timer t = Time.afterFunc(LONG, fired::incrementAndGet);
            t.reset(Duration.ofNanos(1));
            t.stop();
        });
        ops.put("after", () -> Time.after(Duration.ofNanos(1000)).recv());
        ops.put("go", () -> gmp.go(() -> { }));
        ops.put("run", () -> gmp.run(() -> { }));
        ops.put("context", () -> {
            Context c = Context.background().withCancel();
            c.withTimeout(LONG).done();
            c.cancel();
        });
        ops.put("setProcs", () -> gmp.setProcs(2));
        AtomicInteger woken = new AtomicInteger();
        Thread parker = gmp.threadFactory().newThread(() -> {
            parked.set(Thread.currentThread());
            while (!closing) {
                LockSupport.park();
                woken.incrementAndGet();
            }
        });
        parker.start();
        while (parked.get() == null) {
            Thread.onSpinWait();
        }
        ops.put("unpark", () -> {
            if (Headroom.left() < OF_UNPARK) {
                return; // The JDK's own frames may overflow, when the thread has its permit and was not submitted yet.
            }
            int before = woken.get();
            LockSupport.unpark(parked.get());
            while (woken.get() == before) { // The JDK has made it runnable: now it must run.
                Thread.onSpinWait();
            }
        });
    }

    private void ofGoroutines() {
        ops.put("gosched", Go::gosched);
        ops.put("sleep", () -> Go.sleep(Duration.ofNanos(1000)));
        ops.put("lockOSThread", () -> {
            Go.lockOSThread();
            Go.unlockOSThread();
        });
        ops.put("blocking", () -> {
            try {
                Object _ = Go.blocking(() -> 1);
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
        ops.put("point", Go::preemptPoint);
    }
}
