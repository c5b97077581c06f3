// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;

import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.testing.Stress;
import org.gmp4j.testing.Threads;

/** The fences of {@link Wakep}, step against step, on Ps without a scheduler. */
class WakepFenceTest {
    private static final int TRIALS = 200_000;
    private static final int COUNTS = 3_000_000;
    private static final int SPINS = 200;

    /** Lets two threads go at the same moment, within some ten nanoseconds when both have a CPU. */
    private static final class Gate {
        private final AtomicInteger[] arrived = {new AtomicInteger(), null, new AtomicInteger()};

        void pass(int side) {
            int n = arrived[2 * side].incrementAndGet();
            for (int i = 0; arrived[2 - 2 * side].get() < n; i++) {
                if (i < SPINS) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield();
                }
            }
        }
    }

    private static void pause(int n) {
        for (int i = 0; i < n; i++) {
            Thread.onSpinWait();
        }
    }

    /**
     * Dekker's pattern itself, on two Ps without a scheduler: one queues a G and looks for spinners, the only spinner stops
     * and looks for Gs. In each trial at least one of them sees the other.
     */
    private static void dekker(boolean batch) throws InterruptedException {
        long sched = Mem.alloc(Struct.SCHEDT, 1);
        long pp = Mem.alloc(Struct.P, 1);
        long idle = Mem.alloc(Struct.P, 1);
        long gp = Mem.alloc(Struct.G, 1);
        long masks = Memory.map(4096);
        P.ID.set(idle, 1);
        Schedt.IDLEPMASK.setRelease(sched, masks);
        Schedt.TIMERPMASK.setRelease(sched, masks + Mem.LINE);
        Gate begin = new Gate();
        Gate end = new Gate();
        boolean[] finds = new boolean[1];
        int[] missed = new int[1];
        LongConsumer put = batch ? q -> Runq.runqputbatch(sched, q, gp, 1) : q -> Runq.runqput(sched, q, gp, false);
        new Threads().add("submitter", () -> {
            for (int i = 0; i < TRIALS; i++) {
                begin.pass(0);
                pause(i % 5);
                put.accept(pp);
                boolean wakes = Schedt.nmspinningVolatile(sched) == 0 && Schedt.NPIDLE.getVolatile(sched) != 0;
                end.pass(0);
                missed[0] += wakes || finds[0] ? 0 : 1;
                long _ = Runq.runqget(pp);
            }
        }).add("spinner", () -> {
            for (int i = 0; i < TRIALS; i++) {
                long _ = Schedt.addSpinners(sched, Schedt.SPINS);
                PStatus.set(idle, PStatus.PIDLE);
                SchedLock.lock(sched);
                Idle.pidleput(sched, idle, 0);
                SchedLock.unlock(sched);
                begin.pass(1);
                pause(i / 5 % 3);
                Wakep.stopSpinning(sched);
                finds[0] = !Runq.runqempty(pp);
                end.pass(1);
                SchedLock.lock(sched);
                long same = Idle.pidleget(sched, 0);
                SchedLock.unlock(sched);
            }
        }).run();
        assertEquals(0, missed[0], "times the G waited while the P slept");
        Mem.recycle(Struct.G, gp);
        Mem.recycle(Struct.P, idle);
        Mem.recycle(Struct.P, pp);
        Mem.recycle(Struct.SCHEDT, sched);
        Memory.unmap(masks, 4096);
    }

    @Stress
    void submitAgainstSleep() throws InterruptedException {
        dekker(false);
    }

    @Stress
    void batchAgainstSleep() throws InterruptedException {
        dekker(true);
    }

    /** The count of spinners is exact however many threads change it at the same time. */
    @Stress
    void spinnersAreCounted() throws InterruptedException {
        long sched = Mem.alloc(Struct.SCHEDT, 1);
        new Threads().add(2, "spinner", () -> {
            for (int i = 0; i < COUNTS; i++) {
                long _ = Schedt.addSpinners(sched, Schedt.SPINS);
                Wakep.stopSpinning(sched);
            }
        }).run();
        assertEquals(0, Schedt.nmspinningVolatile(sched));
        Mem.recycle(Struct.SCHEDT, sched);
    }
}
