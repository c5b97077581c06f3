// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.ArrayDeque;

import org.gmp4j.Go;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/** The life of an empty goroutine, spawn, run and exit, on one P and in batches that fit its ring. For regressions. */
public class SpawnBench extends GmpBench {
    private static final int BATCH = 200;
    private static final int SPAWNS = 1_000_000;

    private final Runnable count = this::count;
    private int ran;

    /** Spawns a batch, lets it run, and so on. */
    @Benchmark
    @OperationsPerInvocation(SPAWNS)
    public void spawn() {
        gmp.run(() -> {
            ran = 0;
            for (int spawned = 0; spawned < SPAWNS; spawned += BATCH) {
                for (int i = 0; i < BATCH; i++) {
                    Go.go(count);
                }
                Go.gosched();
            }
            while (ran < SPAWNS) { // One P: all of this runs on one thread.
                Go.gosched();
            }
        });
    }

    /** The same without goroutines: functions in a queue, run by a loop. */
    @Benchmark
    @OperationsPerInvocation(SPAWNS)
    public void floorQueue() {
        ArrayDeque<Runnable> queue = new ArrayDeque<>(BATCH);
        for (int spawned = 0; spawned < SPAWNS; spawned += BATCH) {
            for (int i = 0; i < BATCH; i++) {
                queue.add(count);
            }
            for (int i = 0; i < BATCH; i++) {
                queue.poll().run();
            }
        }
    }

    private void count() {
        ran++;
    }
}
