// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import org.gmp4j.Gmp;
import org.gmp4j.sync.Pool;
import org.gmp4j.sync.WaitGroup;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;

/** A pool's get and put, of one goroutine a P. For regressions; with {@code -prof gc} for garbage. */
public class PoolBench extends GmpBench {
    private static final int N = 1_000_000;

    /** How many Ps, and goroutines. */
    @Param({"1", "2"})
    int procs;

    private final Pool<Object> pool = new Pool<>(Object::new);

    @Override
    Gmp.Builder settings() {
        return Gmp.builder().procs(procs);
    }

    /** One object, got and put back. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void getPut() {
        each(() -> {
            for (int i = 0; i < N; i++) {
                pool.put(pool.get());
            }
        });
    }

    /** Four objects at a time. */
    @Benchmark
    @OperationsPerInvocation(N)
    public void fourAtATime() {
        each(() -> {
            Object[] mine = new Object[4];
            for (int i = 0; i < N / mine.length; i++) {
                for (int k = 0; k < mine.length; k++) {
                    mine[k] = pool.get();
                }
                for (Object o : mine) {
                    pool.put(o);
                }
            }
        });
    }

    private void each(Runnable body) {
        gmp.run(() -> {
            WaitGroup wg = new WaitGroup();
            for (int i = 0; i < procs; i++) {
                wg.go(body);
            }
            wg.await();
        });
    }
}
