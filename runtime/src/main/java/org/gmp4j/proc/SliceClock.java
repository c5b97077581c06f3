package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * When an M's time slices began, for sysmon: only while it saw goroutines run on from one look to the next with others waiting,
 * as a clock read costs 25 ns and a switch some hundred. Sysmon then sleeps until the first slice is over. Without it, it has to
 * look five times in a quantum to know the end to a fifth: with a quantum of 200 µs that took a third of a CPU.
 *
 * <p>One writer, the M's thread: the time, then the tick by release. Sysmon reads the tick by acquire, then the time, which may
 * be that of a later slice; it has ended then, and sysmon sees that at its next look.
 */
final class SliceClock {
    /** So long after the last such goroutine slices are timed. */
    private static final long LASTS_NANOS = 100_000_000;
    private static final VarHandle ON;
    private static final VarHandle TICK;
    private static final VarHandle BEGAN;

    static {
        try {
            MethodHandles.Lookup l = MethodHandles.lookup();
            ON = l.findVarHandle(SliceClock.class, "on", boolean.class);
            TICK = l.findVarHandle(SliceClock.class, "tick", int.class);
            BEGAN = l.findVarHandle(SliceClock.class, "began", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // Through ON; sysmon writes, the M reads.
    private boolean on;
    private int tick;
    private long began;
    /** Sysmon's. */
    private long seen;

    /** On the M's thread: a slice begins, which schedtick calls {@code tick}. */
    void begins(int tick) {
        if ((boolean) ON.getOpaque(this)) {
            BEGAN.setOpaque(this, System.nanoTime());
            TICK.setRelease(this, tick);
        }
    }

    /** By sysmon: when slice {@code tick} began, or {@code estimate} where that is not known. */
    long began(int tick, long estimate) {
        return (int) TICK.getAcquire(this) == tick ? (long) BEGAN.getOpaque(this) : estimate;
    }

    /** By sysmon: a goroutine runs on from the look before while others wait. */
    void ranOn(long now) {
        seen = now;
        ON.setOpaque(this, true);
    }

    /** By sysmon, at each look at a P that runs: whether its slices are timed. */
    boolean look(long now) {
        boolean is = (boolean) ON.getOpaque(this);
        if (is && now - seen > LASTS_NANOS) {
            ON.setOpaque(this, false);
            return false;
        }
        return is;
    }
}
