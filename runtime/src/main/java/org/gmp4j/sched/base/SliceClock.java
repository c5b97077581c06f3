// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.lang.invoke.MethodHandles;

import org.gmp4j.policy.Slice;
import org.gmp4j.struct.HeapLong;
import org.gmp4j.struct.P;

/**
 * The times at which an M's slices begin. With these times sysmon can sleep until the first slice ends. Without these times sysmon would
 * have to scan several times in a quantum to know the end of a slice well enough. With a short quantum such scans take a notable part of a
 * CPU. {@link Slice} decides when slices are timed.
 *
 * <p>{@code began} and {@code slice} are written by the M's thread, in this order, by release ({@link #begins}). Sysmon reads them in the
 * other order ({@link #began}). So it never gets the beginning of an earlier slice than it asked for. If it gets that of a later slice, the
 * slice that it asked for has ended, and the next scan shows that. Sysmon writes {@code on} and the M's thread reads it. At worst a slice
 * too many or too few is timed.
 */
public final class SliceClock {
    private static final SliceClock DUMMY = new SliceClock();
    private static final HeapLong<SliceClock> SLICE = HeapLong.of(MethodHandles.lookup(), SliceClock.class, "slice");
    private static final HeapLong<SliceClock> BEGAN = HeapLong.of(MethodHandles.lookup(), SliceClock.class, "began");

    /** Whether slices are timed. Sysmon writes it, and the M reads it. */
    private volatile boolean on = true; // At first true, because the first goroutine may be one that does not yield.
    /** The time slice that was timed last, by its {@link #slice(long, int)}. */
    private volatile long slice = -1;
    /** The time, by nanoTime, at which {@link #slice} began. */
    private volatile long began;
    /** When sysmon last saw a goroutine run on. Accessed by sysmon only. */
    private long seen = System.nanoTime() - 2 * Slice.TIMED_FOR;

    /** Returns a number for a time slice. It includes the P, because two Ps may have the same schedtick. */
    public static long slice(long pp, int tick) {
        return (long) P.ID.get(pp) << Integer.SIZE | Integer.toUnsignedLong(tick);
    }

    /** Records that a slice begins on the M's P. Called on the M's thread. */
    public void begins(long pp) {
        begins(on, pp);
    }

    private void begins(boolean timed, long pp) {
        if (timed) {
            BEGAN.setRelease(this, System.nanoTime());
            SLICE.setRelease(this, slice(pp, P.SCHEDTICK.get(pp)));
        }
    }

    /**
     * Takes both branches of {@link #begins(boolean, long)}. Called by sysmon now and then. Otherwise C2 would not compile the branch that
     * was never taken. When slices begin, or cease, to be timed, the JVM would discard the compiled code of the scheduler's loop, which
     * would run slowly until it is compiled again.
     */
    public static void keepBothCompiled(long pp) {
        DUMMY.begins(true, pp);
        DUMMY.begins(false, pp);
    }

    /** Returns when {@code slice} began, or {@code estimate} if that is not known. Called by sysmon. */
    public long began(long slice, long estimate) {
        return this.slice == slice ? began : estimate;
    }

    /** Records that a goroutine has run on from the last scan to this one while others wait. Called by sysmon. */
    public void ranOn(long now) {
        seen = now;
        on = true;
    }

    /**
     * Decides and returns whether the slices of a running P are timed from now on. Called by sysmon in each scan.
     *
     * @param slices the number of slices that have begun since the last scan, {@code nanos} ago
     */
    public boolean look(long now, int slices, long nanos) {
        boolean is = Slice.isTimed(now - seen, slices, nanos);
        on = is;
        return is;
    }
}
