// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.concurrent.ThreadLocalRandom;

import org.gmp4j.config.Placement;
import org.gmp4j.events.EventRing;
import org.gmp4j.events.Tracer;
import org.gmp4j.queue.StealWalk;
import org.gmp4j.stack.Host;
import org.gmp4j.struct.M;
import org.gmp4j.struct.P;
import org.jspecify.annotations.Nullable;

/**
 * The Java side of an M: its thread, and what a goroutine leaves for the M when it gives the thread back (see
 * {@link Mcall}). Unless a field says otherwise it belongs to the M's thread, be it on a goroutine's stack or on its own.
 */
public final class Machine extends Host {
    /** The scheduler. */
    public final Scheduler s;
    /** Its struct m. */
    public final long mp;

    /** Which entry of a placement the thread is pinned to; -1 for none. And of which placement. */
    int pinnedTo = -1;
    @Nullable Placement pinnedBy;

    /** What to do after the switch: a code of {@link Mcall}. */
    int op;
    /** For {@link Mcall#GOEXIT}: the G that the stack took from the queue after its own had ended, with Runq.INHERIT; 0 for none. */
    long pick;
    /** Until when this M goes on searching before it sleeps; nanoTime, valid while it spins. Whoever wakes the M sets it. */
    long spinUntil;
    /** Under a latency policy: whether it was alone at work and has woken another to spin in its place, and since then had work. */
    boolean hasStandIn;
    /** When its time slices begin, for sysmon. */
    public final SliceClock slices = new SliceClock();
    /** What sysmon knows of it; null for {@link Allm#TOO_MANY}. */
    public final Monitor.Watched watched;
    /** When it was last woken to run on a P; 0 once its wake-up time was counted. Written like {@link #spinUntil}. */
    long rung;
    /** This M's search through other Ps. */
    final StealWalk walk = new Walk(this);
    /**
     * Whether it was put on the idle list while it still looks for work. Written by the M's thread, read by Checkdead, both under
     * sched.lock.
     */
    boolean listed;
    /**
     * When the timer of a goroutine that went to sleep on this M is due, if the poller was not told of it yet; else 0. It need not be:
     * if the M finds nothing to run, it looks at all timers itself before it sleeps. Where it sleeps without that look, another thread
     * that looks was woken: by startTheWorld, or because the M was taken from the idle list.
     */
    long untold;
    /** Whether a goroutine was ever locked to it, and may have changed the state of its thread. */
    boolean wasLocked;
    /** How many times in a row it was woken shortly after it slept and found nothing. */
    int inVain;
    /** Whether its thread has begun as {@link CleanStart} wants it. */
    boolean begun;
    /** Where the events of its P go; null when they go nowhere. Right as long as it has a P: see {@link Tracer}. */
    @Nullable EventRing trace;
    /** The next in the list of Ms that have ended; under sched.lock. */
    @Nullable Machine nextFree;

    @SuppressWarnings("NullAway") // Allm has two that stand for none, and have no scheduler.
    Machine(@Nullable Scheduler s, long mp) {
        this.s = s;
        this.mp = mp;
        watched = s == null ? null : s.monitor().ofM();
    }

    /** For an M that has ended: whether its struct may have another thread. */
    boolean isFree() {
        return thread == null || !thread.isAlive();
    }

    /**
     * Its struct gets another thread: everything is as in a new one. The last thread has ended, or was never started.
     */
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
        inVain = 0;
        begun = false;
        wasLocked = false;
        watched.renew();
        held = 0;
    }

    /** The M whose thread this code runs on, inside a goroutine or not; null elsewhere. */
    static @Nullable Machine of() {
        return (Machine) Host.current();
    }

    /** The M whose thread this code runs on; for the floors above, which know that there is one. */
    @SuppressWarnings("NullAway")
    public static Machine current() {
        return of();
    }

    /** The attached P, 0 for none; for the floors above. */
    public long attachedP() {
        return pp();
    }

    /**
     * Whether it runs a goroutine's own code (nobody takes a P while m.locks is raised: {@link Gate}), has no P, and did not say that
     * it would block: a stray. From any thread; the owner changes these words meanwhile, so they may be from different moments.
     */
    public boolean astray() {
        return M.P.getOpaque(mp) == 0 && M.CURG.getOpaque(mp) != 0 && M.INCGO.getOpaque(mp) == 0 && M.LOCKS.getOpaque(mp) == 0;
    }

    /** Looks whether the P is traced; the M has just got it, or kept it while the world was stopped. */
    void lookForTrace(long pp) {
        Tracer t = s.tracer;
        trace = t == null ? null : t.ring(P.ID.get(pp));
    }

    /** The attached P, 0 for none. */
    long pp() {
        return M.P.get(mp);
    }

    /**
     * A pseudo-random number from 0 to {@code n} - 1: {@code cheaprandn}.
     *
     * @param st the caller's stack, inside {@link GStack#enter}; null for a thread that is no M
     */
    public static int cheaprandn(@Nullable GStack st, int n) {
        int r = st != null ? st.machine().cheaprand() : ThreadLocalRandom.current().nextInt();
        return (int) ((r & 0xFFFF_FFFFL) * n >>> Integer.SIZE);
    }

    /** The next pseudo-random number (xorshift64*, the high half). */
    int cheaprand() {
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
