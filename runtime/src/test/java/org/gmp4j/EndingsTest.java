// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.context.Context;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.gmp4j.testing.Threads;
import org.junit.jupiter.api.Test;

/** All waits, of all kinds of threads, ended in all ways: by what they wait for, an interrupt, a context, a limit of time. */
class EndingsTest {
    private static final Duration SOON = Duration.ofMillis(2);
    private static final Duration LONG = Duration.ofHours(1);

    /** A wait in one of its forms. */
    private interface Form {
        /** Waits. False when the time was up. */
        boolean await() throws Exception;
    }

    /** Something to wait for, fresh, and its forms; null for one that there is not. */
    private record Wait(String name, Form plain, Form interruptibly, java.util.function.Function<Context, Form> unless,
            java.util.function.Function<Duration, Form> within, boolean plainEndsByInterrupt, Runnable comes) {
    }

    private static Form always(Threads.Body body) {
        return () -> {
            try {
                body.run();
                return true;
            } catch (Exception | Error e) {
                throw e;
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
        };
    }

    private static List<Wait> waits() {
        List<Wait> all = new ArrayList<>();
        Chan<Integer> r = Chan.make();
        all.add(new Wait("recv", always(r::recv), always(r::recvInterruptibly), x -> always(() -> r.recvUnless(x)),
                d -> () -> r.recvOkWithin(d) != null, true, r::close));
        Chan<Integer> s = Chan.make();
        all.add(new Wait("send", always(() -> s.send(1)), always(() -> s.sendInterruptibly(1)),
                x -> always(() -> s.sendUnless(x, 1)), d -> () -> s.sendWithin(1, d), true, s::recv));
        LongChan lr = LongChan.make();
        all.add(new Wait("recv long", always(lr::recv), always(lr::recvInterruptibly), x -> always(() -> lr.recvUnless(x)),
                d -> () -> lr.recvOkWithin(d) != null, true, lr::close));
        LongChan ls = LongChan.make();
        all.add(new Wait("send long", always(() -> ls.send(1)), always(() -> ls.sendInterruptibly(1)),
                x -> always(() -> ls.sendUnless(x, 1)), d -> () -> ls.sendWithin(1, d), true, ls::recv));
        Chan<Integer> a = Chan.make();
        Chan<Integer> b = Chan.make();
        all.add(new Wait("select", always(() -> both(a, b).run()), always(() -> both(a, b).runInterruptibly()),
                x -> always(() -> both(a, b).runUnless(x)), d -> () -> both(a, b).timeout(d, () -> { }).run() != Select.TIMEOUT, true,
                b::recv));
        Chan<Integer> one = Chan.make();
        all.add(new Wait("select one", always(() -> Select.of().recv(one, v -> { }).run()),
                always(() -> Select.of().recv(one, v -> { }).runInterruptibly()),
                x -> always(() -> Select.of().recv(one, v -> { }).runUnless(x)),
                d -> () -> Select.of().recv(one, v -> { }).timeout(d, () -> { }).run() != Select.TIMEOUT, true, one::close));
        all.add(new Wait("select none", always(() -> Select.of().run()), always(() -> Select.of().runInterruptibly()),
                x -> always(() -> Select.of().runUnless(x)), d -> () -> Select.of().timeout(d, () -> { }).run() != Select.TIMEOUT, true, null));
        Mutex m = new Mutex();
        m.lock();
        all.add(new Wait("mutex", always(m::lock), always(m::lockInterruptibly), x -> always(() -> m.lockUnless(x)),
                d -> () -> m.lockWithin(d), false, m::unlock));
        RWMutex w = new RWMutex();
        w.lock();
        all.add(new Wait("reader", always(w::rLock), always(w::rLockInterruptibly), x -> always(() -> w.rLockUnless(x)),
                d -> () -> w.rLockWithin(d), false, w::unlock));
        RWMutex v = new RWMutex();
        v.rLock();
        all.add(new Wait("writer", always(v::lock), always(v::lockInterruptibly), x -> always(() -> v.lockUnless(x)),
                d -> () -> v.lockWithin(d), false, v::rUnlock));
        WaitGroup wg = new WaitGroup();
        wg.add(1);
        all.add(new Wait("wait group", always(wg::await), always(wg::awaitInterruptibly), x -> always(() -> wg.awaitUnless(x)),
                d -> () -> wg.awaitWithin(d), true, wg::done));
        Semaphore sem = new Semaphore(1);
        sem.acquire(1);
        all.add(new Wait("semaphore", always(() -> sem.acquire(1)), always(() -> sem.acquireInterruptibly(1)),
                x -> always(() -> sem.acquire(x, 1)), d -> () -> sem.acquireWithin(1, d), true, () -> sem.release(1)));
        Mutex cm = new Mutex();
        Cond c = new Cond(cm);
        boolean[] come = new boolean[1];
        all.add(new Wait("cond", locked(cm, come, always(c::await)), locked(cm, come, always(c::awaitInterruptibly)),
                x -> locked(cm, come, always(() -> c.awaitUnless(x))), d -> locked(cm, come, () -> c.awaitWithin(d)), true, () -> {
                    cm.withLock(() -> come[0] = true);
                    c.signal();
                }));
        return all;
    }

    private static Select both(Chan<Integer> a, Chan<Integer> b) {
        return Select.of().recv(a, x -> { }).send(b, 1, () -> { });
    }

    /** The mutex is held afterwards, however the wait ends. */
    private static Form locked(Mutex m, boolean[] come, Form wait) {
        return () -> {
            m.lock();
            try {
                while (!come[0]) {
                    if (!wait.await()) {
                        return false;
                    }
                }
                return true;
            } finally {
                m.unlock();
            }
        };
    }

    /** Runs what may throw on one kind of thread, and gives it to who looks: the thread, and what it said. */
    private record Kind(String name, boolean identity, java.util.function.Function<Runnable, Thread> start) {
    }

    private static List<Kind> kinds(TestGmp gmp) {
        return List.of(new Kind("goroutine", false, task -> {
            AtomicReference<Thread> me = new AtomicReference<>();
            gmp.go(() -> {
                me.set(Thread.currentThread());
                task.run();
            });
            while (me.get() == null) {
                Thread.onSpinWait();
            }
            return me.get();
        }), new Kind("thread of the scheduler", true, task -> {
            Thread t = gmp.gmp.threadFactory().newThread(task);
            t.start();
            return t;
        }), new Kind("virtual thread", false, Thread::startVirtualThread),
                new Kind("platform thread", false, task -> Thread.ofPlatform().daemon().start(task)));
    }

    private static Object said(Form f) {
        try {
            return f.await() + (Thread.interrupted() ? " interrupted" : "");
        } catch (InterruptedException e) {
            return "InterruptedException" + (Thread.interrupted() ? " interrupted" : "");
        } catch (WaitInterruptedException e) {
            return "WaitInterruptedException" + (Thread.interrupted() ? " interrupted" : "");
        } catch (Exception e) {
            return e;
        }
    }

    private static Object on(Kind k, Form f, java.util.function.Consumer<Thread> meanwhile) throws InterruptedException {
        LinkedBlockingQueue<Object> end = new LinkedBlockingQueue<>();
        Thread t = k.start.apply(() -> end.add(said(f)));
        meanwhile.accept(t);
        return end.take();
    }

    /** Once early, when it may not have begun to wait yet, and once when it does, or most likely. */
    private static void pause(int round) {
        if (round == 1) {
            java.util.concurrent.locks.LockSupport.parkNanos(500_000);
        }
    }

    @Stress
    void everyWaitEnds() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (Kind k : kinds(gmp)) {
                for (int round = 0; round < 2; round++) {
                    for (Wait w : waits()) {
                        ends(k, w, round);
                    }
                }
            }
        }
    }

    private static void ends(Kind k, Wait w, int round) throws InterruptedException {
        String where = w.name + ", " + k.name;
        assertEquals("InterruptedException", on(k, w.interruptibly, t -> {
            pause(round);
            t.interrupt();
        }), where);
        assertEquals("InterruptedException", on(k, () -> {
            Thread.currentThread().interrupt();
            return w.interruptibly.await();
        }, t -> { }), where);
        Context x = Context.background().withCancel();
        assertSame(Context.CANCELED, on(k, w.unless.apply(x), t -> {
            pause(round);
            x.cancel();
        }), where);
        assertSame(Context.CANCELED, on(k, w.unless.apply(x), t -> { }), where);
        try (Context y = Context.background().withTimeout(SOON)) {
            assertSame(Context.DEADLINE_EXCEEDED, on(k, w.unless.apply(y), t -> { }), where);
        }
        assertEquals("false", on(k, w.within.apply(SOON), t -> { }), where);
        assertEquals("false", on(k, w.within.apply(Duration.ZERO), t -> { }), where);
        boolean unchecked = k.identity && w.plainEndsByInterrupt;
        if (unchecked) {
            for (Form f : List.of(w.plain, w.within.apply(LONG), w.unless.apply(Context.background().withCancel()))) {
                assertEquals("WaitInterruptedException interrupted", on(k, f, t -> {
                    pause(round);
                    t.interrupt();
                }), where);
            }
        }
        if (w.comes != null) { // What ended left nothing behind: what comes now is for the one that waits now.
            assertEquals(unchecked ? "true" : "true interrupted", on(k, w.plain, t -> {
                pause(round);
                if (!unchecked) {
                    t.interrupt();
                }
                w.comes.run();
            }), where);
        }
    }

    /** Sleeps: of goroutines alone. */
    @Test
    void sleeps() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (Kind k : kinds(gmp).subList(0, 2)) {
                assertEquals("InterruptedException", on(k, always(() -> Go.sleepInterruptibly(LONG)), Thread::interrupt));
                Context x = Context.background().withCancel();
                assertSame(Context.CANCELED, on(k, always(() -> Go.sleepUnless(x, LONG)), t -> x.cancel()));
                assertEquals("true", on(k, always(() -> Go.sleepUnless(Context.background(), SOON)), t -> { }));
                assertEquals("true", on(k, always(() -> Go.sleepInterruptibly(SOON)), t -> { }));
                if (k.identity) {
                    assertEquals("WaitInterruptedException interrupted", on(k, always(() -> Go.sleep(LONG)), Thread::interrupt));
                    assertEquals("true", on(k, always(() -> Go.sleep(SOON)), t -> { }));
                }
            }
        }
    }

    /** What the JDK ends by interrupts ends, whatever its tasks wait for here. */
    @Test
    void shutdownNow() throws Exception {
        try (TestGmp gmp = TestGmp.procs(2)) {
            ExecutorService service = gmp.gmp.newThreadPerTaskExecutor();
            Chan<Integer> c = Chan.make();
            WaitGroup started = new WaitGroup();
            started.add(3);
            List<java.util.concurrent.Future<?>> tasks = List.of(service.submit(() -> {
                started.done();
                c.recv();
            }), service.submit(() -> {
                started.done();
                Select.of().recv(c, v -> { }).recv(Chan.<Integer>make(), v -> { }).run();
            }), service.submit(() -> {
                started.done();
                Go.sleep(LONG);
            }));
            started.await();
            service.shutdownNow();
            service.close();
            for (var f : tasks) {
                assertEquals(WaitInterruptedException.class,
                        assertThrows(java.util.concurrent.ExecutionException.class, f::get).getCause().getClass());
            }
        }
    }

    /** What ends a wait that is over, and comes late, does nothing to the next one. */
    @Stress
    void lateEnders() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> c = Chan.make();
            int n = 5_000;
            AtomicReference<Context> now = new AtomicReference<>(Context.background().withCancel());
            Threads others = new Threads().add("sender", () -> {
                for (int i = 1; i <= n; i++) {
                    c.send(i);
                }
                c.close();
            }).add("canceller", () -> {
                while (now.get() != null) {
                    Context x = now.get();
                    if (x != null) {
                        x.cancel();
                    }
                }
            }).start();
            gmp.run(() -> {
                int last = 0;
                for (boolean more = true; more;) {
                    Context x = Context.background().withCancel();
                    now.set(x);
                    try {
                        Integer v = c.recvUnless(x);
                        more = v != null;
                        if (more) {
                            assertEquals(last + 1, v);
                            last = v;
                        }
                    } catch (org.gmp4j.context.ContextException e) {
                        assertSame(Context.CANCELED, e);
                    }
                }
                assertEquals(n, last);
                now.set(null);
            });
            others.join();
        }
    }

    /** Each value sent arrives once, and none that was not, while interrupts end sends and receives on both sides. */
    @Stress
    void everyValueOnce() throws InterruptedException {
        for (int cap : new int[] {0, 2}) {
            try (TestGmp gmp = TestGmp.procs(2)) {
                Chan<Integer> c = Chan.make(cap);
                int n = 3_000;
                BitSet got = new BitSet();
                AtomicInteger ended = new AtomicInteger();
                Thread sender = gmp.gmp.threadFactory().newThread(() -> {
                    for (int i = 0; i < n;) {
                        try {
                            c.sendInterruptibly(i);
                            i++;
                        } catch (InterruptedException e) {
                            ended.incrementAndGet();
                        }
                    }
                    Thread.interrupted();
                    c.close();
                });
                Thread receiver = Thread.ofVirtual().unstarted(() -> {
                    for (boolean more = true; more;) {
                        try {
                            Integer v = c.recvInterruptibly();
                            more = v != null;
                            if (more) {
                                assertFalse(got.get(v), "twice: " + v);
                                got.set(v);
                            }
                        } catch (InterruptedException e) {
                            ended.incrementAndGet();
                        }
                    }
                });
                sender.start();
                receiver.start();
                while (receiver.isAlive()) {
                    (ThreadLocalRandom.current().nextBoolean() ? sender : receiver).interrupt();
                }
                sender.join();
                receiver.join();
                assertEquals(n, got.cardinality());
                assertTrue(ended.get() > 0, "no interrupt ended a wait");
            }
        }
    }

    /** The same of selects, which are ended by interrupts and by short limits of time. */
    @Stress
    void selectsRace() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            Chan<Integer> a = Chan.make();
            Chan<Integer> b = Chan.make();
            int n = 3_000;
            java.util.Set<Integer> got = ConcurrentHashMap.newKeySet();
            AtomicInteger left = new AtomicInteger(2);
            List<Thread> ts = new ArrayList<>();
            for (int half = 0; half < 2; half++) {
                int from = half;
                ts.add(gmp.gmp.threadFactory().newThread(() -> {
                    int[] next = {from};
                    Select out = Select.of().send(a, 0, () -> next[0] += 2);
                    while (next[0] < n) {
                        try {
                            out.clear().send(a, next[0], () -> next[0] += 2).send(b, next[0], () -> next[0] += 2)
                                    .timeout(Duration.ofNanos(20_000), () -> { }).runInterruptibly();
                        } catch (InterruptedException e) {
                            continue;
                        }
                    }
                    if (left.decrementAndGet() == 0) {
                        Thread.interrupted();
                        a.close();
                    }
                }));
            }
            ts.add(Thread.ofVirtual().unstarted(() -> {
                boolean[] more = {true};
                Select in = Select.of().recvOk(a, (v, ok) -> {
                    more[0] = ok;
                    assertTrue(!ok || got.add(v), "twice");
                }).recv(b, v -> assertTrue(got.add(v), "twice"));
                while (more[0]) {
                    try {
                        in.runInterruptibly();
                    } catch (InterruptedException e) {
                        continue;
                    }
                }
            }));
            ts.forEach(Thread::start);
            while (ts.getLast().isAlive()) {
                ts.get(ThreadLocalRandom.current().nextInt(3)).interrupt();
                Thread.onSpinWait();
            }
            for (Thread t : ts) {
                t.join();
            }
            assertEquals(n, got.size());
        }
    }

    /** In a bubble its clock moves on for limits of time, whatever is waited for. */
    @Test
    void bubbles() {
        org.gmp4j.synctest.Synctest.test(() -> {
            for (Wait w : waits()) {
                try {
                    assertFalse(w.within.apply(LONG).await(), w.name);
                    boolean lock = List.of("mutex", "reader", "writer").contains(w.name); // Their waits hold the clock, as Go's.
                    assertSame(Context.DEADLINE_EXCEEDED, lock ? Context.DEADLINE_EXCEEDED : said(w.unless.apply(Context.background().withTimeout(LONG))), w.name);
                } catch (Exception e) {
                    throw new AssertionError(w.name, e);
                }
            }
        });
    }

    /** A context's channel and a timer's are for receiving: nobody else closes them. */
    @Test
    void directions() {
        Chan<Integer> c = Chan.make(1);
        SendChan<Integer> in = c;
        RecvChan<Integer> out = c;
        in.send(3);
        assertEquals(3, out.recv());
        in.close();
        assertFalse(out.recvOk().ok());
        assertEquals("close of closed channel", assertThrows(ChanClosedException.class, in::close).getMessage());
        assertEquals("send on closed channel", assertThrows(ChanClosedException.class, () -> in.trySend(1)).getMessage());
        Context x = Context.background().withCancel();
        assertThrows(IllegalStateException.class, () -> x.done().close());
        assertNull(x.err());
        assertThrows(UnsupportedOperationException.class, () -> x.watchOnly().cancel());
        x.close();
        assertFalse(x.watchOnly().done().recvOk().ok());
        assertNotNull(x.watchOnly().err());
        Context.Key<Integer> key = Context.Key.of("answer");
        int answer = Context.background().withValue(key, 42).value(key);
        assertEquals(42, answer);
    }
}
