// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import org.gmp4j.Chan;
import org.gmp4j.Gmp;
import org.gmp4j.Go;
import org.gmp4j.sync.WaitGroup;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What P is for: the same work with run queues per P and with one queue under one lock for all Ms ({@code gmp.model=gm}),
 * by the number of Ms that work at a time. Wall time for one operation of all; with as many CPUs as Ms it should fall.
 */
@Warmup(iterations = 4, time = 1)
public class ModelBench extends GmpBench {
    private static final int OPS = 480_000;
    private static final int BATCH = 100;

    /** GOMAXPROCS. */
    @Param({"1", "2", "4", "8", "16"})
    public int procs;

    @Override
    Gmp.Builder settings() {
        return Gmp.builder().procs(procs);
    }

    /** Goroutines that start, run and end, from as many spawners as Ps; a queue for each P. */
    @Benchmark
    @Fork(1)
    @OperationsPerInvocation(OPS)
    public void spawnGMP() {
        everyP(this::spawn);
    }

    /** The same from one queue. */
    @Benchmark
    @Fork(value = 1, jvmArgsAppend = "-Dgmp.model=gm")
    @OperationsPerInvocation(OPS)
    public void spawnGM() {
        everyP(this::spawn);
    }

    /** Round trips through two unbuffered channels, as many pairs as Ps; a queue for each P. */
    @Benchmark
    @Fork(1)
    @OperationsPerInvocation(OPS)
    public void passGMP() {
        everyP(this::pass);
    }

    /** The same from one queue. */
    @Benchmark
    @Fork(value = 1, jvmArgsAppend = "-Dgmp.model=gm")
    @OperationsPerInvocation(OPS)
    public void passGM() {
        everyP(this::pass);
    }

    private void everyP(Runnable share) {
        gmp.run(() -> {
            WaitGroup all = new WaitGroup();
            for (int i = 0; i < procs; i++) {
                all.go(share);
            }
            all.await();
        });
    }

    private void spawn() {
        for (int left = OPS / procs; left > 0; left -= BATCH) {
            WaitGroup batch = new WaitGroup();
            batch.add(BATCH);
            for (int i = 0; i < BATCH; i++) {
                Go.go(batch::done);
            }
            batch.await();
        }
    }

    private void pass() {
        Chan<Boolean> to = Chan.make();
        Chan<Boolean> fro = Chan.make();
        int rounds = OPS / procs;
        Go.go(() -> {
            for (int i = 0; i < rounds; i++) {
                fro.send(to.recv());
            }
        });
        for (int i = 0; i < rounds; i++) {
            to.send(true);
            boolean _ = fro.recv();
        }
    }
}
