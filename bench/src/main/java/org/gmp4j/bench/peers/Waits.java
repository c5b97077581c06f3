// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.peers;

import java.time.Duration;

import org.HdrHistogram.Histogram;
import org.gmp4j.bench.preempt.Native;

/** The works whose figures are percentiles of how long something waits. */
final class Waits {
    private static final long GAP = 200_000;
    private static final Duration SLEEP = Duration.ofNanos(50_000);
    private static final int BLOCK_MICROS = 2_000;

    /** Shorter, so that there are enough of them for the compiler. */
    private static final int WARM_UP_MICROS = 50;

    private static final long WATCH_MILLIS = 20;

    private static volatile boolean stop;
    private static volatile long took;
    private static volatile long turn;
    private static volatile long count;

    private Waits() {
    }

    /** Runs one; {@code false} if it is none of these. */
    static boolean run(String work, Kit kit, Meter m) {
        switch (work) {
            case "sleep" -> sleep(kit, m);
            case "wake" -> wake(kit, m);
            case "hogs" -> {
                hogs(1, kit, m);
                hogs(4, kit, m);
            }
            case "blocked" -> blocked(kit, m);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Measures how late a sleep of 50 µs returns. */
    private static void sleep(Kit kit, Meter m) {
        Histogram late = Meter.histogram();
        m.warmUp(nanos -> kit.run(() -> sleeps(kit, nanos, Meter.histogram())));
        kit.run(() -> sleeps(kit, m.settings().nanos(), late));
        m.percentiles("sleep", late, 50, 99);
    }

    private static void sleeps(Kit kit, long nanos, Histogram late) {
        long end = System.nanoTime() + nanos;
        long start;
        do {
            start = System.nanoTime();
            kit.sleep(SLEEP);
            late.recordValue(Math.max(0, System.nanoTime() - start - SLEEP.toNanos()));
        } while (start - end < 0);
    }

    /** Measures the time from a start to the first instruction, while the parent computes on, so that the other needs another CPU. */
    private static void wake(Kit kit, Meter m) {
        Histogram waits = Meter.histogram();
        m.warmUp(nanos -> { // Longer than others: a turn is long, and both CPUs are busy, so that the JIT has to wait.
            kit.run(() -> wakes(kit, 3 * nanos, 0, Meter.histogram()));
            kit.run(() -> wakes(kit, nanos / 4, GAP, Meter.histogram()));
        });
        kit.run(() -> wakes(kit, m.settings().nanos(), GAP, waits));
        m.percentiles("wake", waits, 50, 99);
    }

    private static void wakes(Kit kit, long nanos, long gap, Histogram waits) {
        long end = System.nanoTime() + nanos;
        long start;
        do {
            spin(gap);
            took = 0;
            start = System.nanoTime();
            long from = start;
            kit.go(() -> took = Math.max(1, System.nanoTime() - from));
            while (took == 0) {
                Thread.onSpinWait();
            }
            waits.recordValue(took);
        } while (start - end < 0);
    }

    private static void spin(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }

    /** Measures how long one that yields waits for its P beside hogs that do not yield. */
    private static void hogs(int hogs, Kit kit, Meter m) {
        String name = "hogs/" + hogs;
        Histogram turns = Meter.histogram();
        stop = false;
        turn = System.nanoTime();
        Thread watch = Thread.ofPlatform().daemon().start(() -> watch(m.settings().limitNanos()));
        kit.run(() -> {
            Kit.Latch all = kit.latch(hogs);
            for (int i = 0; i < hogs; i++) {
                kit.go(() -> {
                    hog();
                    all.done();
                });
            }
            turns(kit, m.settings().nanos() / 4, Meter.histogram());
            turns(kit, m.settings().nanos(), turns);
            stop = true;
            all.await();
        });
        try {
            watch.join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (turns.getTotalCount() == 0) {
            m.never(name + "/p50", "ns");
        } else {
            m.percentiles(name, turns, 50);
        }
    }

    /** Ends the hogs when no other goroutine has run for too long. */
    private static void watch(long limit) {
        while (!stop) {
            if (System.nanoTime() - turn > limit) {
                stop = true;
            }
            try {
                Thread.sleep(WATCH_MILLIS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private static void hog() {
        long n = 0;
        while (!stop) {
            n++;
        }
        count = n;
    }

    private static void turns(Kit kit, long nanos, Histogram turns) {
        long last = System.nanoTime();
        long end = last + nanos;
        while (last - end < 0) {
            turn = last;
            kit.yield();
            if (stop) {
                return;
            }
            long now = System.nanoTime();
            turns.recordValue(now - last);
            last = now;
        }
    }

    /** Measures the time from a call that blocks its thread for 2 ms, on 1 P, to the next one's start. */
    private static void blocked(Kit kit, Meter m) {
        Histogram waits = Meter.histogram();
        m.warmUp(nanos -> kit.run(() -> blocks(kit, nanos, WARM_UP_MICROS, Meter.histogram())));
        kit.run(() -> blocks(kit, m.settings().nanos(), BLOCK_MICROS, waits));
        m.percentiles("blocked", waits, 50, 99);
    }

    private static void blocks(Kit kit, long nanos, int micros, Histogram waits) {
        Runnable call = () -> Native.usleep(micros);
        long[] start = new long[1];
        long end = System.nanoTime() + nanos;
        do {
            Kit.Latch other = kit.latch(1);
            start[0] = System.nanoTime(); // The other may run at once, should this one's quantum end here.
            kit.go(() -> {
                waits.recordValue(Math.max(0, System.nanoTime() - start[0]));
                other.done();
            });
            start[0] = System.nanoTime();
            kit.blocking(call);
            other.await();
        } while (start[0] - end < 0);
    }
}
