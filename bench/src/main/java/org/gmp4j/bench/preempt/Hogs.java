// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.time.Duration;
import java.util.Locale;
import java.util.stream.LongStream;

import org.HdrHistogram.Histogram;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;

/** A goroutine lets others go first, on 1 P with hogs: how long until its next turn, and what share each hog gets. */
final class Hogs {
    /** Counts further apart than a cache line. */
    private static final int STRIDE = 16;

    private static volatile boolean stop;

    private Hogs() {
    }

    /** Prints all lines of the figure. */
    public static void main(String[] args) {
        System.out.println("a turn on 1 P beside hogs (after gosched)");
        for (int millis : new int[] {10, 1}) {
            for (int hogs : new int[] {1, 4}) {
                turns(millis, hogs);
            }
        }
    }

    private static void turns(int millis, int hogs) {
        Histogram turns = Child.histogram();
        long[] counts = new long[(hogs + 2) * STRIDE];
        stop = false;
        try (Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(millis)).build()) {
            gmp.run(() -> {
                WaitGroup done = new WaitGroup();
                for (int i = 1; i <= hogs; i++) {
                    int at = i * STRIDE;
                    done.go(() -> hog(counts, at));
                }
                turns(Child.nanos() / 4, Child.histogram());
                long[] before = counts.clone();
                turns(Child.nanos(), turns);
                for (int i = 0; i < counts.length; i++) {
                    counts[i] -= before[i]; // The hogs wait: this goroutine has the P. What is left is their share.
                }
                shares(millis, hogs, turns, counts.clone());
                stop = true;
                done.await();
            });
        }
    }

    private static void shares(int millis, int hogs, Histogram turns, long[] counts) {
        double mean = LongStream.of(counts).sum() / (double) hogs;
        double off = 0;
        for (int i = 1; i <= hogs; i++) {
            off = Math.max(off, Math.abs(counts[i * STRIDE] / mean - 1));
        }
        System.out.println(Child.line("quantum %d ms, %d hog%s".formatted(millis, hogs, hogs == 1 ? "" : "s"), turns));
        System.out.println(String.format(Locale.ROOT, "  %-44s p50 %9.2f quanta a hog, shares within %.1f %%", "",
                turns.getValueAtPercentile(50) / (millis * 1e6 * hogs), off * 100));
    }

    private static void turns(long nanos, Histogram turns) {
        long last = System.nanoTime();
        long end = last + nanos;
        while (last < end) {
            Go.gosched();
            long now = System.nanoTime();
            turns.recordValue(now - last);
            last = now;
        }
    }

    private static void hog(long[] counts, int at) {
        while (!stop) {
            counts[at]++;
        }
    }
}
