// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/byexample/JavaPrograms.java
// The library as a Java programmer uses it: executors, futures, reactive streams, scopes. Kotlin is in Coroutines.kt.
package byexample;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;

import org.gmp4j.Chan;
import org.gmp4j.ChanSubscription;
import org.gmp4j.Chans;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Task;
import org.gmp4j.WaitInterruptedException;
import org.gmp4j.context.Context;
import org.gmp4j.sync.ErrGroup;

public class JavaPrograms {
    private static final Duration LATER = Duration.ofMinutes(5);

    public static void main(String[] args) throws Exception {
        try (Gmp gmp = Gmp.builder().build()) {
            page("structured concurrency", structured(gmp));
            page("an executor-based service", service(gmp));
            page("reactive streams", reactive(gmp));
            page("CompletableFuture", futures(gmp));
            page("tasks that are cancelled", cancelled(gmp));
        }
    }

    private static void page(String name, boolean right) {
        System.out.printf("%s (%s)%n", name, right ? "right" : "WRONG");
        if (!right) {
            System.exit(1);
        }
    }

    private record Page(String user, int orders) {
    }

    /** All parts, or the first failure and an end of all others; from a plain thread. Nothing outlives the method. */
    private static boolean structured(Gmp gmp) throws Exception {
        Page page = load(gmp, () -> 3);
        IllegalStateException down = new IllegalStateException("orders are down");
        try {
            load(gmp, () -> {
                throw down;
            });
            return false;
        } catch (IllegalStateException e) {
            return e == down && page.equals(new Page("gopher", 3));
        }
    }

    private static Page load(Gmp gmp, Callable<Integer> orders) throws Exception {
        ErrGroup g = ErrGroup.on(gmp, Context.background());
        String[] user = new String[1];
        int[] count = new int[1];
        g.go(() -> user[0] = "gopher");
        g.go(() -> count[0] = orders.call());
        g.await();
        return new Page(user[0], count[0]);
    }

    /** Requests through a queue, handlers on an executor that is shut down like any other, while some wait. */
    private static boolean service(Gmp gmp) throws Exception {
        ExecutorService handlers = gmp.newThreadPerTaskExecutor();
        Chan<String> requests = Chan.make(16);
        BlockingQueue<String> queue = Chans.queue(requests);
        Map<String, Integer> served = new ConcurrentHashMap<>();
        List<Future<Integer>> loops = new ArrayList<>();
        for (int h = 0; h < 4; h++) {
            loops.add(handlers.submit(() -> {
                int n = 0;
                for (String r : requests) {
                    served.merge(r, 1, Integer::sum);
                    n++;
                }
                return n;
            }));
        }
        for (int i = 0; i < 1_000; i++) {
            queue.put("request " + i % 10);
        }
        requests.close();
        int all = 0;
        for (Future<Integer> loop : loops) {
            all += loop.get();
        }
        Future<?> idle = handlers.submit(() -> Chan.make().recv());
        handlers.shutdownNow(); // Interrupts the one that waits for ever.
        boolean ended = handlers.awaitTermination(1, TimeUnit.MINUTES);
        try {
            idle.get();
            return false;
        } catch (ExecutionException e) { // The interrupt may have come before it began to wait, and ended that as well.
            return ended && all == 1_000 && served.get("request 7") == 100 && e.getCause() instanceof WaitInterruptedException;
        }
    }

    /** A publisher of the JDK into a channel, goroutines between, and a channel to a subscriber. */
    private static boolean reactive(Gmp gmp) {
        SubmissionPublisher<Integer> numbers = new SubmissionPublisher<>(gmp, 8);
        ChanSubscription<Integer> in = Chans.subscribe(numbers, 8);
        Chan<Integer> out = Chan.make();
        gmp.go(() -> {
            in.forEach(n -> out.send(2 * n));
            out.close();
        });
        gmp.go(() -> {
            for (int i = 1; i <= 1_000; i++) {
                numbers.submit(i);
            }
            numbers.close();
        });
        ChanSubscription<Integer> doubled = Chans.subscribe(Chans.publisher(gmp, out), 4);
        int sum = 0;
        for (int n : doubled) {
            sum += n;
        }
        return sum == 1_001_000;
    }

    /** Goroutines in the middle of stages, and stages on goroutines. */
    private static boolean futures(Gmp gmp) throws Exception {
        CompletableFuture<Integer> price = gmp.submit(() -> {
            Go.sleep(Duration.ofMillis(1));
            return 40;
        }).toCompletableFuture();
        CompletableFuture<Integer> tax = CompletableFuture.supplyAsync(() -> 2, gmp);
        return price.thenCombineAsync(tax, Integer::sum, gmp).thenApply(x -> "total " + x).get().equals("total 42");
    }

    private static boolean cancelled(Gmp gmp) {
        Chan<String> end = Chan.make(1);
        Chan<Boolean> begun = Chan.make();
        Task<Void> t = gmp.submit(() -> {
            begun.send(true);
            try {
                Go.sleep(LATER);
            } catch (WaitInterruptedException e) {
                end.send("told");
            }
            return null;
        });
        begun.recv();
        t.cancel();
        return t.isCancelled() && end.recv().equals("told");
    }
}
