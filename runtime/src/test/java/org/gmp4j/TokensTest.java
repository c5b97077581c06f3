// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicLong;

import org.gmp4j.sync.WaitGroup;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.TestGmp;
import org.junit.jupiter.api.Tag;

/** Thousands of goroutines pass tokens through channels on 1, 2 and 8 Ps; with rings of 4 slots too. */
@Tag("ring")
class TokensTest {
    private static final int SOME = 20_000;
    private static final int MANY = 100_000;

    @Stress
    void onOneP() {
        tokens(1, SOME);
    }

    @Stress
    void onTwoPs() {
        tokens(2, SOME);
    }

    @Stress
    void onEightPs() {
        tokens(8, SOME);
    }

    @Tag("long")
    @Stress
    void many() {
        tokens(1, MANY);
        tokens(2, MANY);
        tokens(8, MANY);
    }

    private static void tokens(int procs, int goroutines) {
        chain(procs, goroutines);
        ring(procs, goroutines);
    }

    /** One token through all of them, which each adds 1 to. */
    private static void chain(int procs, int goroutines) {
        try (TestGmp gmp = TestGmp.procs(procs)) {
            assertEquals(goroutines, gmp.call(() -> {
                Chan<Integer> first = Chan.make();
                Chan<Integer> left = first;
                for (int i = 0; i < goroutines; i++) {
                    Chan<Integer> in = left;
                    Chan<Integer> out = Chan.make();
                    Go.go(() -> out.send(in.recv() + 1));
                    left = out;
                }
                first.send(0);
                return left.recv();
            }));
            gmp.check();
        }
    }

    /** Rings of 100 with 50 tokens in each going round at once. */
    private static void ring(int procs, int goroutines) {
        int members = 100;
        int rings = goroutines / members;
        int laps = 3;
        AtomicLong sum = new AtomicLong();
        try (TestGmp gmp = TestGmp.procs(procs)) {
            gmp.run(() -> {
                WaitGroup wg = new WaitGroup();
                for (int r = 0; r < rings; r++) {
                    Chan<long[]> first = Chan.make(1);
                    Chan<long[]> left = first;
                    for (int i = 0; i < members; i++) {
                        Chan<long[]> in = left;
                        Chan<long[]> out = i == members - 1 ? first : Chan.make(i % 2);
                        boolean last = i == members - 1;
                        wg.go(() -> pass(in, out, last ? sum : null));
                        left = out;
                    }
                    first.send(new long[] {laps * members, 0});
                }
                wg.await();
            });
            gmp.check();
        }
        assertEquals((long) rings * laps * members, sum.get());
    }

    /** A token is the hops it has to go and those it went; one that is used up ends the ring. */
    private static void pass(Chan<long[]> in, Chan<long[]> out, AtomicLong sum) {
        for (long[] token = in.recv(); token != null; token = in.recv()) {
            if (token[0] == 0) {
                out.close();
                return;
            }
            token[0]--;
            token[1]++;
            if (sum != null && token[0] == 0) {
                sum.addAndGet(token[1]);
            }
            out.send(token);
        }
        try {
            out.close();
        } catch (IllegalStateException closed) {
            return; // All the way round.
        }
    }
}
