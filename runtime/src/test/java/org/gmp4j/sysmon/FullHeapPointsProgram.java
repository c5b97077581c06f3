// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.agent.PointLoader;
import org.gmp4j.agent.Points;
import org.gmp4j.sched.Ballast;

/**
 * The heap is full when a goroutine first overruns its quantum in code with points, and for a while thereafter, and then again and
 * again. Sysmon lives, and once there is memory points are used as ever.
 */
final class FullHeapPointsProgram {
    private static final int HOGS = 2;
    private static final int WARM_CALLS = 20_000;
    private static final long ROUNDS = 1_000_000;
    private static final long FIRST_NANOS = 60_000_000;
    private static final long NEXT_NANOS = 10_000_000;
    private static final int TIMES = 10;
    private static final long PATIENCE_SECONDS = 30;
    private static volatile boolean full;
    private static volatile boolean stop;
    private static volatile long sink;

    private FullHeapPointsProgram() {
    }

    /** The program runs a copy with points. */
    public static final class Loop implements LongUnaryOperator {
        @Override
        public long applyAsLong(long n) {
            long h = n;
            for (long i = 0; i < n; i++) {
                h = h * 6_364_136_223_846_793_005L + (h >>> 7);
            }
            return h;
        }
    }

    public static void main(String[] args) throws Exception {
        LongUnaryOperator loop = (LongUnaryOperator) PointLoader.ofCopy(Loop.class).loadClass(Loop.class.getName())
                .getConstructor().newInstance();
        for (int i = 0; i < WARM_CALLS; i++) {
            sink += loop.applyAsLong(i & 0xff);
        }
        Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).build();
        CountDownLatch ended = new CountDownLatch(HOGS);
        for (int i = 0; i < HOGS; i++) {
            gmp.go(() -> {
                while (!full) {
                    yieldOnce();
                }
                while (!stop) {
                    call(loop);
                }
                ended.countDown();
            });
        }
        spin(FIRST_NANOS); // They run.
        Ballast.fill();
        full = true;
        spin(FIRST_NANOS);
        for (int i = 0; i < TIMES; i++) {
            Ballast.drop();
            spin(NEXT_NANOS);
            Ballast.fill();
            spin(NEXT_NANOS);
        }
        Ballast.drop();
        long before = Points.counters().reached();
        for (long end = System.nanoTime() + PATIENCE_SECONDS * 1_000_000_000; Points.counters().reached() == before
                && System.nanoTime() < end;) {
            Thread.sleep(1);
        }
        System.out.println("points " + (Points.counters().reached() > before ? "are reached" : "are not reached"));
        stop = true;
        System.out.println(ended.await(PATIENCE_SECONDS, TimeUnit.SECONDS) ? "ended" : "hangs");
        System.exit(0);
    }

    private static void yieldOnce() {
        try {
            Go.gosched();
        } catch (OutOfMemoryError e) {
            Thread.onSpinWait();
        }
    }

    private static void call(LongUnaryOperator loop) {
        try {
            sink += loop.applyAsLong(ROUNDS);
        } catch (OutOfMemoryError e) {
            Thread.onSpinWait(); // A point's: its goroutine was to park.
        }
    }

    /** Without an object. */
    private static void spin(long nanos) {
        for (long end = System.nanoTime() + nanos; System.nanoTime() < end;) {
            Thread.onSpinWait();
        }
    }
}
