// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;

/** Stopping and starting the world with 8 busy Ps, from a thread that is no goroutine. */
final class StopCost {
    private static final int PROCS = 8;
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(2);

    private static volatile boolean stop;
    private static volatile long sink;

    private StopCost() {}

    /** All lines. */
    public static void main(String[] args) {
        System.out.println("stop and start the world, 8 Ps, %d CPUs".formatted(Runtime.getRuntime().availableProcessors()));
        measure("goroutines that loop", StopCost::loop);
        measure("goroutines that call gosched", StopCost::yield);
        measure("goroutines that sleep in native calls", () -> {
            while (!stop) {
                Ticker.usleep(1000);
            }
        });
    }

    private static void measure(String name, Runnable busy) {
        Histogram h = Child.histogram();
        stop = false;
        try (Gmp gmp = Gmp.builder().procs(PROCS).build()) {
            WaitGroup done = new WaitGroup();
            gmp.run(() -> {
                for (int i = 0; i < 2 * PROCS; i++) {
                    done.go(busy);
                }
            });
            stops(gmp, Child.nanos() / 4, Child.histogram());
            stops(gmp, Child.nanos(), h);
            stop = true;
        }
        System.out.println(Child.line(name, h));
    }

    private static void stops(Gmp gmp, long nanos, Histogram h) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(PAUSE);
            long start = System.nanoTime();
            int unused = gmp.setProcs(PROCS);
            h.recordValue(System.nanoTime() - start);
        }
    }

    private static void loop() {
        long n = 0;
        while (!stop) {
            n++;
        }
        sink = n;
    }

    private static void yield() {
        while (!stop) {
            Go.gosched();
        }
    }
}
