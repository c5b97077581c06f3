// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;

import org.HdrHistogram.Histogram;
import org.gmp4j.Gmp;
import org.gmp4j.Go;

/** Gaps of a goroutine that ticks each millisecond on 1 P, beside one that does not yield. */
final class Ticker {
    private static final int BLOCK_MICROS = 50_000;
    private static final Map<String, Runnable> HOGS = new LinkedHashMap<>();
    private static volatile long sink;

    static {
        HOGS.put("nothing", () -> {});
        HOGS.put("for(;;);", Ticker::loop);
        HOGS.put("vectorised sum", Ticker::sums);
        HOGS.put("fib(50)", () -> sink = fib(50));
        HOGS.put("backtracking regex", Ticker::regex);
        HOGS.put("Thread.sleep in synchronized", Ticker::sleepLocked);
        HOGS.put("usleep(50 ms), native", Ticker::usleep);
    }

    private Ticker() {
    }

    /** Measures each hog in a JVM of its own, because most never end. */
    static void measure(Child child) throws IOException, InterruptedException {
        child.out().println("gaps of a 1 ms ticker on 1 P, quantum 10 ms, beside");
        for (String hog : HOGS.keySet()) {
            child.show(Ticker.class, hog);
        }
    }

    /** Prints one hog's line. */
    public static void main(String[] args) {
        Histogram gaps = Child.histogram();
        Gmp gmp = Gmp.builder().procs(1).build();
        gmp.run(() -> {
            tick(Child.nanos() / 4, Child.histogram());
            Go.go(HOGS.get(args[0]));
            Go.sleep(Duration.ofMillis(1));
            tick(Child.nanos(), gaps);
            System.out.println(Child.line(args[0], gaps));
            if (Boolean.getBoolean("gmp.bench.counters")) {
                System.out.println(org.gmp4j.agent.Points.counters() + " " + org.gmp4j.agent.Points.armed());
            }
            System.out.flush();
            Runtime.getRuntime().halt(0);
        });
    }

    private static void tick(long nanos, Histogram gaps) {
        long last = System.nanoTime();
        long end = last + nanos;
        while (last < end) {
            Go.sleep(Duration.ofMillis(1));
            long now = System.nanoTime();
            gaps.recordValue(now - last);
            last = now;
        }
    }

    private static void loop() {
        for (;;)
            ;
    }

    private static void sums() {
        int[] a = new int[1 << 16];
        for (long i = 0; ; i++) {
            int sum = 0;
            for (int x : a) {
                sum += x;
            }
            sink = sum;
        }
    }

    private static long fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    private static void regex() {
        Pattern p = Pattern.compile("(x+x+)+(y|z)");
        while (!p.matcher("x".repeat(40)).matches()) {
            sink++;
        }
    }

    private static void sleepLocked() {
        Object lock = new Object();
        for (;;) {
            synchronized (lock) {
                try {
                    Thread.sleep(50);
                } catch (InterruptedException e) {
                    return;
                }
            }
        }
    }

    private static void usleep() {
        for (;;) {
            Native.usleep(BLOCK_MICROS);
        }
    }
}
