// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.NativeEvent;
import org.gmp4j.Select;
import org.gmp4j.context.Context;
import org.gmp4j.stack.Headroom;
import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Once;
import org.gmp4j.sync.OnceValue;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.SingleFlight;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.synctest.Synctest;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;

/** The other public operations, and waits in the JDK. */
@SuppressWarnings("restricted") // A function's address.
final class OverflowMoreOps {
    /** Where the JDK's own code, which asks for no room, is left alone: its frames may overflow between two of its steps. */
    private static final int OF_JDK = 16 << 10;
    private static final int ENOUGH_CASES = 50_000;
    private static final Duration SOON = Duration.ofNanos(1_000);
    private static final Duration MOMENT = Duration.ofMillis(1);

    private static final MethodHandle READY = Linker.nativeLinker().downcallHandle(NativeEvent.function(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));

    private final OverflowOps all;
    private final Gmp gmp;
    private final Map<String, Runnable> ops;
    private final Map<String, Runnable> partners;
    private final Map<String, Runnable> ends;

    OverflowMoreOps(OverflowOps all) {
        this.all = all;
        gmp = all.gmp;
        ops = all.ops;
        partners = all.partners;
        ends = all.ends;
    }

    void add(boolean goroutine) {
        channels();
        longs();
        selects();
        locks();
        groups();
        contexts();
        scheduler();
        if (goroutine) {
            ofGoroutines();
            jdk();
        }
    }

    private interface Step {
        void run() throws Exception;
    }

    /** Something that throws what need not be declared. */
    private static void plainly(Step s) {
        try {
            s.run();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static void check(boolean ok, String what) {
        if (!ok) {
            throw new AssertionError(what);
        }
    }

    private void channels() {
        Chan<Integer> from = Chan.make();
        ops.put("recvOk", () -> {
            from.recvOk();
            from.tryRecvOk();
            from.recvOkWithin(SOON);
        });
        partners.put("recvOk", () -> from.sendWithin(1, MOMENT));
        ops.put("iterate", () -> {
            Chan<Integer> c = Chan.make(2);
            c.send(1);
            c.send(2);
            c.close();
            int sum = c.len() + c.cap();
            for (int i : c) {
                sum += i;
            }
            check(sum == 7, "sum " + sum);
        });
    }

    private void longs() {
        LongChan to = LongChan.make();
        AtomicInteger received = new AtomicInteger();
        ops.put("longSend", () -> to.send(1));
        partners.put("longSend", () -> {
            if (to.recvOkWithin(MOMENT) != null) {
                received.incrementAndGet();
            }
        });
        ends.put("longSend", () -> {
            while (received.get() < all.done) {
                Thread.yield();
            }
            check(received.get() == all.done, "sent " + all.done + ", received " + received);
        });
        LongChan from = LongChan.make();
        ops.put("longRecv", () -> {
            from.recv();
            from.recvOk();
            from.tryRecvOk();
        });
        partners.put("longRecv", () -> from.sendWithin(1, MOMENT));
        LongChan never = LongChan.make();
        ops.put("longTimed", () -> {
            never.recvWithin(SOON);
            never.recvOkWithin(SOON);
            never.sendWithin(1, SOON);
        });
        ops.put("longMake", () -> {
            LongChan c = LongChan.make(2);
            c.send(1);
            c.close();
            for (long i : c) {
                check(i == 1, "another");
            }
        });
    }

    private void selects() {
        LongChan a = LongChan.make();
        LongChan b = LongChan.make(1);
        ops.put("selectLong", () -> Select.of().recvLong(a, v -> { }).sendLong(b, 1, () -> { })
                .recvLongOk(LongChan.make(), (v, ok) -> { }).run());
        partners.put("selectLong", () -> {
            a.sendWithin(1, MOMENT);
            b.tryRecv();
        });
        Chan<Integer> c = Chan.make();
        Chan<Integer> d = Chan.make();
        Select reused = Select.of().recv(c, v -> { }).send(d, 1, () -> { });
        ops.put("selectAgain", reused::run);
        partners.put("selectAgain", () -> {
            c.sendWithin(1, SOON);
            d.recvWithin(SOON);
        });
        Chan<Integer> never = Chan.make();
        Chan<Integer> ready = Chan.make(1);
        Select[] growing = {Select.of()};
        int[] count = new int[1];
        ops.put("selectAdd", () -> {
            if (count[0] == ENOUGH_CASES) {
                count[0] = 0;
                growing[0] = Select.of();
            }
            growing[0].recv(never, v -> { });
            count[0]++;
        });
        ends.put("selectAdd", () -> {
            ready.send(1);
            check(growing[0].recv(ready, v -> { }).run() == count[0], "a case that was refused is there");
        });
        Chan<Integer> one = Chan.make(1);
        Select cleared = Select.of();
        ops.put("selectClear", () -> {
            one.tryRecv(); // When the receive below was refused.
            cleared.recv(never, v -> { }).send(one, 1, () -> { }).orElse(() -> { }).clear();
            check(cleared.send(one, 1, () -> { }).run() == 0 && one.recv() == 1, "a case was left");
            cleared.clear();
        });
        ops.put("selectTimer", () -> Select.of().recv(never, v -> { }).recv(Time.after(SOON), v -> { }).run());
    }

    private void locks() {
        Mutex m = new Mutex();
        ops.put("mutexTry", () -> {
            if (m.tryLock()) {
                m.unlock();
            }
            check(m.with(() -> 1) == 1, "another");
        });
        partners.put("mutexTry", () -> m.with(() -> {
            Go.gosched();
            return 1;
        }));
        ends.put("mutexTry", () -> m.with(() -> 1));
        RWMutex rw = new RWMutex();
        ops.put("rwTry", () -> {
            if (rw.tryLock()) {
                rw.unlock();
            }
            if (rw.tryRLock()) {
                rw.rUnlock();
            }
        });
        partners.put("rwTry", () -> {
            rw.lock();
            Go.gosched();
            rw.unlock();
        });
        ends.put("rwTry", () -> {
            rw.lock();
            rw.unlock();
        });
        Semaphore sem = new Semaphore(2);
        ops.put("semaphoreContext", () -> plainly(() -> {
            try {
                sem.acquire(Context.background().withTimeout(Duration.ofNanos(20_000)), 2);
            } catch (Exception e) {
                check(e == Context.DEADLINE_EXCEEDED, e.toString());
                return;
            }
            sem.release(2);
        }));
        partners.put("semaphoreContext", () -> {
            if (sem.tryAcquire(1)) {
                Go.gosched();
                sem.release(1);
            }
        });
        ends.put("semaphoreContext", () -> sem.acquire(2));
        Semaphore tried = new Semaphore(2);
        Runnable ofTried = () -> {
            if (tried.tryAcquire(2)) {
                tried.release(2);
            }
        };
        ops.put("semaphoreTry", ofTried);
        partners.put("semaphoreTry", ofTried);
        ends.put("semaphoreTry", () -> tried.acquire(2));
        AtomicReference<Once> once = new AtomicReference<>(new Once());
        Runnable ofOnce = () -> {
            Once o = once.get();
            try {
                o.run(() -> { });
            } finally {
                once.compareAndSet(o, new Once());
            }
            OnceValue.of(() -> 1).get();
        };
        ops.put("once", ofOnce);
        partners.put("once", ofOnce);
    }

    private void groups() {
        SingleFlight<String, Integer> flights = new SingleFlight<>();
        ops.put("singleFlight", () -> plainly(() -> check(flights.run("k", () -> 1) == 1, "another")));
        Runnable other = () -> plainly(() -> {
            flights.run("k", () -> {
                Go.gosched();
                return 1;
            });
            flights.forget("k");
        });
        partners.put("singleFlight", other);
        ops.put("singleFlightForget", () -> flights.forget("k"));
        partners.put("singleFlightForget", other);
    }

    private void contexts() {
        ops.put("contextDeadline", () -> {
            Context c = Context.todo().withDeadline(Instant.now().plus(OverflowOps.LONG), new Exception("late"));
            check(c.deadline() != null && c.withDeadline(Instant.MIN).err() == Context.DEADLINE_EXCEEDED, "another");
            c.cancel();
            check(c.err() == Context.CANCELED, "not cancelled");
        });
        List<Context[]> trees = new ArrayList<>();
        ops.put("contextTree", () -> {
            Context root = Context.background().withCancel();
            Context mid = root.withValue("k", 1).withCancel();
            Chan<Integer> told = Chan.make(1);
            mid.afterFunc(() -> told.trySend(1));
            trees.add(new Context[] {root, mid, mid.withTimeout(OverflowOps.LONG, new Exception("late"))});
            root.cancel(new Exception("mine"));
            told.recv();
        });
        ends.put("contextTree", () -> {
            for (Context[] tree : trees) {
                for (Context c : tree) {
                    check((c.err() == null) == (tree[0].err() == null), "half a tree");
                }
            }
        });
        ops.put("contextTimeout", () -> {
            Exception late = new Exception("late");
            Context c = Context.background().withValue("k", 1).withTimeout(SOON, late);
            c.done().recv();
            check(c.err() == Context.DEADLINE_EXCEEDED && c.cause() == late && (int) c.value("k") == 1
                    && c.withoutCancel().err() == null && !c.toString().isEmpty(), "another");
        });
        Context live = Context.background().withCancel();
        ops.put("contextAfterFunc", () -> {
            BooleanSupplier stop = live.afterFunc(() -> all.failed.compareAndSet(null, new AssertionError("was stopped")));
            check(stop.getAsBoolean(), "not stopped");
        });
        ops.put("tick", () -> Time.tick(SOON).recv());
        ops.put("ticker", () -> {
            Ticker t = Time.newTicker(SOON);
            t.c().recv();
            t.reset(OverflowOps.LONG);
            t.stop();
        });
    }

    private void scheduler() {
        ops.put("call", () -> plainly(() -> check(gmp.call(() -> 1) == 1, "another")));
        ops.put("dump", () -> check(gmp.dump().length() + gmp.numGoroutine() + gmp.procs() > 0, "nothing"));
        List<Gmp> left = new ArrayList<>();
        ops.put("build", () -> {
            Gmp g = Gmp.builder().procs(1).build();
            left.add(g);
            g.run(() -> { });
            g.close();
        });
        ends.put("build", () -> {
            left.forEach(Gmp::close);
            Thread[] threads = new Thread[1000];
            int n = Thread.enumerate(threads);
            String mine = Thread.getAllStackTraces().keySet().stream().map(Thread::getName).filter(s -> s.startsWith("gmp"))
                    .map(s -> s.replaceAll("-.*", "")).distinct().sorted().toList().toString();
            check(mine.equals("[gmp, gmp0, gmp4j]") || mine.equals("[gmp0, gmp4j]") || mine.equals("[gmp0]")
                    || mine.equals("[gmp, gmp0]"), mine + n);
        });
        ops.put("synctest", () -> Synctest.test(() -> Go.sleep(OverflowOps.LONG)));
    }

    private void ofGoroutines() {
        ops.put("goOfGo", () -> Go.go(() -> { }));
        AtomicInteger deferred = new AtomicInteger();
        ops.put("defer", () -> Go.defer(deferred::incrementAndGet));
        all.fresh.add("defer");
        ends.put("defer", () -> check(deferred.get() == all.done, "deferred " + deferred + " of " + all.done));
        ops.put("goexit", () -> {
            Go.defer(() -> all.done++);
            Go.goexit();
        });
        all.fresh.add("goexit");
        ops.put("gomaxprocs", () -> check(Go.gomaxprocs(2) == 2 && Go.goid() > 0 && Go.numGoroutine() > 0, "another"));
        ops.put("waitGroupGo", () -> {
            WaitGroup g = new WaitGroup();
            g.go(() -> { });
            g.await();
        });
        ErrGroup limited = new ErrGroup();
        limited.setLimit(2);
        Runnable ofLimited = () -> {
            limited.go(() -> { });
            limited.tryGo(() -> { });
        };
        ops.put("errGroup", ofLimited);
        partners.put("errGroup", ofLimited);
        ends.put("errGroup", () -> plainly(() -> {
            while (!all.ended) {
                Thread.yield();
            }
            limited.await();
            limited.setLimit(2); // Throws when some were not given back.
        }));
        ops.put("errGroupAwait", () -> plainly(() -> {
            ErrGroup g = ErrGroup.withContext(Context.background());
            g.go(() -> { });
            g.await();
            check(g.context().err() == Context.CANCELED, "not cancelled");
        }));
        SingleFlight<String, Integer> flights = new SingleFlight<>();
        Runnable flight = () -> plainly(() -> check(flights.runChan("k", () -> 1).recv().get() == 1, "another"));
        ops.put("singleFlightChan", flight);
        partners.put("singleFlightChan", flight);
        NativeEvent event = new NativeEvent();
        ops.put("nativeEvent", event::await);
        partners.put("nativeEvent", () -> {
            try {
                int _ = (int) READY.invokeExact(event.address().address());
            } catch (Throwable t) {
                throw new AssertionError(t);
            }
            Go.gosched();
        });
        Set<Long> places = new HashSet<>();
        ops.put("nativeEventMake", () -> {
            try (NativeEvent made = new NativeEvent()) {
                places.add(made.address().address());
            }
        });
        ends.put("nativeEventMake", () -> check(places.size() == 1, "not given back: " + places.size()));
        ops.put("bubble", () -> {
            Synctest.await();
            check(Synctest.now() != null, "no time");
            Go.sleep(OverflowOps.LONG);
            Time.after(OverflowOps.LONG).recv();
        });
        all.inBubble.add("bubble");
        ExecutorService executor = gmp.newThreadPerTaskExecutor();
        ops.put("executor", () -> plainly(() -> {
            if (Headroom.left() > OF_JDK) {
                check(executor.submit(() -> 1).get() == 1, "another");
            }
        }));
        all.neverRefused.add("executor");
    }

    /**
     * Goroutines that wait in the JDK. HotSpot refuses most of it, from a third of the stack's depth on, out of the middle of the
     * JDK's code. No lock of the JDK's, then: it is left with a waiter that never comes, on any scheduler.
     */
    private void jdk() {
        ofJdk("park", () -> LockSupport.parkNanos(1_000), null);
        ofJdk("jdkSleep", () -> Thread.sleep(SOON), null);
        ofJdk("jdkYield", Thread::yield, null);
        Object monitor = new Object();
        Step ofMonitor = () -> {
            synchronized (monitor) {
                monitor.notifyAll();
                monitor.wait(0, 1);
            }
        };
        ofJdk("monitor", ofMonitor, ofMonitor);
        ofJdk("thread", () -> {
            Thread t = gmp.threadFactory().newThread(() -> { });
            t.start();
            t.join();
        }, null);
    }

    private void ofJdk(String name, Step op, Step partner) {
        all.neverRefused.add(name);
        ops.put(name, () -> plainly(() -> {
            if (Headroom.left() > OF_JDK) {
                op.run();
            }
        }));
        if (partner != null) {
            partners.put(name, () -> plainly(partner));
        }
    }
}
