// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.gmp4j.testing.Kind.always;
import static org.gmp4j.testing.Kind.pause;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import org.gmp4j.context.Context;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Once;
import org.gmp4j.sync.OnceValue;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.SingleFlight;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Kind;
import org.gmp4j.testing.Kind.Form;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Test;

/** All waits, of all kinds of threads, ended in all ways: by what they wait for, an interrupt, a context, a limit of time. */
class EndingsTest {
    private static final Duration SOON = Duration.ofMillis(2);
    private static final Duration LONG = Duration.ofHours(1);

    /**
     * Something to wait for, fresh, and its forms; null for one that there is not.
     *
     * @param inGoroutines whether only goroutines may wait for it
     */
    private record Wait(String name, boolean inGoroutines, Form plain, Form interruptibly, Function<Context, Form> unless,
            Function<Duration, Form> within, boolean plainEndsByInterrupt, Runnable comes) {
        Wait(String name, Form plain, Form interruptibly, Function<Context, Form> unless, Function<Duration, Form> within,
                boolean plainEndsByInterrupt, Runnable comes) {
            this(name, false, plain, interruptibly, unless, within, plainEndsByInterrupt, comes);
        }

        /** With one form alone. */
        Wait(String name, boolean inGoroutines, Form plain, boolean plainEndsByInterrupt, Runnable comes) {
            this(name, inGoroutines, plain, null, null, null, plainEndsByInterrupt, comes);
        }
    }

    private static List<Wait> waits() {
        List<Wait> all = new ArrayList<>();
        Chan<Integer> r = Chan.make();
        all.add(new Wait("recv", always(r::recv), always(r::recvInterruptibly), x -> always(() -> r.recvUnless(x)),
                d -> () -> r.recvOkWithin(d) != null, true, r::close));
        Chan<Integer> s = Chan.make();
        all.add(new Wait("send", always(() -> s.send(1)), always(() -> s.sendInterruptibly(1)),
                x -> always(() -> s.sendUnless(x, 1)), d -> () -> s.sendWithin(1, d), true, s::recv));
        Chan<Integer> k = Chan.make();
        all.add(new Wait("recv ok", always(k::recvOk), always(k::recvOkInterruptibly), x -> always(() -> k.recvOkUnless(x)),
                d -> () -> k.recvWithin(d) != null, true, k::close));
        LongChan lk = LongChan.make();
        all.add(new Wait("recv ok long", always(lk::recvOk), always(lk::recvOkInterruptibly), x -> always(() -> lk.recvOkUnless(x)),
                d -> () -> lk.recvWithin(d) != 0, true, lk::close));
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
        Chan<Integer> value = Chan.make();
        all.add(new Wait("select of a value", always(() -> Select.<Integer>one().recv(value, v -> v).run()),
                always(() -> Select.<Integer>one().recv(value, v -> v).runInterruptibly()),
                x -> always(() -> Select.<Integer>one().recv(value, v -> v).runUnless(x)),
                d -> () -> Select.<Boolean>one().recv(value, v -> true).timeout(d, () -> false).run(), true, value::close));
        all.add(new Wait("select none", always(() -> Select.of().run()), always(() -> Select.of().runInterruptibly()),
                x -> always(() -> Select.of().runUnless(x)), d -> () -> Select.of().timeout(d, () -> { }).run() != Select.TIMEOUT, true,
                null));
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

    /** Those that belong to goroutines, and those of which there is one form. */
    private static List<Wait> others(TestGmp gmp) {
        List<Wait> all = new ArrayList<>();
        Chan<Integer> t = Chan.make();
        Task<Integer> task = gmp.gmp.submit(t::recv);
        all.add(new Wait("join", always(task::join), always(task::get), x -> always(() -> task.joinUnless(x)),
                d -> () -> in(task, d), true, t::close));
        NativeEvent event = new NativeEvent();
        all.add(new Wait("native event", true, always(event::await), always(event::awaitInterruptibly),
                x -> always(() -> event.awaitUnless(x)), d -> () -> event.awaitWithin(d), true, () -> NativeEventTest.fire(event)));
        Chan<Integer> g = Chan.make();
        ErrGroup group = ErrGroup.on(gmp.gmp);
        group.setLimit(1);
        group.go(g::recv);
        all.add(new Wait("error group", always(group::await), always(group::awaitInterruptibly),
                x -> always(() -> group.awaitUnless(x)), d -> () -> group.awaitWithin(d), true, g::close));
        Chan<Integer> l = Chan.make();
        ErrGroup limited = ErrGroup.on(gmp.gmp);
        limited.setLimit(1);
        limited.go(l::recv);
        all.add(new Wait("limit of an error group", always(() -> limited.go(Thread::onSpinWait)),
                always(() -> limited.goInterruptibly(Thread::onSpinWait)),
                x -> always(() -> limited.goUnless(x, Thread::onSpinWait)), d -> () -> limited.goWithin(Thread::onSpinWait, d), true,
                l::close));
        ChanSubscription<Integer> sub = Chans.subscribe(SILENT, 1);
        all.add(new Wait("subscription", always(sub::recv), always(sub::recvInterruptibly), x -> always(() -> sub.recvUnless(x)),
                d -> () -> sub.recvWithin(d) != null, true, sub::close));
        Chan<Integer> f = Chan.make();
        SingleFlight<String, Integer> flight = new SingleFlight<>(gmp.gmp);
        Chan<SingleFlight.Result<Integer>> _ = flight.runChan("k", f::recv);
        all.add(new Wait("single flight", false, always(() -> flight.run("k", () -> 1)), true, f::close));
        Chan<Integer> o = Chan.make();
        Once once = new Once();
        WaitGroup begun = new WaitGroup();
        begun.add(1);
        gmp.go(() -> once.run(() -> {
            begun.done();
            Integer none = o.recv();
        }));
        begun.await();
        all.add(new Wait("once", always(() -> once.run(() -> { })), always(() -> once.runInterruptibly(() -> { })),
                x -> always(() -> once.runUnless(x, () -> { })), d -> () -> once.runWithin(() -> { }, d), false, o::close));
        Chan<Integer> vc = Chan.make();
        OnceValue<Integer> value = OnceValue.of(() -> {
            begun.done();
            return vc.recv();
        });
        begun.add(1);
        gmp.go(value::get);
        begun.await();
        all.add(new Wait("once value", always(value::get), always(value::getInterruptibly), x -> always(() -> value.getUnless(x)),
                d -> () -> in(value, d), false, vc::close));
        Chan<Integer> r = Chan.make();
        all.add(new Wait("run", always(() -> gmp.run(r::recv)), always(() -> gmp.gmp.runInterruptibly(r::recv)),
                x -> always(() -> gmp.gmp.runUnless(x, r::recv)), d -> () -> gmp.gmp.runWithin(r::recv, d), false, r::close));
        return all;
    }

    /** Of a publisher that never says anything. */
    private static final Flow.Publisher<Integer> SILENT = s -> s.onSubscribe(new Flow.Subscription() {
        @Override
        public void request(long n) {
        }

        @Override
        public void cancel() {
        }
    });

    private static boolean in(OnceValue<Integer> value, Duration d) {
        try {
            Integer _ = value.getWithin(d);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    private static boolean in(Task<Integer> task, Duration d) throws Exception {
        try {
            return task.get(d.toNanos(), TimeUnit.NANOSECONDS) != null;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** What runs ends with the wait for it, or as well as if nothing could end that. */
    @Test
    void runs() throws Exception {
        try (TestGmp gmp = TestGmp.procs(1)) {
            Chan<String> told = Chan.make(1);
            Chan<Integer> c = Chan.make();
            assertFalse(gmp.gmp.runWithin(() -> {
                try {
                    Integer _ = c.recv();
                } catch (WaitInterruptedException e) {
                    told.send("cancelled");
                }
            }, SOON));
            assertEquals("cancelled", told.recv());
            IllegalStateException thrown = new IllegalStateException();
            assertSame(thrown, assertThrows(IllegalStateException.class, () -> gmp.gmp.runInterruptibly(() -> {
                throw thrown;
            })));
            gmp.gmp.runInterruptibly(Go::goexit);
            assertTrue(gmp.gmp.runWithin(() -> told.send("run"), LONG));
            assertEquals("run", told.recv());
            Context x = Context.background().withCancel();
            x.cancel();
            assertSame(Context.CANCELED, Kind.said(always(() -> gmp.gmp.runUnless(x, () -> told.send("not started")))));
            assertThrows(NullPointerException.class, () -> gmp.gmp.runWithin(() -> told.send("not started"), null));
            gmp.run(() -> { });
            assertNull(told.tryRecv());
        }
    }

    /** A close wakes those that wait, and a sender is told. */
    @Test
    void closes() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (Kind k : Kind.of(gmp)) {
                for (int round = 0; round < 2; round++) {
                    closes(k, round);
                }
            }
        }
    }

    private static void closes(Kind k, int round) throws InterruptedException {
        for (int form = 0; form < 8; form++) {
            Chan<Integer> s = Chan.make(form % 2);
            LongChan ls = LongChan.make(form % 2);
            assertEquals(form % 2 == 1, s.trySend(1) && ls.trySend(1));
            Form send = switch (form / 2) {
                case 0 -> always(() -> s.send(1));
                case 1 -> () -> s.sendWithin(1, LONG);
                case 2 -> always(() -> ls.sendInterruptibly(1));
                default -> always(() -> Select.of().send(s, 1, () -> { }).sendLong(ls, 1, () -> { }).run());
            };
            Object end = k.on(send, t -> {
                pause(round);
                s.close();
                ls.close();
            });
            assertEquals("send on closed channel", assertInstanceOf(ChanClosedException.class, end, k::toString).getMessage());
        }
        Chan<Integer> c = Chan.make();
        assertEquals("false", k.on(() -> c.recvOk().ok(), t -> {
            pause(round);
            c.close();
        }), k::toString);
        Chan<Integer> d = Chan.make();
        assertEquals("false", k.on(() -> d.iterator().hasNext(), t -> {
            pause(round);
            d.close();
        }), k::toString);
        LongChan l = LongChan.make();
        assertEquals("false", k.on(() -> l.recvOkWithin(LONG).ok(), t -> {
            pause(round);
            l.close();
        }), k::toString);
        Chan<Integer> e = Chan.make();
        boolean[] ok = {true};
        assertEquals("true", k.on(() -> Select.of().recvOk(e, (v, o) -> ok[0] = o).recv(Chan.<Integer>make(), v -> { }).run() == 0, t -> {
            pause(round);
            e.close();
        }), k::toString);
        assertFalse(ok[0]);
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

    @Stress
    void everyWaitEnds() throws InterruptedException {
        try (TestGmp gmp = TestGmp.procs(2)) {
            for (Kind k : Kind.of(gmp)) {
                for (int round = 0; round < 2; round++) {
                    List<Wait> all = new ArrayList<>(waits());
                    all.addAll(others(gmp));
                    for (Wait w : all) {
                        if (k.goroutine() || !w.inGoroutines) {
                            ends(k, w, round);
                        }
                    }
                }
            }
        }
    }

    private static void ends(Kind k, Wait w, int round) throws InterruptedException {
        String where = w.name + ", " + k;
        if (w.interruptibly != null) {
            assertEquals("InterruptedException", k.on(w.interruptibly, t -> {
                pause(round);
                t.interrupt();
            }), where);
            assertEquals("InterruptedException", k.on(() -> {
                Thread.currentThread().interrupt();
                return w.interruptibly.await();
            }, t -> { }), where);
        }
        if (w.unless != null) {
            Context x = Context.background().withCancel();
            assertSame(Context.CANCELED, k.on(w.unless.apply(x), t -> {
                pause(round);
                x.cancel();
            }), where);
            assertSame(Context.CANCELED, k.on(w.unless.apply(x), t -> { }), where);
            try (Context y = Context.background().withTimeout(SOON)) {
                assertSame(Context.DEADLINE_EXCEEDED, k.on(w.unless.apply(y), t -> { }), where);
            }
        }
        if (w.within != null) {
            assertEquals("false", k.on(w.within.apply(SOON), t -> { }), where);
            assertEquals("false", k.on(w.within.apply(Duration.ZERO), t -> { }), where);
        }
        boolean unchecked = k.endsByInterrupt() && w.plainEndsByInterrupt;
        if (unchecked) {
            List<Form> forms = w.within == null || w.name.equals("join") ? List.of(w.plain) // Future.get ends as the JDK says.
                    : List.of(w.plain, w.within.apply(LONG), w.unless.apply(Context.background().withCancel()));
            for (Form f : forms) {
                assertEquals("WaitInterruptedException interrupted", k.on(f, t -> {
                    pause(round);
                    t.interrupt();
                }), where);
            }
        }
        if (w.comes != null) { // What ended left nothing behind: what comes now is for the one that waits now.
            assertEquals(unchecked ? "true" : "true interrupted", k.on(w.plain, t -> {
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
            for (Kind k : Kind.of(gmp).subList(0, 3)) {
                assertEquals("InterruptedException", k.on(always(() -> Go.sleepInterruptibly(LONG)), Thread::interrupt));
                Context x = Context.background().withCancel();
                assertSame(Context.CANCELED, k.on(always(() -> Go.sleepUnless(x, LONG)), t -> x.cancel()));
                assertEquals("true", k.on(always(() -> Go.sleepUnless(Context.background(), SOON)), t -> { }));
                assertEquals("true", k.on(always(() -> Go.sleepInterruptibly(SOON)), t -> { }));
                if (k.endsByInterrupt()) {
                    assertEquals("WaitInterruptedException interrupted", k.on(always(() -> Go.sleep(LONG)), Thread::interrupt));
                    assertEquals("true", k.on(always(() -> Go.sleep(SOON)), t -> { }));
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

    /** In a bubble its clock moves on for limits of time, whatever is waited for. */
    @Test
    void bubbles() {
        org.gmp4j.synctest.Synctest.test(() -> {
            for (Wait w : waits()) {
                try {
                    assertFalse(w.within.apply(LONG).await(), w.name);
                    boolean lock = List.of("mutex", "reader", "writer").contains(w.name); // Their waits hold the clock, as Go's.
                    assertSame(Context.DEADLINE_EXCEEDED,
                            lock ? Context.DEADLINE_EXCEEDED : Kind.said(w.unless.apply(Context.background().withTimeout(LONG))), w.name);
                } catch (Exception e) {
                    throw new AssertionError(w.name, e);
                }
            }
        });
    }

    /** A context's channel and a timer's are for receiving: no other code closes them. */
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
