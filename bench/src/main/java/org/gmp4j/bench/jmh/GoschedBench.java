// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import org.gmp4j.Go;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/** One switch: two goroutines on one P that let each other run. For regressions; with {@code -prof gc} for garbage. */
public class GoschedBench extends GmpBench {
    private static final int SWITCHES = 500_000;

    private final BareSwitch bare = new BareSwitch();

    /** Half of the switches each. */
    @Benchmark
    @OperationsPerInvocation(SWITCHES)
    public void gosched() {
        gmp.run(() -> {
            Go.go(GoschedBench::half);
            half();
        });
    }

    private static void half() {
        for (int i = 0; i < SWITCHES / 2; i++) {
            Go.gosched();
        }
    }

    /** What the JDK takes of it. */
    @Benchmark
    @OperationsPerInvocation(SWITCHES)
    public void floorSwitch() {
        bare.run(SWITCHES);
    }
}
