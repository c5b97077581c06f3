// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay.programs;

import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Runq;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;

/** A scheduler's structs without its threads: Ps and Gs for the programs of the queues. */
final class Structs {
    final long sched = Mem.alloc(Struct.SCHEDT, 1);
    final long[] ps;
    final long[] gs;
    private final int[] seen;

    Structs(int procs, int goroutines) {
        ps = new long[procs];
        long allp = org.gmp4j.ffi.Memory.map((long) procs * Long.BYTES);
        for (int i = 0; i < procs; i++) {
            ps[i] = Mem.alloc(Struct.P, 1);
            P.ID.set(ps[i], i);
            PStatus.set(ps[i], PStatus.PRUNNING);
            PStat.setStolenFrom(ps[i], org.gmp4j.ffi.Memory.map((long) procs * Long.BYTES));
            Mem.LONG.set(allp + (long) i * Long.BYTES, ps[i]);
        }
        Schedt.GOMAXPROCS.setOpaque(sched, procs);
        Schedt.ALLP.setRelease(sched, allp);
        Schedt.IDLEPMASK.setRelease(sched, org.gmp4j.ffi.Memory.map(Long.BYTES));
        Schedt.TIMERPMASK.setRelease(sched, org.gmp4j.ffi.Memory.map(Long.BYTES));
        gs = new long[goroutines];
        seen = new int[goroutines];
        for (int i = 0; i < goroutines; i++) {
            gs[i] = Mem.alloc(Struct.G, 1);
            G.GOID.set(gs[i], i + 1);
            GStatus.casgstatus(gs[i], GStatus.GIDLE, GStatus.GDEAD);
            GStatus.casgstatus(gs[i], GStatus.GDEAD, GStatus.GRUNNABLE);
        }
    }

    /** Notes that a G was taken from a queue; 0 is none. Returns whether there was one. */
    boolean took(long pick) {
        long gp = pick & ~Runq.INHERIT;
        if (gp == 0) {
            return false;
        }
        for (int i = 0; i < gs.length; i++) {
            if (gs[i] == gp) {
                if (seen[i]++ != 0) {
                    throw new AssertionError("G" + (i + 1) + " was taken twice");
                }
                return true;
            }
        }
        throw new AssertionError("what was taken is no G");
    }

    /** Takes the Gs that are left in the queues. */
    void drain() {
        for (long pp : ps) {
            if (Runq.tail(pp) - Runq.head(pp) > Runq.LEN || Runq.tail(pp) - Runq.head(pp) < 0) {
                throw new AssertionError("R1: a ring holds " + (Runq.tail(pp) - Runq.head(pp)));
            }
            while (took(Runq.runqget(pp))) {
                continue;
            }
        }
        int counted = Schedt.RUNQSIZE.getOpaque(sched);
        int there = 0;
        for (; took(GlobalRunq.pop(sched)); there++) {
            continue;
        }
        if (there != counted) {
            throw new AssertionError("R7: the global queue counts " + counted + " Gs and has " + there);
        }
    }

    /** Checks that the first {@code n} Gs were each taken, and no other. */
    void all(int n) {
        for (int i = 0; i < gs.length; i++) {
            if (seen[i] != (i < n ? 1 : 0)) {
                throw new AssertionError("G" + (i + 1) + (i < n ? " is lost" : " was never queued"));
            }
        }
    }
}
