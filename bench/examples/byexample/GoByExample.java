// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/byexample/GoByExample.java
// Programs such as newcomers to Go write first, one method each: what a page of a Go tutorial does in Go, done here.
// Import by name: java.util.concurrent has a Semaphore of its own, and java.util a Timer.
package byexample;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.Chan;
import org.gmp4j.ChanClosedException;
import org.gmp4j.Chans;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.RecvChan;
import org.gmp4j.Select;
import org.gmp4j.SendChan;
import org.gmp4j.context.Context;
import org.gmp4j.context.ContextException;
import org.gmp4j.sync.ErrGroup;
import org.gmp4j.sync.Mutex;
import org.gmp4j.sync.Once;
import org.gmp4j.sync.Semaphore;
import org.gmp4j.sync.SingleFlight;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;
import org.gmp4j.time.Timer;

public class GoByExample {
    private static final Duration SOON = Duration.ofMillis(5);
    private static final Duration LATER = Duration.ofMinutes(5);

    public static void main(String[] args) {
        Map<String, Callable<Boolean>> pages = new java.util.LinkedHashMap<>();
        pages.put("goroutines and wait groups", GoByExample::waitGroups);
        pages.put("channel directions", GoByExample::directions);
        pages.put("select, timeouts, non-blocking operations", GoByExample::timeouts);
        pages.put("closing channels and range", GoByExample::closing);
        pages.put("timers and tickers", GoByExample::timers);
        pages.put("worker pools", GoByExample::workerPools);
        pages.put("rate limiting", GoByExample::rateLimiting);
        pages.put("mutexes and atomic counters", GoByExample::counters);
        pages.put("stateful goroutines", GoByExample::stateful);
        pages.put("context", GoByExample::contexts);
        pages.put("pipelines and fan-in", GoByExample::pipelines);
        pages.put("error groups", GoByExample::errGroups);
        pages.put("semaphores, once, single flight", GoByExample::onceAndFew);
        pages.put("defer, panic, recover", GoByExample::defers);
        Gmp.main(() -> pages.forEach(GoByExample::page));
    }

    private static void page(String name, Callable<Boolean> program) {
        boolean right;
        try {
            right = program.call();
        } catch (Exception e) {
            throw new AssertionError(name, e);
        }
        System.out.printf("%s (%s)%n", name, right ? "right" : "WRONG");
        if (!right) {
            System.exit(1);
        }
    }

    private static boolean waitGroups() {
        WaitGroup wg = new WaitGroup();
        Chan<Integer> ids = Chan.make(5);
        for (int i = 1; i <= 5; i++) {
            int id = i;
            wg.go(() -> {
                Go.sleep(Duration.ofMillis(1));
                ids.send(id);
            });
        }
        wg.await();
        ids.close();
        return Chans.stream(ids).mapToInt(x -> x).sum() == 15;
    }

    /** One that only sends, and one that only receives: the compiler sees to it. */
    private static boolean directions() {
        Chan<String> pings = Chan.make(1);
        Chan<String> pongs = Chan.make(1);
        ping(pings, "passed message");
        pong(pings, pongs);
        return pongs.recv().equals("passed message");
    }

    private static void ping(SendChan<String> pings, String text) {
        pings.send(text);
    }

    private static void pong(RecvChan<String> pings, SendChan<String> pongs) {
        pongs.send(pings.recv());
    }

    private static boolean timeouts() {
        Chan<String> slow = Chan.make(1);
        Chan<String> quick = Chan.make(1);
        Go.go(() -> quick.send("result"));
        List<String> seen = new ArrayList<>();
        int first = Select.of().recv(slow, seen::add).timeout(SOON, () -> seen.add("timeout")).run();
        int second = Select.of().recv(slow, seen::add).recv(quick, seen::add).timeout(LATER, () -> seen.add("timeout")).run();
        int third = Select.of().recv(slow, seen::add).orElse(() -> seen.add("no message")).run();
        return first == Select.TIMEOUT && second == 1 && third == Select.DEFAULT
                && seen.equals(List.of("timeout", "result", "no message"));
    }

    private static boolean closing() {
        Chan<Integer> jobs = Chan.make(5);
        Chan<Integer> done = Chan.make();
        Go.go(() -> {
            int n = 0;
            for (int job : jobs) {
                n += job;
            }
            done.send(n);
        });
        for (int j = 1; j <= 3; j++) {
            jobs.send(j);
        }
        jobs.close();
        boolean all = done.recv() == 6;
        boolean more = jobs.recvOk().ok();
        try {
            jobs.send(4);
            return false;
        } catch (ChanClosedException e) {
            return all && !more && e.getMessage().equals("send on closed channel");
        }
    }

    private static boolean timers() {
        Timer never = Time.newTimer(LATER);
        boolean stopped = never.stop();
        int ticks = 0;
        try (Ticker t = Time.newTicker(Duration.ofMillis(1))) { // Stopped at the end of the block.
            for (; ticks < 3; ticks++) {
                if (t.c().recv() == null) {
                    return false;
                }
            }
        }
        return stopped && ticks == 3 && Time.after(SOON).recv() != null;
    }

    private static boolean workerPools() {
        Chan<Integer> jobs = Chan.make(100);
        Chan<Integer> results = Chan.make(100);
        WaitGroup workers = new WaitGroup();
        for (int w = 0; w < 3; w++) {
            workers.go(() -> jobs.forEach(j -> results.send(2 * j)));
        }
        for (int j = 1; j <= 50; j++) {
            jobs.send(j);
        }
        jobs.close();
        workers.await();
        results.close();
        return Chans.stream(results).mapToInt(x -> x).sum() == 50 * 51;
    }

    /** Three at once, then one each millisecond. */
    private static boolean rateLimiting() {
        Chan<Boolean> burst = Chan.make(3);
        for (int i = 0; i < 3; i++) {
            burst.send(true);
        }
        try (Ticker t = Time.newTicker(Duration.ofMillis(1)); Context ctx = Context.background().withCancel()) {
            Go.go(() -> {
                while (ctx.err() == null) {
                    if (Select.of().recv(t.c(), x -> { }).recv(ctx.done(), x -> { }).run() == 0) {
                        boolean _ = burst.trySend(true);
                    }
                }
            });
            long start = System.nanoTime();
            for (int request = 0; request < 8; request++) {
                burst.recv();
            }
            return System.nanoTime() - start >= 3_000_000; // Five waited, the first for less than a tick.
        }
    }

    private static boolean counters() {
        Mutex m = new Mutex();
        Map<String, Integer> counts = new HashMap<>();
        AtomicLong ops = new AtomicLong();
        WaitGroup wg = new WaitGroup();
        for (String name : List.of("a", "a", "b")) {
            wg.go(() -> {
                for (int i = 0; i < 1_000; i++) {
                    m.withLock(() -> counts.merge(name, 1, Integer::sum));
                    ops.incrementAndGet();
                }
            });
        }
        wg.await();
        return counts.equals(Map.of("a", 2_000, "b", 1_000)) && ops.get() == 3_000;
    }

    private record Read(int key, Chan<Integer> answer) {
    }

    private record Write(int key, int value, Chan<Boolean> answer) {
    }

    /** One goroutine has the state; others ask it. */
    private static boolean stateful() {
        Chan<Read> reads = Chan.make();
        Chan<Write> writes = Chan.make();
        Context ctx = Context.background().withCancel();
        Go.go(() -> {
            Map<Integer, Integer> state = new HashMap<>();
            Select next = Select.of().recv(reads, r -> r.answer.send(state.getOrDefault(r.key, 0))).recv(writes, w -> {
                state.put(w.key, w.value);
                w.answer.send(true);
            });
            try {
                while (true) {
                    next.runUnless(ctx);
                }
            } catch (ContextException over) {
                return;
            }
        });
        WaitGroup wg = new WaitGroup();
        for (int g = 0; g < 10; g++) {
            int key = g;
            wg.go(() -> {
                Chan<Boolean> written = Chan.make();
                for (int i = 0; i < 100; i++) {
                    writes.send(new Write(key, i, written));
                    written.recv();
                }
            });
        }
        wg.await();
        Chan<Integer> answer = Chan.make();
        reads.send(new Read(7, answer));
        int last = answer.recv();
        ctx.cancel();
        return last == 99;
    }

    private static final Context.Key<String> USER = Context.Key.of("user");

    private static boolean contexts() {
        Chan<String> reply = Chan.make();
        Context request = Context.background().withValue(USER, "gopher");
        try (Context ctx = request.withTimeout(SOON)) {
            reply.recvUnless(ctx); // Nobody replies.
            return false;
        } catch (ContextException.DeadlineExceeded late) {
            Context gone = request.withCancel();
            gone.cancel();
            try {
                Go.sleepUnless(gone, LATER);
                return false;
            } catch (ContextException.Canceled e) {
                return gone.value(USER).equals("gopher");
            }
        }
    }

    private static RecvChan<Integer> squares(RecvChan<Integer> in) {
        Chan<Integer> out = Chan.make();
        Go.go(() -> {
            in.forEach(n -> out.send(n * n));
            out.close();
        });
        return out;
    }

    private static boolean pipelines() {
        Chan<Integer> numbers = Chan.make();
        Go.go(() -> {
            for (int i = 1; i <= 100; i++) {
                numbers.send(i);
            }
            numbers.close();
        });
        RecvChan<Integer> all = Chans.merge(Go::go, Context.background(), List.of(squares(numbers), squares(numbers)));
        return Chans.stream(all).mapToInt(x -> x).sum() == 338_350;
    }

    private static boolean errGroups() throws Exception {
        ErrGroup g = ErrGroup.withContext(Context.background());
        g.setLimit(2);
        Exception why = new Exception("page not found");
        g.go(() -> {
            throw why;
        });
        g.go(() -> Go.sleepUnless(g.context(), LATER)); // Ended by the failure of the other.
        try {
            g.await();
            return false;
        } catch (Exception e) {
            return e == why && g.context().cause() == why;
        }
    }

    private static boolean onceAndFew() throws Exception {
        Once once = new Once();
        AtomicLong runs = new AtomicLong();
        Semaphore two = new Semaphore(2);
        AtomicLong inside = new AtomicLong();
        AtomicLong most = new AtomicLong();
        SingleFlight<String, Long> flight = new SingleFlight<>();
        WaitGroup wg = new WaitGroup();
        for (int i = 0; i < 20; i++) {
            wg.go(() -> {
                once.run(runs::incrementAndGet);
                two.acquire(1);
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                Go.gosched();
                inside.decrementAndGet();
                two.release(1);
            });
        }
        wg.await();
        return runs.get() == 1 && most.get() <= 2 && !two.acquireWithin(3, SOON) && flight.run("k", runs::get) == 1;
    }

    /** What is deferred runs when the goroutine ends, however it does; for the end of a block there is try and finally. */
    private static boolean defers() {
        List<String> order = new ArrayList<>();
        Chan<Boolean> over = Chan.make();
        Go.go(() -> {
            Go.defer(() -> over.send(true));
            Go.defer(() -> order.add("deferred"));
            try {
                throw new ArithmeticException("panic");
            } catch (ArithmeticException e) {
                order.add("recovered");
            }
            Go.goexit();
        });
        return over.recv() && order.equals(List.of("recovered", "deferred"));
    }
}
