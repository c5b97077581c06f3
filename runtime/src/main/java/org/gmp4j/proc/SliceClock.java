// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.Alarm;
import org.gmp4j.struct.FieldHandle;
import org.gmp4j.struct.P;
import org.jspecify.annotations.Nullable;

/**
 * When an M's time slices began, for sysmon, which can then sleep until the first slice ends. Otherwise sysmon would have to look five
 * times in a quantum to know the end of a slice to a fifth of it: that took a third of a CPU with a quantum of 200 µs, and 6 % beside a
 * service with one of 1 ms. But to read the clock takes 25 ns, and a switch only some hundred. So slices are timed only while they are
 * few, and while sysmon sees goroutines run on from one look to the next with others waiting.
 *
 * <p>An M whose slices are timed also sets its alarm ({@code sysmon/Alarms}), so that sysmon need not wake up before a slice has lasted.
 * That is a system call, so it is not done for each slice, but when less than three quarters of the time are left: a slice may be
 * noticed a quarter too early, and sysmon then looks once more at its end. It is not done either while slices are many: the alarm
 * rings then, and sysmon sees that they are not worth timing; nor for longer than 10 ms on end, since sysmon has more to do than this.
 *
 * <p>{@code began} and {@code slice} are written by the M's thread, in this order, the second by release ({@link #begins});
 * sysmon reads them in the other order, {@code slice} by acquire ({@link #began}). So it never gets the time of an
 * earlier slice than it asked for. It may get that of a later one: then the slice it asked for has ended, as it sees at its
 * next look. {@code on} is written by sysmon and read by the M's thread, without order: at worst a slice more or less is timed.
 * {@code rings} is written by the M's thread after it has set the alarm, to a time that was read before: the kernel does not ring earlier,
 * and any value that sysmon reads is safe. The alarm itself is sysmon's to open and close; {@code putOff}, by which the M's thread
 * knows that there is one, is written last and taken back first.
 */
public final class SliceClock {
    /** For this long after the last goroutine that ran on, slices are timed however many they are. */
    private static final long LASTS_NANOS = 100_000_000;
    /** Slices are few if they take at least this long on average. */
    private static final long FEW_NANOS = 10_000;
    /** For so long an alarm is put off: what sysmon does beside is not to wait for longer while goroutines run. */
    private static final long MOST_NANOS = 10_000_000;
    private static final long NO_ALARM = Long.MIN_VALUE;
    private static final SliceClock NOBODYS = new SliceClock();
    private static final VarHandle ON = FieldHandle.of(MethodHandles.lookup(), SliceClock.class, "on", boolean.class);
    private static final VarHandle SLICE = FieldHandle.of(MethodHandles.lookup(), SliceClock.class, "slice", long.class);
    private static final VarHandle BEGAN = FieldHandle.of(MethodHandles.lookup(), SliceClock.class, "began", long.class);
    private static final VarHandle RINGS = FieldHandle.of(MethodHandles.lookup(), SliceClock.class, "rings", long.class);
    private static final VarHandle PUT_OFF = FieldHandle.of(MethodHandles.lookup(), SliceClock.class, "putOff", long.class);

    @SuppressWarnings("unused") // Through ON; sysmon writes, the M reads.
    private boolean on = true; // The first goroutine may be one that does not yield.
    /** As {@link #slice(long, int)} names it. */
    private long slice = -1;
    private long began;
    /** Whether {@link #began} is of the slice that began last. Of the M's thread, like the three behind {@code rings}. */
    private boolean timed;
    /** When the alarm rings, or rang last, or the clock was made. */
    private long rings = System.nanoTime();
    /** When it was set after it had rung. */
    private long since;
    /** Since when slices are counted, to see whether they are many, and how many there were. */
    private long looked = rings;
    private int slices;
    /** It is set anew when less than this is left until it rings; {@link #NO_ALARM} where there is none. */
    @SuppressWarnings("unused") // Through PUT_OFF.
    private long putOff = NO_ALARM;
    /** Sysmon's. */
    private long seen = rings - 2 * LASTS_NANOS;
    private int alarm;
    private long nanos;
    private @Nullable SliceClock next;

    /** Names a time slice: two Ps may have the same schedtick. */
    public static long slice(long pp, int tick) {
        return (long) P.id(pp) << Integer.SIZE | Integer.toUnsignedLong(tick);
    }

    /** On the M's thread: a slice begins on its P. */
    void begins(long pp) {
        begins((boolean) ON.getOpaque(this), pp);
    }

    private void begins(boolean on, long pp) {
        timed = on;
        if (on) {
            long now = System.nanoTime();
            BEGAN.setOpaque(this, now);
            SLICE.setRelease(this, slice(pp, P.schedtick(pp)));
            slices++;
            if (rings - now < (long) PUT_OFF.getAcquire(this)) {
                putOff(now);
            }
        }
    }

    private void putOff(long now) {
        boolean rang = rings - now <= 0;
        if (rang) {
            since = now;
        }
        boolean few = slices * FEW_NANOS <= now - looked;
        if (few && (rang || now - since < MOST_NANOS) && Alarm.set(alarm, nanos) == 0) {
            RINGS.setOpaque(this, now + nanos); // Not later than the kernel has it, so whatever sysmon reads is right.
        }
        if (few || now - looked > nanos) { // Else it has just begun to count.
            looked = now;
            slices = 0;
        }
    }

    /** On the M's thread, when a slice has begun: whether sysmon will be told if it lasts. */
    boolean willRing() {
        return timed && hasAlarm() && rings - began > 0;
    }

    /** By sysmon: whether the alarm is set at {@code now}. */
    public boolean isSet(long now) {
        return hasAlarm() && (long) RINGS.getOpaque(this) - now > 0;
    }

    /** By sysmon. */
    public boolean hasAlarm() {
        return (long) PUT_OFF.getOpaque(this) != NO_ALARM;
    }

    /** By sysmon: an alarm for it, which is put off by {@code after} ns; {@code list} is the list that it heads from now on. */
    public void setAlarm(int number, long after, @Nullable SliceClock list) {
        alarm = number;
        nanos = after;
        next = list;
        PUT_OFF.setRelease(this, after - after / 4);
    }

    /** By sysmon: takes the alarm away. The M's thread may set it once more. */
    public int takeAlarm() {
        PUT_OFF.setOpaque(this, NO_ALARM);
        return alarm;
    }

    /** By sysmon: the next that has an alarm. */
    public @Nullable SliceClock nextWithAlarm() {
        return next;
    }

    /** By sysmon: slices are timed from here on, until it looks. */
    public void timed() {
        ON.setOpaque(this, true);
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
