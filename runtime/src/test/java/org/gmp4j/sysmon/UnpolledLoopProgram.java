// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.agent.PointLoader;

/**
 * A goroutine that sleeps, on one P with another that calls a loop of more than a hundred milliseconds again and again: prints whether it
 * was kept waiting for half as long in each of the last calls. Arguments: none.
 */
final class UnpolledLoopProgram {
    private static final long ROUNDS = 100_000_000;
    private static final int WARM_CALLS = 20_000;
    private static final int CALLS = 6;
    private static final int FIRST_COUNTED = 3;
    private static volatile long sink;

    private UnpolledLoopProgram() {
    }

    /** A counted loop that C2 does not vectorise; the program runs a copy with points. */
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
        for (int i = 0; i < WARM_CALLS; i++) { // The loop compiled, not the one replaced while it ran.
            sink += loop.applyAsLong(i);
        }
        sink += loop.applyAsLong(ROUNDS);
        long began = System.nanoTime();
        sink += loop.applyAsLong(ROUNDS);
        long alone = System.nanoTime() - began;
        AtomicLong longest = new AtomicLong();
        long least = Long.MAX_VALUE;
        try (Gmp gmp = Gmp.builder().procs(1).quantum(Duration.ofMillis(1)).build()) {
            gmp.go(() -> {
                for (long last = System.nanoTime(); longest.get() >= 0;) {
                    Go.sleep(Duration.ofMillis(1));
                    long now = System.nanoTime();
                    long gap = now - last;
                    long _ = longest.getAndUpdate(l -> l < 0 ? l : Math.max(l, gap));
                    last = now;
                }
            });
            for (int i = 0; i < CALLS; i++) {
                gmp.run(() -> sink += loop.applyAsLong(ROUNDS));
                gmp.run(() -> Go.sleep(Duration.ofMillis(3))); // The other one too has seen its end.
                long gap = longest.getAndSet(0);
                least = i < FIRST_COUNTED ? least : Math.min(least, gap);
            }
            longest.set(-1);
        }
        System.out.println(least < alone / 2 ? "in time" : "kept waiting for " + least + " of " + alone + " ns");
        System.exit(0);
    }
}
