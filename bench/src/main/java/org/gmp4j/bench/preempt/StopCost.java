// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.HdrHistogram.Histogram;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sync.WaitGroup;

/** Stopping the world with 8 busy Ps, and starting it again, from a thread that is no goroutine. */
final class StopCost {
    private static final int PROCS = 8;
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(2);

    private static volatile boolean stop;
    private static volatile long sink;

    private StopCost() {
    }

    /** Prints all lines of the figure. */
    public static void main(String[] args) {
        System.out.println("to stop the world, and with starting it, %d Ps, %d CPUs".formatted(
                PROCS, Runtime.getRuntime().availableProcessors()));
        measure("goroutines that loop", StopCost::loop);
        measure("goroutines that call gosched", StopCost::yield);
        measure("goroutines that sleep in native calls", () -> {
            while (!stop) {
                Native.usleep(1000);
            }
        });
    }

    private static void measure(String name, Runnable busy) {
        Histogram toStop = Child.histogram();
        Histogram both = Child.histogram();
        stop = false;
        try (Gmp gmp = Gmp.builder().procs(PROCS).build()) {
            WaitGroup done = new WaitGroup();
            gmp.run(() -> {
                for (int i = 0; i < 2 * PROCS; i++) {
                    done.go(busy);
                }
            });
            Scheduler s = gmp.call(() -> GStack.current().scheduler());
            stops(s, Child.nanos() / 4, Child.histogram(), Child.histogram());
            stops(s, Child.nanos(), toStop, both);
            stop = true;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        System.out.println(Child.line(name, toStop));
        System.out.println(Child.line("  and started", both));
    }

    private static void stops(Scheduler s, long nanos, Histogram toStop, Histogram both) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            LockSupport.parkNanos(PAUSE);
            long start = System.nanoTime();
            StopTheWorld.withWorldStopped(s, () -> toStop.recordValue(System.nanoTime() - start));
            both.recordValue(System.nanoTime() - start);
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
