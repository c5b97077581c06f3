// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.preempt;

import java.util.Locale;
import java.util.concurrent.Callable;

import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.bench.peers.Estimate;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Syscall;

/** The cost of giving the P up and taking it back when no other M wants it. */
final class SyscallCost {
    private static final int CALLS = 1_000_000;
    private static final int PARTS = 21;

    private SyscallCost() {
    }

    /** Prints all lines of the figure. */
    public static void main(String[] args) {
        System.out.println("system calls that nobody wants the P in");
        Callable<Void> nothing = () -> null;
        try (Gmp gmp = Gmp.builder().procs(1).build()) {
            measure(gmp, "entersyscall + exitsyscall", SyscallCost::enterAndExit);
            measure(gmp, "Go.blocking, empty", () -> blocking(nothing));
        }
    }

    private static void measure(Gmp gmp, String name, Runnable calls) {
        double[] nanos = new double[PARTS];
        gmp.run(() -> {
            for (int i = 0; i < 2 * PARTS; i++) {
                long start = System.nanoTime();
                calls.run();
                nanos[i % PARTS] = (System.nanoTime() - start) / (double) CALLS;
            }
        });
        System.out.println(String.format(Locale.ROOT, "  %-44s %.1f ns", name, Estimate.median(nanos)));
    }

    private static void enterAndExit() {
        GStack st = GStack.current();
        for (int i = 0; i < CALLS; i++) {
            Syscall.enter(st);
            Syscall.exit(st);
        }
    }

    private static void blocking(Callable<Void> nothing) {
        try {
            for (int i = 0; i < CALLS; i++) {
                Go.blocking(nothing);
            }
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
