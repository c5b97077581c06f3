// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Park;
import org.gmp4j.struct.WaitReason;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/**
 * gopark and goready, what everything that waits is made of: two goroutines on one P, each readies the other and parks. For
 * regressions. {@code LockSupport}'s are in {@link ThreadBench}.
 *
 * <p>It cannot hang or find the other running: with one P one of the two runs only when the other has parked, and that one's
 * next step is to ready it.
 */
public class ParkBench extends GmpBench {
    private static final int SWITCHES = 500_000;

    private final BareSwitch bare = new BareSwitch();
    private long first;
    private long second;

    /** One goready and one gopark, and so one switch. */
    @Benchmark
    @OperationsPerInvocation(SWITCHES)
    public void parkReady() {
        gmp.run(() -> {
            GStack st = GStack.enter(); // It cannot be preempted before it has parked.
            first = st.gp();
            Go.go(this::second);
            for (int i = 0; i < SWITCHES / 2; i++) {
                st = park(st);
                Park.goready(second);
            }
            GStack.exit(st);
        });
    }

    private void second() {
        GStack st = GStack.enter();
        second = st.gp();
        for (int i = 0; i < SWITCHES / 2; i++) {
            Park.goready(first);
            st = park(st);
        }
        GStack.exit(st);
    }

    /** Leaves the runtime and enters it again, as between two calls of a channel, say. */
    private static GStack park(GStack st) {
        Park.gopark(st, null, null, WaitReason.FOREVER, 0);
        GStack.exit(st);
        return GStack.enter();
    }

    /** What the JDK takes of it. */
    @Benchmark
    @OperationsPerInvocation(SWITCHES)
    public void floorSwitch() {
        bare.run(SWITCHES);
    }
}
