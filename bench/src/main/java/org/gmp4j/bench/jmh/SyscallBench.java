// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.jmh;

import java.util.concurrent.Callable;

import org.gmp4j.Go;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Syscall;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Struct;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.TearDown;

/** A P is given up for a system call, and taken back, while no other M wants it. For regressions. */
public class SyscallBench extends GmpBench {
    private static final int CALLS = 1_000_000;

    private final Callable<Void> nothing = () -> null;
    private final GSlots slots = new GSlots(this);
    private final long gp = slots.malg();
    private final long pp = Mem.alloc(Struct.P, 1);

    /** The states that the floor begins with. */
    @Setup
    public void states() {
        GStatus.casgstatus(gp, GStatus.GDEAD, GStatus.GRUNNABLE);
        GStatus.casgstatus(gp, GStatus.GRUNNABLE, GStatus.GRUNNING);
        PStatus.set(pp, PStatus.PRUNNING);
    }

    /** Gives them back. */
    @TearDown
    public void release() {
        GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GDEAD);
        slots.release();
        Mem.recycle(Struct.P, pp);
    }

    /** entersyscall and exitsyscall. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void enterExit() {
        gmp.run(() -> {
            GStack st = GStack.current();
            for (int i = 0; i < CALLS; i++) {
                Syscall.enter(st);
                Syscall.exit(st);
            }
        });
    }

    /** Go.blocking of nothing. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void blocking() {
        gmp.run(() -> {
            try {
                for (int i = 0; i < CALLS; i++) {
                    Go.blocking(nothing);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** The locked operations of {@link #enterExit} alone: what others may see of it. */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void floorTransitions() {
        for (int i = 0; i < CALLS; i++) {
            GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GSYSCALL);
            PStatus.setVolatile(pp, PStatus.PSYSCALL);
            if (!PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PRUNNING)) {
                throw new IllegalStateException("nobody else knows this P");
            }
            GStatus.casgstatus(gp, GStatus.GSYSCALL, GStatus.GRUNNING);
        }
    }
}
