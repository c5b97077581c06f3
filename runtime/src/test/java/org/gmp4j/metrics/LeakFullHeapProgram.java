// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.metrics;

import java.util.concurrent.CountDownLatch;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.sched.Ballast;

/** Looks for leaks with ever more memory, so that it runs out between any two steps. Then all goroutines go on. */
final class LeakFullHeapProgram {
    private static final int GOROUTINES = 4_000;
    /** A step is less than the numbers of those that might have leaked. */
    private static final int STEP = 24 << 10;
    private static final int MOST = 800 << 10;
    private static volatile Object left;

    private LeakFullHeapProgram() {
    }

    public static void main(String[] args) throws Exception {
        Gmp gmp = Gmp.builder().procs(1).build();
        Chan<Integer> c = Chan.make();
        CountDownLatch ended = new CountDownLatch(GOROUTINES);
        for (int i = 0; i < GOROUTINES; i++) {
            gmp.go(() -> {
                Integer _ = c.recv();
                ended.countDown();
            });
        }
        int leaks = gmp.leaks().total();
        int refused = 0;
        for (int room = 0; room < MOST; room += STEP) {
            left = new byte[room];
            Ballast.fill();
            left = null;
            try {
                leaks += gmp.leaks().total();
            } catch (OutOfMemoryError e) {
                refused++;
            } finally {
                Ballast.drop();
            }
        }
        c.close();
        ended.await();
        System.out.printf("leaks %d, refused %s, found %s%n", leaks, refused > 0, refused < MOST / STEP);
        gmp.close(); // No goroutine is left behind.
    }
}
