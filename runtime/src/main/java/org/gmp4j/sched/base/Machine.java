// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import org.gmp4j.config.Placement;
import org.gmp4j.events.EventRing;
import org.gmp4j.events.Tracer;
import org.gmp4j.queue.StealWalk;
import org.gmp4j.sched.Mcall;
import org.gmp4j.stack.Host;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.jspecify.annotations.Nullable;

/**
 * The Java side of an M: its thread, and the request that a goroutine leaves for the M before it yields (see {@link Mcall}). Unless a field
 * says otherwise, only the M's thread accesses it, on a goroutine's stack or on its own.
 */
public final class Machine extends Host {
    /** The scheduler. */
    public final Scheduler s;
    /** Its struct m. */
    public final long mp;

    /** The slot of {@link #pinnedBy} to which the thread is pinned; -1 for none. */
    public int pinnedTo = -1;
    /** The placement by which the thread was last pinned. */
    public @Nullable Placement pinnedBy;

    /** The operation that the M performs after the switch: a code of {@link Mcall}. */
    public int op;
    /**
     * For {@link Mcall#GOEXIT}: the next G, which the ended goroutine's stack took from the queues; 0 for none. The bit Runq.INHERIT marks
     * a G from runnext.
     */
    public long pick;
    /**
     * The nanoTime until which this M searches before it sleeps; valid while it spins. Written by the M's thread, or by a waker before it
     * wakes the M through its note. The note orders that write before the M's reads.
     */
    public long spinUntil;
    /**
     * Whether this M has a stand-in. Under a latency policy an M that finds work while all other Ps are idle wakes another M, its stand-in,
     * to spin in its place. Cleared when the M runs out of work.
     */
    public boolean hasStandIn;
    /** The times at which this M's slices begin, for sysmon. */
    public final SliceClock slices = new SliceClock();
    /** Sysmon's record of this M; null if there is no scheduler. */
    public final Monitor.Watched watched;
    /**
     * The time, by nanoTime, at which this M was last woken to run on a P; 0 once the metrics have counted it. Written like
     * {@link #spinUntil}.
     */
    public long rung;
    /** This M's search through other Ps. */
    public final StealWalk walk = new Walk(this);
    /**
     * Whether the M is on the idle list while it still searches for work. Written by the M's thread, read by Checkdead, both under
     * sched.lock.
     */
    public boolean listed;
    /**
     * The earliest due time of the timers for which this M has yet to wake the poller; 0 for none. Goroutines of the M set them when they
     * parked. The wake-up can wait, because the M reads all timers before it sleeps, with two exceptions. In a stopping world the M sleeps
     * at once, and startTheWorld wakes an M that reads them. An M that a waker has taken from the idle list waits for its P, and reads them
     * when it next runs out of work.
     */
    public long untold;
    /**
     * The nanoTime at which this M left the poller with a goroutine while a P was idle. It is 0 if the M has polled or gone to sleep since
     * then.
     */
    public long leftPoller;
    /** Whether a goroutine was ever locked to this M, and may have changed the state of its thread. */
    public boolean wasLocked;
    /** The number of times in a row that this M was woken shortly after it fell asleep, and found no work. */
    public int inVain;
    /** Whether the M's thread has been brought into the state that {@link CleanStart} requires. */
    public boolean begun;
    /** The ring for the events of the M's P; null when they are not recorded. Valid while the M has a P: see {@link Tracer}. */
    public @Nullable EventRing trace;
    /** The next in the list of Ms that have ended. Accessed under sched.lock. */
    @Nullable Machine nextFree;

    @SuppressWarnings("NullAway") // Two instances in Allm stand for the absence of an M, and have no scheduler.
    Machine(@Nullable Scheduler s, long mp) {
        this.s = s;
        this.mp = mp;
        watched = s == null ? null : s.monitor().ofM();
    }

    /** Returns whether this M, which has ended, may get another thread. */
    boolean isFree() {
        return thread == null || !thread.isAlive();
    }

    /** Resets the old thread's state before a new thread starts. The old thread has ended, or was never started. */
    void renew() {
        pinnedTo = -1;
        pinnedBy = null;
        op = Mcall.JDK;
        pick = 0;
        spinUntil = 0;
        hasStandIn = false;
        rung = 0;
        listed = false;
        untold = 0;
        leftPoller = 0;
        inVain = 0;
        begun = false;
        wasLocked = false;
        watched.renew();
        held = 0;
    }

    /** Returns the M on whose thread the caller runs, in a goroutine or not; null on other threads. */
    public static @Nullable Machine of() {
        return (Machine) Host.current();
    }

    /** Returns {@link #of} without {@code @Nullable}, for callers that run on an M's thread or test the result for null. */
    @SuppressWarnings("NullAway")
    public static Machine current() {
        return of();
    }

    /**
     * Returns whether the M runs a stray: a goroutine that executes its own code without a P, and has announced no blocking call. (While
     * m.locks is raised the goroutine is inside the runtime, and {@link Gate} takes no P.) Called from any thread. The four fields that it
     * reads may be from different moments, because the M may change them meanwhile.
     */
    public boolean astray() {
        return M.P.getOpaque(mp) == 0 && M.CURG.getOpaque(mp) != 0 && M.INCGO.getOpaque(mp) == 0 && M.LOCKS.getOpaque(mp) == 0;
    }

    /** Sets {@link #trace} to the ring of the P, which the M has just acquired, or has kept while the world was stopped. */
    public void lookForTrace(long pp) {
        Tracer t = s.tracer;
        trace = t == null ? null : t.ring(P.ID.get(pp));
    }

    /** Returns the attached P, 0 for none. */
    public long pp() {
        return M.P.get(mp);
    }

    /** Returns the next pseudo-random number (xorshift64*, the high half). */
    public int cheaprand() {
        long x = M.FASTRAND.get(mp);
        x ^= x >>> 12;
        x ^= x << 25;
        x ^= x >>> 27;
        M.FASTRAND.set(mp, x);
        return (int) (x * 0x2545F4914F6CDD1DL >>> 32);
    }

    private static final class Walk extends StealWalk {
        private final Machine m;

        Walk(Machine m) {
            this.m = m;
        }

        @Override
        protected int cheaprand() {
            return m.cheaprand();
        }

        @Override
        protected boolean runTimers(long victim) {
            return m.s.timers.check(m.pp(), victim);
        }
    }
}
