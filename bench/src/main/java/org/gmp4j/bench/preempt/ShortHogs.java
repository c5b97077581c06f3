// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;
import org.gmp4j.Gmp;
import org.gmp4j.Go;

/**
 * How late a goroutine is that sleeps for a millisecond again and again, on 1 P with time slices of 1 ms, beside others that need the
 * CPU for some milliseconds, each in a goroutine of its own, with pauses of three times their length. First what a virtual thread on
 * the JDK's scheduler has beside nothing.
 */
final class ShortHogs {
    private static final int[] MILLIS = {2, 5, 20, 50};
    private static final int CALIBRATIONS = 200;
    private static final long ROUNDS = 100_000;
    private static final String NOTHING = "nothing, the JDK's scheduler";
    private static final List<String> ONE_CARRIER =
            List.of("-Djdk.virtualThreadScheduler.parallelism=1", "-Djdk.virtualThreadScheduler.maxPoolSize=1");
    private static volatile long sink;
    private static volatile boolean stop;

    private ShortHogs() {
    }

    /** Measures each length in a JVM of its own. */
    static void measure(Child child) throws IOException, InterruptedException {
        child.out().println("lateness of a sleep of 1 ms on 1 P, quantum 1 ms, from the third second on, beside");
        child.show(ONE_CARRIER, ShortHogs.class, NOTHING);
        for (int millis : MILLIS) {
            child.show(ShortHogs.class, String.valueOf(millis));
        }
    }

    /** Prints one length's line, or that without hogs. */
    public static void main(String[] args) throws Exception {
        Histogram late = Child.histogram();
        if (args[0].equals(NOTHING)) {
            Thread.startVirtualThread(() -> ticks(late, Thread::sleep)).join();
            System.out.println(Child.line(args[0], late));
            return;
        }
        int millis = Integer.parseInt(args[0]);
        long perMilli = calibrate();
        try (Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).build()) {
            gmp.run(() -> {
                Go.go(() -> {
                    while (!stop) {
                        Go.go(() -> sink += work(perMilli * millis));
                        Go.sleep(Duration.ofMillis(4L * millis));
                    }
                });
                ticks(late, Go::sleep);
                stop = true;
            });
        }
        System.out.println(Child.line("hogs of " + millis + " ms", late));
    }

    /** Sleeps. */
    private interface Sleep {
        void sleep(Duration d) throws InterruptedException;
    }

    private static void ticks(Histogram late, Sleep sleep) {
        long start = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
        long end = start + Child.nanos();
        try {
            for (long before = System.nanoTime(); before < end;) {
                sleep.sleep(Duration.ofMillis(1));
                long now = System.nanoTime();
                if (before >= start) {
                    late.recordValue(Math.max(0, now - before - TimeUnit.MILLISECONDS.toNanos(1)));
                }
                before = now;
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns how many rounds of {@link #work} take a millisecond. */
    private static long calibrate() {
        for (int i = 0; i < CALIBRATIONS; i++) {
            sink += work(ROUNDS);
        }
        long start = System.nanoTime();
        for (int i = 0; i < CALIBRATIONS; i++) {
            sink += work(ROUNDS);
        }
        return TimeUnit.MILLISECONDS.toNanos(1) * CALIBRATIONS * ROUNDS / (System.nanoTime() - start);
    }

    private static long work(long rounds) {
        long h = rounds;
        for (long i = 0; i < rounds; i++) {
            h = h * 6364136223846793005L + 1442695040888963407L + (h >>> 7);
        }
        return h;
    }
}
