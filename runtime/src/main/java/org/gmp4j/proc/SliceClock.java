// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.P;

/**
 * When an M's time slices began, for sysmon, which can then sleep until the first slice ends. Otherwise sysmon would have to look five
 * times in a quantum to know the end of a slice to a fifth of it: that took a third of a CPU with a quantum of 200 µs, and 6 % beside a
 * service with one of 1 ms. But to read the clock takes 25 ns, and a switch only some hundred. So slices are timed only while they are
 * few, and while sysmon sees goroutines run on from one look to the next with others waiting.
 *
 * <p>{@code began} and {@code slice} are written by the M's thread, in this order, the second by release ({@link #begins});
 * sysmon reads them in the other order, {@code slice} by acquire ({@link #began}). So it never gets the time of an
 * earlier slice than it asked for. It may get that of a later one: then the slice it asked for has ended, as it sees at its
 * next look. {@code on} is written by sysmon and read by the M's thread, without order: at worst a slice more or less is timed.
 */
public final class SliceClock {
    /** For this long after the last goroutine that ran on, slices are timed however many they are. */
    private static final long LASTS_NANOS = 100_000_000;
    /** Slices are few if they take at least this long on average. */
    private static final long FEW_NANOS = 10_000;
    private static final SliceClock NOBODYS = new SliceClock();
    private static final VarHandle ON = FieldHandle.of(MethodHandles.lookup(), SliceClock.class, "on", boolean.class);
    private static final VarHandle SLICE = FieldHandle.of(MethodHandles.lookup(), SliceClock.class, "slice", long.class);
    private static final VarHandle BEGAN = FieldHandle.of(MethodHandles.lookup(), SliceClock.class, "began", long.class);

    @SuppressWarnings("unused") // Through ON; sysmon writes, the M reads.
    private boolean on = true; // The first goroutine may be one that does not yield.
    /** As {@link #slice(long, int)} names it. */
    private long slice = -1;
    private long began;
    /** Sysmon's. */
    private long seen = System.nanoTime() - 2 * LASTS_NANOS;

    /** Names a time slice: two Ps may have the same schedtick. */
    public static long slice(long pp, int tick) {
        return (long) P.ID.get(pp) << Integer.SIZE | Integer.toUnsignedLong(tick);
    }

    /** On the M's thread: a slice begins on its P. */
    void begins(long pp) {
        begins((boolean) ON.getOpaque(this), pp);
    }

    private void begins(boolean timed, long pp) {
        if (timed) {
            BEGAN.setOpaque(this, System.nanoTime());
            SLICE.setRelease(this, slice(pp, P.SCHEDTICK.get(pp)));
        }
    }

    /**
     * Called by sysmon now and then: takes both branches of {@link #begins(boolean, long)}. C2 does not compile a branch that was never
     * taken; it would discard the code of the scheduler's loop when slices begin, or cease, to be timed, which then runs at less than
     * full speed for a second or more.
     */
    public static void keepBothCompiled(long pp) {
        NOBODYS.begins(true, pp);
        NOBODYS.begins(false, pp);
    }

    /** By sysmon: when {@code slice} began, or {@code estimate} where that is not known. */
    public long began(long slice, long estimate) {
        return (long) SLICE.getAcquire(this) == slice ? (long) BEGAN.getOpaque(this) : estimate;
    }

    /** By sysmon: a goroutine has run since the last look while others wait. */
    public void ranOn(long now) {
        seen = now;
        ON.setOpaque(this, true);
    }

    /**
     * By sysmon, at each look at a P that runs: whether its slices are timed from here on.
     *
     * @param slices how many have begun since the look before, {@code nanos} ago
     */
    public boolean look(long now, int slices, long nanos) {
        boolean is = now - seen <= LASTS_NANOS | slices * FEW_NANOS <= nanos;
        ON.setOpaque(this, is);
        return is;
    }
}
