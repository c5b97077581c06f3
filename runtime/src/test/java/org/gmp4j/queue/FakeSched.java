// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import java.util.HashMap;
import java.util.Map;

import org.gmp4j.ffi.Memory;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;

/** The structs of a scheduler without the scheduler: without Ms, so the Gs never run. */
final class FakeSched implements AutoCloseable {
    private static final int MASK_BYTES = 4096;

    final long sched = Mem.alloc(Struct.SCHEDT, 1);
    final long[] ps;
    private final GSlots slots = new GSlots(this);
    private final Map<Long, Integer> names = new HashMap<>();

    FakeSched(int procs) {
        Schedt.GOMAXPROCS.setOpaque(sched, procs);
        Schedt.IDLEPMASK.setRelease(sched, Memory.map(MASK_BYTES));
        Schedt.TIMERPMASK.setRelease(sched, Memory.map(MASK_BYTES));
        ps = new long[procs];
        for (int i = 0; i < procs; i++) {
            ps[i] = Mem.alloc(Struct.P, 1);
            P.ID.set(ps[i], i);
            PStatus.set(ps[i], PStatus.PRUNNING);
        }
    }

    /** A dead G. */
    long dead() {
        long gp = slots.malg();
        names.put(gp, names.size());
        return gp;
    }

    /** A runnable G that is in no queue. */
    long runnable() {
        long gp = dead();
        G.PREEMPT.setOpaque(gp, 0);
        GStatus.casgstatus(gp, GStatus.GDEAD, GStatus.GRUNNABLE);
        return gp;
    }

    /** How many-th of this scheduler a G is, for messages; -1 for none. */
    int name(long gp) {
        return names.getOrDefault(gp & ~Runq.INHERIT, -1);
    }

    @Override
    public void close() {
        for (long gp : names.keySet()) {
            if (GStatus.readgstatus(gp) == GStatus.GRUNNABLE) {
                GStatus.casgstatus(gp, GStatus.GRUNNABLE, GStatus.GRUNNING);
                GStatus.casgstatus(gp, GStatus.GRUNNING, GStatus.GDEAD);
            }
        }
        slots.release();
        for (long pp : ps) {
            Mem.recycle(Struct.P, pp);
        }
        Memory.unmap(Schedt.IDLEPMASK.getAcquire(sched), MASK_BYTES);
        Memory.unmap(Schedt.TIMERPMASK.getAcquire(sched), MASK_BYTES);
        Mem.recycle(Struct.SCHEDT, sched);
    }
}
