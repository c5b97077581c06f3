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
        M.setSchedlink(mp, Schedt.midle(sched));
        Schedt.setMidle(sched, mp);
        Schedt.setNmidleOpaque(sched, Schedt.nmidleOpaque(sched) + 1);
    }

    /** Takes an idle M, or 0; under the lock. */
    public static long mget(long sched) {
        long mp = Schedt.midle(sched);
        if (mp != 0) {
            Schedt.setMidle(sched, M.schedlink(mp));
            Schedt.setNmidleOpaque(sched, Schedt.nmidleOpaque(sched) - 1);
            M.setSchedlink(mp, mp); // Taken: mremove need not search.
        }
        return mp;
    }

    /** Takes an M that was put on the idle list off it; under the lock. False when {@link #mget} took it first. */
    public static boolean mremove(long sched, long mp) {
        if (M.schedlink(mp) == mp) {
            return false;
        }
        long before = 0;
        for (long at = Schedt.midle(sched); at != mp; at = M.schedlink(at)) {
            before = at;
        }
        if (before == 0) {
            Schedt.setMidle(sched, M.schedlink(mp));
        } else {
            M.setSchedlink(before, M.schedlink(mp));
        }
        Schedt.setNmidleOpaque(sched, Schedt.nmidleOpaque(sched) - 1);
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
        if (P.timersLenOpaque(pp) == 0) {
            maskClear(Schedt.timerpMaskAcquire(sched), P.id(pp));
            if (P.timersLenOpaque(pp) != 0) { // After the clear, a barrier: see timerPutBack.
                maskSet(Schedt.timerpMaskAcquire(sched), P.id(pp));
            }
        }
        maskSet(Schedt.idlepMaskAcquire(sched), P.id(pp));
        P.setIdlesince(pp, now);
        P.setLink(pp, Schedt.pidle(sched));
        Schedt.setPidle(sched, pp);
        Schedt.addNpidle(sched, 1);
    }

    /** Takes an idle P, or 0; under the lock. */
    public static long pidleget(long sched, long now) {
        long pp = Schedt.pidle(sched);
        if (pp != 0) {
            // Timers may be added as soon as someone holds the P: tell thieves before they could look.
            maskSet(Schedt.timerpMaskAcquire(sched), P.id(pp));
            maskClear(Schedt.idlepMaskAcquire(sched), P.id(pp));
            Schedt.setPidle(sched, P.link(pp));
            P.setLink(pp, 0);
            Schedt.addNpidle(sched, -1);
            P.setIdletimeOpaque(pp, P.idletimeOpaque(pp) + now - P.idlesince(pp));
        }
        return pp;
    }

    /**
     * After a timer of P {@code pp} was put back by an M that had taken it off, and that need not hold the P: thieves look at the P again.
     * {@code timersLen} was written before. If {@link #pidleput} clears the bit after this has set it, it reads the new length and sets
     * the bit again.
     */
    public static void timerPutBack(long sched, long pp) {
        maskSet(Schedt.timerpMaskAcquire(sched), P.id(pp));
    }

    /** Like {@link #pidleget} for an M that found work it has no P for: when there is none, a spinner must come soon. */
    public static long pidlegetSpinning(long sched, long now) {
        long pp = pidleget(sched, now);
        if (pp == 0) {
            Schedt.setNeedspinningVolatile(sched, 1);
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
        return Mem.LONG.get(Schedt.allpAcquire(sched) + ((long) i << 3));
    }

    /** Whether the P is idle as its mask says, for checkers. */
    public static boolean consistent(long sched, long pp) {
        return maskRead(Schedt.idlepMaskAcquire(sched), P.id(pp)) == (PStatus.get(pp) == PStatus.PIDLE);
    }
}
