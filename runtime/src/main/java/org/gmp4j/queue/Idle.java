// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;

/**
 * The idle lists {@code midle} and {@code pidle}, and the bit masks of Ps. The lists are written under {@code sched.lock}. A bit is set or
 * cleared by an atomic operation, because {@link #timerPutBack} sets a bit without the lock.
 *
 * <p>{@code npidle} and the masks are also read without the lock. {@link #pidleput} raises npidle with a volatile add. An M that releases
 * its P calls pidleput before its last check of the queues. A submitter reads npidle after it has enqueued the work. {@code Wakep} explains
 * why no work is missed.
 */
public final class Idle {
    private Idle() {
    }

    /** Puts an M that is about to sleep on the idle list. Called under sched.lock. */
    public static void mput(long sched, long mp) {
        M.SCHEDLINK.set(mp, Schedt.MIDLE.get(sched));
        Schedt.MIDLE.set(sched, mp);
        Schedt.NMIDLE.setOpaque(sched, Schedt.NMIDLE.getOpaque(sched) + 1);
    }

    /** Takes an idle M; 0 when there is none. Called under sched.lock. */
    public static long mget(long sched) {
        long mp = Schedt.MIDLE.get(sched);
        if (mp != 0) {
            Schedt.MIDLE.set(sched, M.SCHEDLINK.get(mp));
            Schedt.NMIDLE.setOpaque(sched, Schedt.NMIDLE.getOpaque(sched) - 1);
            M.SCHEDLINK.set(mp, mp); // Marks the M as taken, for mremove.
        }
        return mp;
    }

    /**
     * Takes the M {@code mp} off the idle list, to which it was added. Returns false when {@link #mget} has taken it. Called under
     * sched.lock.
     */
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
     * Puts a P that no M holds on the idle list. Called under sched.lock.
     *
     * @param now the nanoTime from which the P's idle time is counted
     */
    public static void pidleput(long sched, long pp, long now) {
        if (!Runq.runqempty(pp)) {
            throw Throw.of("pidleput: P has non-empty run queue");
        }
        if (P.TIMERSLEN.getOpaque(pp) == 0) {
            maskClear(Schedt.TIMERPMASK.getAcquire(sched), P.ID.get(pp));
            if (P.TIMERSLEN.getOpaque(pp) != 0) { // This read follows the clear, which is a full fence: see timerPutBack.
                maskSet(Schedt.TIMERPMASK.getAcquire(sched), P.ID.get(pp));
            }
        }
        maskSet(Schedt.IDLEPMASK.getAcquire(sched), P.ID.get(pp));
        P.IDLESINCE.set(pp, now);
        P.LINK.set(pp, Schedt.PIDLE.get(sched));
        Schedt.PIDLE.set(sched, pp);
        Schedt.addNpidle(sched, 1);
    }

    /** Takes an idle P; 0 when there is none. Called under sched.lock. */
    public static long pidleget(long sched, long now) {
        long pp = Schedt.PIDLE.get(sched);
        if (pp != 0) {
            // Set before an M holds the P and may add timers to it. So Ms that steal do not miss these timers.
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
     * Sets the timer bit of P {@code pp}, so that Ms that steal read its timers. Called by a thread that need not hold the P. Before the
     * call it has added an entry to the P's timers or has put one back, and so has written {@code timersLen}. If {@link #pidleput} clears
     * the bit after this method has set it, pidleput then reads the new length, and sets the bit again.
     */
    public static void timerPutBack(long sched, long pp) {
        maskSet(Schedt.TIMERPMASK.getAcquire(sched), P.ID.get(pp));
    }

    /**
     * Takes an idle P, as {@link #pidleget} does, for an M that has found work and has no P to run it. If no P is idle, this sets
     * needspinning, so that the next M that runs out of work spins.
     */
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

    /** Returns a P's bit of a mask. */
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

    /** Returns allp[i], the address of a P. */
    public static long allp(long sched, int i) {
        return Mem.LONG.get(Schedt.ALLP.getAcquire(sched) + ((long) i << 3));
    }

    /** Returns whether the P's bit in idlepMask agrees with its status, for checkers. */
    public static boolean consistent(long sched, long pp) {
        return maskRead(Schedt.IDLEPMASK.getAcquire(sched), P.ID.get(pp)) == (PStatus.get(pp) == PStatus.PIDLE);
    }
}
