// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * The idle lists {@code midle} and {@code pidle} and the bit masks of Ps, all written under {@code sched.lock}.
 *
 * <p>{@code npidle} and the masks are read without the lock. {@link #pidleput} raises npidle with a volatile add: an M
 * that gives its P up does so before its last look at the queues, and one that submits work looks at npidle after it
 * queued the work ({@code Wakep} has the whole argument).
 */
public final class Idle {
    private Idle() {
    }

    /** Puts an M that is about to sleep on the idle list; under the lock. */
    public static void mput(long sched, long mp) {
        M.SCHEDLINK.set(mp, Schedt.MIDLE.get(sched));
        Schedt.MIDLE.set(sched, mp);
        Schedt.NMIDLE.setOpaque(sched, Schedt.NMIDLE.getOpaque(sched) + 1);
    }

    /** Takes an idle M, or 0; under the lock. */
    public static long mget(long sched) {
        long mp = Schedt.MIDLE.get(sched);
        if (mp != 0) {
            Schedt.MIDLE.set(sched, M.SCHEDLINK.get(mp));
            Schedt.NMIDLE.setOpaque(sched, Schedt.NMIDLE.getOpaque(sched) - 1);
            M.SCHEDLINK.set(mp, mp); // Taken: mremove need not search.
        }
        return mp;
    }

    /** Takes an M that was put on the idle list off it; under the lock. False when {@link #mget} took it first. */
    public static boolean mremove(long sched, long mp) {
        if (M.SCHEDLINK.get(mp) == mp) {
            return false;
        }
        long before = 0;
        for (long at = Schedt.MIDLE.get(sched); at != mp; at = M.SCHEDLINK.get(at)) {
            before = at;
        }
        if (before == 0) {
            Schedt.MIDLE.set(sched, M.SCHEDLINK.get(mp));
        } else {
            M.SCHEDLINK.set(before, M.SCHEDLINK.get(mp));
        }
        Schedt.NMIDLE.setOpaque(sched, Schedt.NMIDLE.getOpaque(sched) - 1);
        return true;
    }

    /**
     * Puts a P that no M holds on the idle list; under the lock.
     *
     * @param now nanoTime, for the time it spends idle
     */
    public static void pidleput(long sched, long pp, long now) {
        if (!Runq.runqempty(pp)) {
            throw Throw.of("pidleput: P has non-empty run queue");
        }
        if (P.TIMERSLEN.getOpaque(pp) == 0) {
            maskClear(Schedt.TIMERPMASK.getAcquire(sched), P.ID.get(pp));
            if (P.TIMERSLEN.getOpaque(pp) != 0) { // After the clear, a barrier: see timerPutBack.
                maskSet(Schedt.TIMERPMASK.getAcquire(sched), P.ID.get(pp));
            }
        }
        maskSet(Schedt.IDLEPMASK.getAcquire(sched), P.ID.get(pp));
        P.IDLESINCE.set(pp, now);
        P.LINK.set(pp, Schedt.PIDLE.get(sched));
        Schedt.PIDLE.set(sched, pp);
        Schedt.addNpidle(sched, 1);
    }

    /** Takes an idle P, or 0; under the lock. */
    public static long pidleget(long sched, long now) {
        long pp = Schedt.PIDLE.get(sched);
        if (pp != 0) {
            // Timers may be added as soon as someone holds the P: tell thieves before they could look.
            maskSet(Schedt.TIMERPMASK.getAcquire(sched), P.ID.get(pp));
            maskClear(Schedt.IDLEPMASK.getAcquire(sched), P.ID.get(pp));
            Schedt.PIDLE.set(sched, P.LINK.get(pp));
            P.LINK.set(pp, 0);
            Schedt.addNpidle(sched, -1);
            P.IDLETIME.setOpaque(pp, P.IDLETIME.getOpaque(pp) + now - P.IDLESINCE.get(pp));
        }
        return pp;
    }

    /**
     * After a timer of P {@code pp} was put back by an M that had taken it off, and that need not hold the P: thieves look at the P again.
     * {@code timersLen} was written before. If {@link #pidleput} clears the bit after this has set it, it reads the new length and sets
     * the bit again.
     */
    public static void timerPutBack(long sched, long pp) {
        maskSet(Schedt.TIMERPMASK.getAcquire(sched), P.ID.get(pp));
    }

    /** Like {@link #pidleget} for an M that found work it has no P for: when there is none, a spinner must come soon. */
    public static long pidlegetSpinning(long sched, long now) {
        long pp = pidleget(sched, now);
        if (pp == 0) {
            Schedt.NEEDSPINNING.setVolatile(sched, 1);
        }
        return pp;
    }

    private static long word(long mask, int id) {
        return mask + ((long) (id >>> 5) << 2);
    }

    /** Reads a P's bit. */
    public static boolean maskRead(long mask, int id) {
        return (Mem.INT.getAcquire(word(mask, id)) & 1 << (id & 31)) != 0;
    }

    /** Sets a P's bit, atomically. */
    public static void maskSet(long mask, int id) {
        int _ = Mem.INT.getAndBitwiseOr(word(mask, id), 1 << (id & 31));
    }

    /** Clears a P's bit, atomically. */
    public static void maskClear(long mask, int id) {
        int _ = Mem.INT.getAndBitwiseAnd(word(mask, id), ~(1 << (id & 31)));
    }

    /** The address of allp[i]. */
    public static long allp(long sched, int i) {
        return Mem.LONG.get(Schedt.ALLP.getAcquire(sched) + ((long) i << 3));
    }

    /** Whether the P is idle as its mask says, for checkers. */
    public static boolean consistent(long sched, long pp) {
        return maskRead(Schedt.IDLEPMASK.getAcquire(sched), P.ID.get(pp)) == (PStatus.get(pp) == PStatus.PIDLE);
    }
}
