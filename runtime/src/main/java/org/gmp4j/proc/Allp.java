package org.gmp4j.proc;

import java.util.Arrays;

import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.gmp.p;
import org.gmp4j.queue.Idle;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/** {@code allp}: the Ps that ever were, by id, with {@code idlepMask} and {@code timerpMask}. It never gets shorter. */
final class Allp {
    private final long sched;
    private final Timers timers;
    /** Written by {@link #grow}, in a stopped world; read by all. */
    private volatile Processor[] procs = new Processor[0];
    /** Arrays that were replaced: addresses and lengths in turn. Written like procs. */
    private long[] replaced = new long[0];

    Allp(long sched, Timers timers) {
        this.sched = sched;
        this.timers = timers;
    }

    /** Their Java sides. */
    Processor[] procs() {
        return procs;
    }

    /** Makes allp and the masks long enough; world stopped. */
    void grow(int n) {
        Processor[] old = procs;
        if (n <= old.length) {
            return;
        }
        long allp = Memory.map((long) n * Long.BYTES);
        long idle = Memory.map(maskBytes(n));
        long timer = Memory.map(maskBytes(n));
        Processor[] grown = Arrays.copyOf(old, n);
        for (int i = 0; i < n; i++) {
            if (i >= old.length) {
                long pp = Mem.alloc(p.layout(), 1);
                P.setId(pp, i);
                PStatus.set(pp, PStatus.PGCSTOP);
                grown[i] = new Processor(pp);
                timers.added(pp);
            } else {
                copyBit(Schedt.idlepMaskAcquire(sched), idle, i);
                copyBit(Schedt.timerpMaskAcquire(sched), timer, i);
            }
            Mem.LONG.set(allp + (long) i * Long.BYTES, grown[i].pp);
        }
        // The old arrays stay mapped until release: an M that is about to sleep may still read them. Doubling would bound
        // the waste; a few kilobytes a resize do not need it.
        if (old.length > 0) {
            int at = replaced.length;
            long[] more = Arrays.copyOf(replaced, at + 6);
            System.arraycopy(arrays(old.length), 0, more, at, 6);
            replaced = more;
        }
        Schedt.setIdlepMaskRelease(sched, idle);
        Schedt.setTimerpMaskRelease(sched, timer);
        Schedt.setAllpRelease(sched, allp);
        procs = grown;
    }

    private static void copyBit(long from, long to, int i) {
        if (Idle.maskRead(from, i)) {
            Idle.maskSet(to, i);
        }
    }

    /** The arrays as they are, of so many Ps: addresses and lengths in turn. */
    private long[] arrays(int procs) {
        return new long[] {Schedt.allpAcquire(sched), (long) procs * Long.BYTES, Schedt.idlepMaskAcquire(sched),
                maskBytes(procs), Schedt.timerpMaskAcquire(sched), maskBytes(procs)};
    }

    /** Recycles everything: no M of the scheduler lives. */
    void release() {
        for (Processor pr : procs) {
            Mem.recycle(p.layout(), pr.pp);
        }
        unmap(arrays(procs.length));
        unmap(replaced);
    }

    private static void unmap(long[] arrays) {
        for (int i = 0; i < arrays.length; i += 2) {
            Memory.unmap(arrays[i], arrays[i + 1]);
        }
    }

    private static long maskBytes(int procs) {
        return (procs + 31L) / 32 * Integer.BYTES;
    }
}
