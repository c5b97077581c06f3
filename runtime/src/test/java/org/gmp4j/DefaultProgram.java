// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import com.sun.net.httpserver.HttpServer;
import org.gmp4j.config.Config;
import org.gmp4j.sched.GStack;

/**
 * Programs that know nothing of goroutines, but for asking whether they are in one: started with the agent's option {@code default}.
 * Each argument is one; what it finds is printed.
 */
final class DefaultProgram {
    /** Looks where it is. Of no class that waits for it in its initialiser. */
    private static final class First implements Runnable {
        private static volatile boolean in;

        @Override
        public void run() {
            in = Go.inGoroutine();
        }
    }

    static { // Before anything else of the program.
        join(Thread.startVirtualThread(new First()));
    }

    private DefaultProgram() {
    }

    public static void main(String[] args) throws Exception {
        for (String what : args) {
            System.out.println(what + " " + result(what));
        }
    }

    private static Object result(String what) throws Exception {
        return switch (what) {
            case "first" -> First.in;
            case "kinds" -> kinds();
            case "waits" -> waits();
            case "yields" -> yields();
            case "interrupts" -> interrupts();
            case "others" -> others();
            case "http" -> http();
            case "beans" -> DefaultToolPrograms.beans();
            case "queued" -> DefaultToolPrograms.queued();
            case "jcmd" -> DefaultToolPrograms.jcmd();
            case "jfr" -> DefaultToolPrograms.jfr();
            case "uncaught" -> uncaught();
            case "settings" -> settings();
            case "close" -> close();
            case "exits" -> exits();
            case "returns" -> returns();
            case "term" -> term();
            default -> throw new AssertionError(what);
        };
    }

    /** Every way to start a virtual thread that the JDK has, from a platform thread and from a virtual one. */
    private static Object kinds() throws Exception {
        AtomicInteger in = new AtomicInteger();
        Runnable look = () -> in.addAndGet(Go.inGoroutine() && Thread.currentThread().isVirtual() ? 1 : 0);
        int ways = kinds(look);
        Thread parent = Thread.ofVirtual().start(() -> {
            try {
                int _ = kinds(look);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        parent.join();
        Thread platform = Thread.ofPlatform().start(() -> in.addAndGet(Go.inGoroutine() ? 1000 : 0));
        platform.join();
        return ways + " " + in;
    }

    private static int kinds(Runnable look) throws Exception {
        Thread.ofVirtual().name("named").start(look).join();
        Thread.startVirtualThread(look).join();
        Thread t = Thread.ofVirtual().inheritInheritableThreadLocals(false).factory().newThread(look);
        t.start();
        t.join();
        t = Thread.ofVirtual().name("n-", 0).unstarted(look);
        t.start();
        t.join();
        try (ExecutorService e = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> f = e.submit(look);
            Object _ = f.get();
        }
        try (ExecutorService e = Executors.newThreadPerTaskExecutor(Thread.ofVirtual().factory())) {
            for (Future<Object> f : e.invokeAll(List.<Callable<Object>>of(Executors.callable(look)))) {
                Object _ = f.get();
            }
        }
        return 6;
    }

    /** Every timed wait ends in time and not before; untimed ones when they are ended. */
    private static Object waits() throws Exception {
        long millis = 30;
        Object monitor = new Object();
        ReentrantLock lock = new ReentrantLock();
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>();
        SynchronousQueue<Integer> hand = new SynchronousQueue<>();
        List<Callable<?>> all = List.of(
                () -> {
                    Thread.sleep(millis);
                    return null;
                }, () -> {
                    long end = System.nanoTime() + millis * 1_000_000;
                    while (System.nanoTime() < end) {
                        LockSupport.parkNanos(end - System.nanoTime());
                    }
                    return null;
                }, () -> {
                    synchronized (monitor) {
                        monitor.wait(millis);
                    }
                    return null;
                },
                () -> lock.tryLock(millis, TimeUnit.MILLISECONDS) ? "locked" : null,
                () -> queue.poll(millis, TimeUnit.MILLISECONDS),
                () -> hand.poll(millis, TimeUnit.MILLISECONDS),
                () -> new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS) ? "open" : null);
        lock.lock();
        int good = 0;
        try (ExecutorService e = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Boolean>> ends = new ArrayList<>();
            for (int round = 0; round < 50; round++) {
                for (Callable<?> wait : all) {
                    ends.add(e.submit(() -> {
                        long start = System.nanoTime();
                        Object got = wait.call();
                        return got == null && System.nanoTime() - start >= millis * 1_000_000 && Go.inGoroutine();
                    }));
                }
            }
            for (Future<Boolean> f : ends) {
                good += f.get() ? 1 : 0;
            }
            Future<Integer> taken = e.submit(hand::take);
            hand.put(7);
            good += taken.get();
        } finally {
            lock.unlock();
        }
        return good;
    }

    /** Two threads that yield to each other on one P. */
    private static Object yields() throws Exception {
        StringBuffer b = new StringBuffer();
        CountDownLatch both = new CountDownLatch(2);
        Thread[] ts = new Thread[2];
        for (int i = 0; i < 2; i++) {
            char name = (char) ('a' + i);
            ts[i] = Thread.ofVirtual().start(() -> {
                both.countDown();
                while (both.getCount() != 0) {
                    Thread.yield();
                }
                for (int k = 0; k < 4; k++) {
                    b.append(name);
                    Thread.yield();
                }
            });
        }
        for (Thread t : ts) {
            t.join();
        }
        return isInTurns(b) ? "in turns" : b;
    }

    /** Returns whether no thread was ever more than two turns ahead. One has two turns where a 61st slice takes from the global queue. */
    private static boolean isInTurns(CharSequence turns) {
        int ahead = 0;
        for (int i = 0; i < turns.length(); i++) {
            ahead += turns.charAt(i) == 'a' ? 1 : -1;
            if (Math.abs(ahead) > 2) {
                return false;
            }
        }
        return turns.length() == 8;
    }

    private static Object interrupts() throws Exception {
        CountDownLatch ended = new CountDownLatch(100);
        List<Thread> ts = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            ts.add(Thread.ofVirtual().start(() -> {
                try {
                    Thread.sleep(Duration.ofDays(1));
                } catch (InterruptedException e) {
                    ended.countDown();
                }
            }));
        }
        for (Thread t : ts) {
            t.interrupt();
        }
        ended.await();
        for (Thread t : ts) {
            t.join();
        }
        return ts.stream().filter(t -> t.getState() == Thread.State.TERMINATED).count();
    }

    /** Threads of another scheduler, and those that its goroutines start, stay with it. */
    private static Object others() throws Exception {
        List<String> homes = new ArrayList<>();
        try (Gmp other = Gmp.builder().procs(1).build()) {
            Object its = other.call(() -> GStack.current().scheduler());
            Thread before = Thread.ofVirtual().unstarted(() -> homes.add("its " + (GStack.current().scheduler() == its)));
            Thread ofFactory = other.threadFactory().newThread(() -> homes.add("its " + (GStack.current().scheduler() == its)));
            ofFactory.start();
            ofFactory.join();
            other.run(() -> {
                Thread child = Thread.startVirtualThread(() -> homes.add("its " + (GStack.current().scheduler() == its)));
                join(child);
                before.start(); // Made by a platform thread: the default's.
                join(before);
            });
        }
        return homes;
    }

    private static void join(Thread t) {
        try {
            t.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A server and a client of the JDK's, whose threads are all virtual. */
    private static Object http() throws Exception {
        AtomicInteger in = new AtomicInteger();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            in.addAndGet(Go.inGoroutine() ? 1 : 0);
            byte[] body = exchange.getRequestBody().readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        int right = 0;
        try (ExecutorService e = Executors.newVirtualThreadPerTaskExecutor();
                HttpClient client = HttpClient.newBuilder().executor(e).build()) {
            server.setExecutor(e);
            server.start();
            URI uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
            List<Future<Boolean>> answers = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                String body = "request " + i;
                answers.add(e.submit(() -> client.send(HttpRequest.newBuilder(uri)
                        .POST(HttpRequest.BodyPublishers.ofString(body)).build(), HttpResponse.BodyHandlers.ofString()).body()
                        .equals(body) && Go.inGoroutine()));
            }
            for (Future<Boolean> f : answers) {
                right += f.get() ? 1 : 0;
            }
            server.stop(0);
        }
        long pools = Thread.getAllStackTraces().keySet().stream()
                .filter(t -> t.getName().matches("ForkJoinPool-[0-9]+-worker-[0-9]+") && !carriesPoller(t)).count();
        return right + " " + in + " " + pools + " " + Gmp.makeDefault().numGoroutine();
    }

    /** The JDK's own pool has threads for its socket pollers, and for nothing else. */
    private static boolean carriesPoller(Thread t) {
        return t.getClass().getName().equals("jdk.internal.misc.CarrierThread");
    }

    /** The JDK's text of a thread; Go's of a goroutine that has none; and whatever handler there is. */
    private static Object uncaught() throws Exception {
        Thread.ofVirtual().name("unlucky").start(() -> {
            throw new IllegalStateException("of a thread");
        }).join();
        Gmp gmp = Gmp.makeDefault();
        CountDownLatch done = new CountDownLatch(1);
        gmp.go(() -> {
            Go.defer(done::countDown);
            throw new IllegalStateException("of a goroutine");
        });
        done.await();
        List<String> told = new ArrayList<>();
        Thread.setDefaultUncaughtExceptionHandler((t, e) -> told.add(t.getName() + " " + e.getMessage()));
        Thread.ofVirtual().name("second").start(() -> {
            throw new IllegalStateException("told");
        }).join();
        while (gmp.numGoroutine() != 0) {
            Thread.onSpinWait(); // The text of the first comes after its deferred work.
        }
        return told;
    }

    private static Object settings() {
        Config c = config();
        return c.procs() + " " + c.spinNanos() + " " + c.quantumNanos() + " " + c.placement().sets() + " " + c.debug().stall() + " "
                + c.debug().schedtrace();
    }

    private static Config config() {
        List<Config> config = new ArrayList<>();
        Gmp.makeDefault().run(() -> config.add(GStack.current().scheduler().config));
        return config.getFirst();
    }

    private static Object close() {
        Gmp gmp = Gmp.makeDefault();
        List<Object> seen = new ArrayList<>();
        seen.add(gmp == Gmp.makeDefault());
        try {
            gmp.close();
        } catch (IllegalStateException e) {
            seen.add(e.getMessage());
        }
        try {
            String _ = gmp.close(Duration.ZERO);
        } catch (IllegalStateException e) {
            seen.add(e.getMessage());
        }
        seen.add(gmp.numGoroutine());
        return seen;
    }

    /** A virtual thread ends the process; others still work in a hook. */
    private static Object exits() throws Exception {
        CountDownLatch hook = new CountDownLatch(1);
        CountDownLatch worked = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            hook.countDown();
            try {
                worked.await();
                Thread.startVirtualThread(() -> System.out.println("started in the hook")).join();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }));
        Thread.startVirtualThread(() -> {
            try {
                hook.await();
                System.out.println("worked in the hook");
                worked.countDown();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        Thread.startVirtualThread(() -> System.exit(7));
        Thread.currentThread().join();
        return null;
    }

    /** Threads that wait, run and are pinned do not keep the process. */
    private static Object returns() throws Exception {
        CountDownLatch begun = new CountDownLatch(3);
        Thread.startVirtualThread(() -> {
            begun.countDown();
            LockSupport.park();
        });
        Thread.startVirtualThread(() -> {
            begun.countDown();
            while (true) {
                Thread.onSpinWait();
            }
        });
        Thread.startVirtualThread(() -> org.gmp4j.testing.PinningCall.run(() -> {
            begun.countDown();
            LockSupport.park();
        }));
        begun.await();
        return "";
    }

    /** Waits for SIGTERM, and shows which threads are there then. */
    private static Object term() throws Exception {
        Map<Thread, String> names = Map.of();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook " + names.size())));
        Thread.startVirtualThread(() -> {
            boolean sent = ProcessHandle.current().pid() > 0;
            try {
                Process kill = new ProcessBuilder("kill", "-TERM", String.valueOf(ProcessHandle.current().pid())).start();
                sent &= kill.waitFor() == 0;
            } catch (java.io.IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
            System.out.println("sent " + sent);
        }).join();
        Thread.currentThread().join();
        return null;
    }
}
