// SPDX-License-Identifier: Apache-2.0
// ./gmp run bench/examples/RateLimiter.java [REQUESTS] [PER_SECOND] [BURST]
// A token bucket: a ticker puts a permit into a channel with room for BURST of them, and leaves it out when there is none.
// Workers take a permit for each request. No request is early, none is lost. On 1, 2 and 8 Ps.

import java.time.Duration;
import java.util.Arrays;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.Select;
import org.gmp4j.sync.WaitGroup;
import org.gmp4j.time.Ticker;
import org.gmp4j.time.Time;

public class RateLimiter {
    private static final int WORKERS = 4;

    public static void main(String[] args) {
        int requests = args.length > 0 ? Integer.parseInt(args[0]) : 500;
        int perSecond = args.length > 1 ? Integer.parseInt(args[1]) : 500;
        int burst = args.length > 2 ? Integer.parseInt(args[2]) : 10;
        Duration interval = Duration.ofSeconds(1).dividedBy(perSecond);
        for (int procs : new int[] {1, 2, 8}) {
            long[] served = new long[requests]; // When, in nanoseconds since the start.
            long start = System.nanoTime();
            try (Gmp gmp = Gmp.builder().procs(procs).build()) {
                gmp.run(() -> serve(interval, burst, served, start));
            }
            boolean right = right(served, interval.toNanos(), burst);
            System.out.printf("%d Ps: %,d requests at %,d a second, bursts of %d (%s), %.1f s%n", procs, requests, perSecond,
                    burst, right ? "right" : "WRONG", (System.nanoTime() - start) / 1e9);
            if (!right) {
                System.exit(1);
            }
        }
    }

    private static void serve(Duration interval, int burst, long[] served, long start) {
        Chan<Boolean> permits = Chan.make(burst);
        for (int i = 0; i < burst; i++) {
            permits.send(true);
        }
        Chan<Void> stop = Chan.make();
        Go.go(() -> refill(permits, interval, stop));
        Chan<Integer> requests = Chan.make();
        WaitGroup workers = new WaitGroup();
        for (int i = 0; i < WORKERS; i++) {
            workers.go(() -> {
                for (int request : requests) {
                    permits.recv();
                    served[request] = System.nanoTime() - start;
                }
            });
        }
        for (int i = 0; i < served.length; i++) {
            requests.send(i);
        }
        requests.close();
        workers.await();
        stop.close();
    }

    private static void refill(Chan<Boolean> permits, Duration interval, Chan<Void> stop) {
        Ticker ticker = Time.newTicker(interval);
        Go.defer(ticker::stop);
        Select next = Select.of().recv(ticker.c(), at -> permits.trySend(true)).recv(stop, x -> { });
        while (next.run() == 0) { }
    }

    /** The n-th request beyond the burst needs the n-th tick. */
    private static boolean right(long[] served, long interval, int burst) {
        Arrays.sort(served);
        boolean right = true;
        for (int i = 0; i < served.length; i++) {
            right &= served[i] > 0 && served[i] >= (i + 1 - burst) * interval;
        }
        return right;
    }
}
