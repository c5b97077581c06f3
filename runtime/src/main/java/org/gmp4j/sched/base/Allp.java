// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.util.Arrays;

import org.gmp4j.config.Placement;
import org.gmp4j.ffi.Memory;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.NodeQueues;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.StealCounts;
import org.gmp4j.struct.Struct;
import org.jspecify.annotations.Nullable;

/** {@code allp}: all Ps that ever existed, by id, with {@code idlepMask} and {@code timerpMask}. A P is never removed. */
public final class Allp {
    private final long sched;
    private final Timers timers;
    private final Monitor monitor;
    /** Written by {@link #grow}, in a stopped world; read by any thread. */
    private volatile Processor[] procs = new Processor[0];
    /** The off-heap arrays that were replaced: pairs of address and length. Written like procs. */
    private long[] replaced = new long[0];
    /** The block of {@link StealCounts}. Written like procs. */
    private long steals;
    /** The number of Ps that {@link #release} has recycled. Only the thread that calls release accesses this field and the next. */
    private int recycled;
    /** Whether all Ps are recycled, so that release has nothing to repeat. */
    private boolean released;

    Allp(long sched, Timers timers, Monitor monitor) {
        this.sched = sched;
        this.timers = timers;
        this.monitor = monitor;
    }

    /** Returns the Java sides of the Ps. */
    Processor[] procs() {
        return procs;
    }

    /** New Ps, and longer arrays: all memory that {@link #grow} needs. */
    @SuppressWarnings("NullAway.Init") // The method room sets the fields.
    private static final class Room {
        private Processor[] procs;
        private long[] replaced;
        private long allp;
        private long idle;
        private long timer;
        private long steals;
    }

    /**
     * Allocates the memory for {@code n} Ps, each on the NUMA node of its CPUs. The caller holds WORLDSEMA, and the world is not stopped.
     *
     * @return the argument for {@link #grow}; null when there are as many Ps already
     */
    public @Nullable Object room(int n, Placement placement) {
        Processor[] old = procs;
        if (n <= old.length) {
            return null;
        }
        Room r = new Room();
        long[] fresh = new long[n - old.length];
        try {
            r.procs = Arrays.copyOf(old, n);
            r.replaced = replaced;
            if (old.length > 0) {
                long[] now = arrays(old.length);
                r.replaced = Arrays.copyOf(replaced, replaced.length + now.length);
                System.arraycopy(now, 0, r.replaced, replaced.length, now.length);
            }
            for (int i = old.length; i < n; i++) {
                long pp = Mem.alloc(Struct.P, 1, placement.node(i));
                fresh[i - old.length] = pp;
                P.ID.set(pp, i);
                PStatus.set(pp, PStatus.PGCSTOP);
                r.procs[i] = new Processor(pp, monitor);
            }
            timers.added(fresh);
            r.allp = Memory.map((long) n * Long.BYTES);
            r.idle = Memory.map(maskBytes(n));
            r.steals = Memory.map(StealCounts.bytes(n));
            r.timer = Memory.map(maskBytes(n)); // Mapped last: after a failure the maps stay, because unmapping may need memory.
            return r;
        } catch (Throwable t) {
            for (long pp : fresh) {
                if (pp != 0) {
                    Mem.recycle(Struct.P, pp);
                }
            }
            throw t;
        }
    }

    /**
     * Replaces allp and the masks by the longer ones that {@link #room} has made. Does nothing for null. Called in a stopped world.
     * Allocates nothing.
     */
    public void grow(@Nullable Object room) {
        if (room == null) {
            return;
        }
        Room r = (Room) room;
        for (int i = 0; i < procs.length; i++) {
            copyBit(Schedt.IDLEPMASK.getAcquire(sched), r.idle, i);
            copyBit(Schedt.TIMERPMASK.getAcquire(sched), r.timer, i);
        }
        for (int i = 0; i < r.procs.length; i++) {
            Mem.LONG.set(r.allp + (long) i * Long.BYTES, r.procs[i].pp);
        }
        // The old arrays stay mapped until release, because an M that is about to sleep may still read them. Each resize leaves a few
        // kilobytes.
        Schedt.IDLEPMASK.setRelease(sched, r.idle);
        Schedt.TIMERPMASK.setRelease(sched, r.timer);
        Schedt.ALLP.setRelease(sched, r.allp);
        replaced = r.replaced;
        for (int i = 0; i < r.procs.length; i++) {
            StealCounts.use(r.procs[i].pp, i, r.steals, r.procs.length, procs.length);
        }
        steals = r.steals;
        procs = r.procs;
    }

    private static void copyBit(long from, long to, int i) {
        if (Idle.maskRead(from, i)) {
            Idle.maskSet(to, i);
        }
    }

    /** Returns the present arrays, for {@code n} Ps, as pairs of address and length. */
    private long[] arrays(int n) {
        return new long[] {Schedt.ALLP.getAcquire(sched), (long) n * Long.BYTES, Schedt.IDLEPMASK.getAcquire(sched),
                maskBytes(n), Schedt.TIMERPMASK.getAcquire(sched), maskBytes(n), steals, StealCounts.bytes(n)};
    }

    /**
     * Recycles all structs and arrays, once. Called when no M of the scheduler lives. If it throws for lack of memory, the next call
     * continues.
     */
    public void release() {
        if (released) {
            return;
        }
        long[] arrays = procs.length > 0 ? arrays(procs.length) : replaced;
        for (; recycled < procs.length; recycled++) {
            procs[recycled].drop();
            Mem.recycle(Struct.P, procs[recycled].pp);
        }
        released = true;
        NodeQueues.release(sched);
        unmap(arrays);
        if (arrays != replaced) {
            unmap(replaced);
        }
    }

    private static void unmap(long[] arrays) {
        for (int i = 0; i < arrays.length; i += 2) {
            try {
                Memory.unmap(arrays[i], arrays[i + 1]);
            } catch (OutOfMemoryError e) {
                continue; // If there is no memory for the call's objects, a page or two stay mapped.
            }
        }
    }

    private static long maskBytes(int procs) {
        return (procs + 31L) / 32 * Integer.BYTES;
    }
}
