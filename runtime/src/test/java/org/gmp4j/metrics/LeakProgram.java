// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.ReentrantLock;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.LongChan;
import org.gmp4j.Select;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.context.Context;
import org.gmp4j.sync.Cond;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.RWMutex;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Time;

/** Goroutines that have leaked beside others that look so; prints how many of each kind were taken for leaked. */
final class LeakProgram {
    /** What is reachable by this is alive. */
    private static final List<Object> REACHABLE = new ArrayList<>();
    private static final int LEAKED = 17;
    /** Waits that time alone ends, without a waiter. */
    private static final int SLEEPERS = 4;
    private static int others;
    private static volatile Thread thread;

    private LeakProgram() {
    }

    public static void main(String[] args) {
        try {
            search(args);
        } catch (Throwable t) {
            t.printStackTrace();
            System.exit(1); // Goroutines of those it has begun wait on.
        }
        System.exit(0);
    }

    private static void search(String[] args) throws Exception {
        Gmp gmp = Gmp.builder().procs(2).debug(args.length > 0 ? args[0] : "").build();
        leaks(gmp);
        List<Runnable> endings = new ArrayList<>();
        alive(gmp, endings);
        inTheJdk(gmp, endings);
        await(gmp, LEAKED + others);
        WeakReference<Object> held = held(gmp);
        await(gmp, LEAKED + others + 1);
        GoroutineProfile first = gmp.leaks();
        for (int i = 0; i < 5; i++) { // Right after one another: the JDK may refer to the last search's ark still.
            int found = gmp.leaks().total();
            if (found != LEAKED) {
                System.out.println("then " + found);
            }
        }
        Map<String, Integer> states = new TreeMap<>();
        first.groups().forEach(g -> states.merge(g.state(), g.count(), Integer::sum));
        states.forEach((k, v) -> System.out.println(v + " " + k));
        System.out.println(first.groups().stream().allMatch(g -> g.frames().stream().anyMatch(f -> f.getMethodName().contains("leaks"))));
        System.out.println(first.groups().stream().map(GoroutineProfile.Group::site).anyMatch(x -> x.contains("LeakProgram.leaks")));
        System.out.println(held.get() != null);
        boolean[] thrown = new boolean[1];
        gmp.run(() -> { // From a goroutine, too.
            try {
                gmp.assertNoLeaks();
            } catch (AssertionError e) {
                thrown[0] = e.getMessage().startsWith("goroutines that nothing can wake\ngoroutineleak profile: total " + LEAKED + "\n");
            }
        });
        System.out.println(thrown[0]);
        endings.forEach(Runnable::run);
        ((Chan<?>) REACHABLE.removeFirst()).close();
        await(gmp, LEAKED + SLEEPERS);
        System.out.println(gmp.leaks().total());
    }

    private static void await(Gmp gmp, int n) throws InterruptedException {
        do {
            Thread.sleep(1);
        } while (gmp.numGoroutine() != n || gmp.goroutines().groups().stream().anyMatch(g -> g.state().equals("runnable")
                || g.state().equals("running")));
    }

    /** What has leaked: each waits for what nobody else has, or those that wait for the like. */
    private static void leaks(Gmp gmp) {
        gmp.go(() -> Chan.make().recv());
        gmp.go(LeakProgram::leaksOnAThreadThatIsReachable);
        gmp.go(() -> Chan.make().send("x"));
        gmp.go(() -> LongChan.make().recv());
        gmp.go(() -> Select.of().recv(Chan.make(), v -> { }).recv(Chan.make(), v -> { }).run());
        gmp.go(() -> Select.of().run());
        gmp.go(() -> Select.of().recv(null, v -> { }).run());
        gmp.go(() -> {
            Mutex m = new Mutex();
            m.lock();
            m.lock();
        });
        gmp.go(() -> {
            RWMutex m = new RWMutex();
            m.lock();
            m.rLock();
        });
        gmp.go(() -> {
            WaitGroup w = new WaitGroup();
            w.add(1);
            w.await();
        });
        gmp.go(() -> {
            Mutex m = new Mutex();
            m.lock();
            new Cond(m).await();
        });
        gmp.go(() -> {
            Semaphore s = new Semaphore(1);
            s.acquire(1);
            s.acquire(1);
        });
        gmp.go(LeakProgram::leaksInTheJdk);
        gmp.go(() -> { // Two that wait for each other, and one for them.
            Chan<Integer> one = Chan.make();
            Chan<Integer> two = Chan.make();
            Go.go(() -> leaksAPair(one, two));
            Go.go(() -> leaksAPair(one, two));
            leaksAPair(two, one);
        });
        gmp.run(() -> leaksAfterAll());
    }

    private static void leaksInTheJdk() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** As an agent, or a library, that remembers where something happened. */
    private static void leaksOnAThreadThatIsReachable() {
        thread = Thread.currentThread();
        Object _ = Chan.make().recv();
    }

    private static void leaksAPair(Chan<Integer> from, Chan<Integer> to) {
        Integer v = from.recv();
        to.send(v);
    }

    /** On a stack, and by an M, that others have used. */
    private static void leaksAfterAll() {
        Chan<Integer> c = Chan.make();
        Go.go(() -> leaksAPair(c, c));
    }

    private static void go(Gmp gmp, Runnable fn) {
        others++;
        gmp.go(fn);
    }

    /** Something reachable, or time, can wake these. */
    private static void alive(Gmp gmp, List<Runnable> endings) {
        Chan<Chan<Integer>> c = Chan.make();
        REACHABLE.add(c);
        Chan<Integer> inner = Chan.make();
        go(gmp, () -> { // The second is alive by the first, which is by the field.
            Chan<Integer> _ = c.recv();
            inner.close();
        });
        go(gmp, () -> inner.recv());
        go(gmp, () -> Select.of().recv(Chan.make(), v -> { }).recv(c, v -> { }).run());
        Chan<Integer> ofSleeper = Chan.make();
        Chan<Integer> never = Chan.make();
        go(gmp, () -> {
            Object _ = Select.one().recv(c, v -> v).run();
            ofSleeper.close();
        });
        go(gmp, () -> ofSleeper.recv());
        Context ctx = Context.background().withCancel();
        REACHABLE.add(ctx);
        endings.add(ctx::cancel);
        go(gmp, () -> ctx.done().recv());
        Context timed = Context.background().withTimeout(Duration.ofHours(1));
        go(gmp, () -> timed.done().recv()); // Only its alarm refers to it.
        endings.add(timedEnd(timed));
        Mutex m = new Mutex();
        m.lock();
        REACHABLE.add(m);
        endings.add(m::unlock);
        go(gmp, () -> {
            m.lock();
            m.unlock();
        });
        WaitGroup w = new WaitGroup();
        w.add(1);
        endings.add(w::done);
        go(gmp, w::await);
        Chan<Integer> stop = Chan.make();
        endings.add(stop::close);
        others++;
        Thread t = gmp.threadFactory().newThread(() -> { // An interrupt ends it.
            try {
                never.recv();
            } catch (WaitInterruptedException e) {
                return;
            }
        });
        t.start();
        endings.add(t::interrupt);
        go(gmp, () -> Select.of().recv(Time.after(Duration.ofHours(1)), v -> { }).recv(stop, v -> { }).run());
        go(gmp, () -> Select.of().timeout(Duration.ofHours(1), () -> { }).recv(stop, v -> { }).run());
        sleepers(gmp);
    }

    /** These wait for time alone, by a channel that nothing else refers to. They are still there when the program ends. */
    private static void sleepers(Gmp gmp) {
        go(gmp, () -> Time.after(Duration.ofHours(1)).recv());
        go(gmp, () -> Go.sleep(Duration.ofHours(1)));
        go(gmp, () -> Chan.make().recvWithin(Duration.ofHours(1)));
    }

    private static Runnable timedEnd(Context timed) {
        return timed::cancel;
    }

    private static void inTheJdk(Gmp gmp, List<Runnable> endings) throws IOException {
        LinkedBlockingQueue<Integer> q = new LinkedBlockingQueue<>();
        endings.add(() -> q.add(1));
        go(gmp, () -> {
            try {
                Integer _ = q.take();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        ReentrantLock l = new ReentrantLock();
        l.lock();
        endings.add(l::unlock);
        go(gmp, () -> {
            l.lock();
            l.unlock();
        });
        go(gmp, () -> {
            try {
                Thread.sleep(Duration.ofHours(1));
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        Socket here = new Socket(server.getInetAddress(), server.getLocalPort());
        endings.add(() -> {
            try {
                here.close();
                server.close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        go(gmp, () -> {
            try (Socket there = server.accept(); InputStream in = there.getInputStream()) {
                int _ = in.read();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** What a goroutine that is alive has on its stack alone keeps its weak references. */
    private static WeakReference<Object> held(Gmp gmp) {
        Chan<WeakReference<Object>> out = Chan.make(1);
        Chan<?> c = (Chan<?>) REACHABLE.getFirst();
        gmp.go(() -> {
            Object mine = new Object();
            out.send(new WeakReference<>(mine));
            Object _ = c.recv();
            REACHABLE.add(mine);
        });
        return out.recv();
    }
}
