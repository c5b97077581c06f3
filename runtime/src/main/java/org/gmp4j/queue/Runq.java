// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import java.lang.invoke.VarHandle;

import org.gmp4j.lock.SchedLock;
import org.gmp4j.struct.G;
import org.gmp4j.struct.IntField;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.LongRing;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Struct;
import org.gmp4j.struct.Throw;

/**
 * The local run queue of a P: a ring of {@link #LEN} slots with one producer and many consumers, and the one-slot
 * {@code runnext} in front of it.
 *
 * <p>Invariants, by their numbers in {@code ARCHITECTURE.md}
 * <ul>
 * <li>R1 {@code runqtail - runqhead <= LEN}, counted modulo 2^32; the slot of index i is {@code i % LEN}.
 * <li>R2 only the M that holds the P moves {@code runqtail}.
 * <li>R3 any M moves {@code runqhead}, by CAS: the owner by one, a thief by half.
 * <li>R4 tail: store-release, load-acquire. Head: load-acquire, CAS-release.
 * <li>R5 the G in {@code runnext} is in no slot. The owner sets runnext, and any M takes the G from it. Both do so by CAS.
 * <li>R6 a push into a full ring moves half the ring and the new G to the global queue, under one acquisition of the lock.
 * </ul>
 *
 * <p>The reasons for these orders:
 * <ul>
 * <li>Tail, release and acquire: the owner writes the slot, and then the tail. A consumer that sees the new tail also sees the slot, and
 * the status and function of the G in the slot. With a weaker order it could take the G that the slot held before the ring last wrapped
 * around.
 * <li>Head, the consumer's CAS-release and the owner's acquire: a consumer reads its slots before it moves the head. When the owner sees
 * the new head, the reads are complete, and it may overwrite the slots. With a weaker order the owner could overwrite a slot that a thief
 * has yet to read, and one G would run twice while another is lost.
 * <li>Slots are opaque: whole words, without an order of their own. A thief may read a slot while the owner overwrites it, if another
 * consumer has moved the head meanwhile. Then the thief's CAS fails, and it discards its copies.
 * </ul>
 *
 * <p>Rejected: a Chase-Lev deque, whose owner takes the newest G first, so that the oldest one starves. Rejected too: a bounded MPMC queue.
 * It needs a sequence number for each slot, and a thief cannot take half of it in one CAS.
 *
 * <p>Source: the ring of Go's runtime; the half-steal goes back to Vyukov's scalable scheduler design.
 */
public final class Runq {
    /**
     * The number of slots in use, a power of two from 2 to 256: {@code -Dgmp.runqlen}. Tests set 4, so that the ring often wraps and
     * overflows.
     */
    public static final int LEN = len();

    /**
     * A bit of the result of {@link #runqget}. It is set if the G came from runnext and inherits the time slice. The bit is 0 in each
     * address of a G.
     */
    public static final long INHERIT = 1;

    private static final IntField HEAD = Struct.P.intField("runqhead");
    private static final IntField TAIL = Struct.P.intField("runqtail");
    private static final LongField RUNNEXT = Struct.P.longField("runnext");
    private static final LongRing SLOT = Struct.P.ring("runq", LEN);

    private Runq() {
    }

    private static int len() {
        int n = Integer.getInteger("gmp.runqlen", 256);
        if (n < 2 || n > 256 || Integer.bitCount(n) != 1) {
            throw new IllegalArgumentException("gmp.runqlen is " + n + ": use a power of two from 2 to 256");
        }
        return n;
    }

    private static long load(long pp, int i) {
        return SLOT.getOpaque(pp, i);
    }

    private static void store(long pp, int i, long gp) {
        SLOT.setOpaque(pp, i, gp);
    }

    /**
     * Puts a G on the local queue. Called by the owner. Ends with a full fence, because the caller reads the number of idle Ps next
     * ({@code Wakep}, step 2 of the submitter).
     *
     * @param next true to put the G into runnext, and the G that was there to the end of the ring; false to put it to the end of the ring
     */
    public static void runqput(long sched, long pp, long gp, boolean next) {
        if (put(sched, pp, gp, next)) {
            VarHandle.fullFence(); // Without it a later load could precede the release store of the tail.
        }
    }

    /** Puts the G on the queue. Returns false if the last write was a full fence. If it returns true, the caller must add a full fence. */
    private static boolean put(long sched, long pp, long gp, boolean next) {
        if (next) {
            long old;
            do {
                old = RUNNEXT.getVolatile(pp);
            } while (!RUNNEXT.compareAndSet(pp, old, gp)); // Fails only when a thief takes runnext.
            if (old == 0) {
                return false; // The CAS is a full fence.
            }
            gp = old;
        }
        while (!tryPush(pp, gp)) {
            if (runqputslow(sched, pp, gp)) {
                return false; // The lock's exchange is a full fence.
            }
            // A thief has made room since tryPush failed.
        }
        return true;
    }

    /**
     * Puts a G at the end of the ring. Returns false when the ring is full. Called by the owner. After a success the caller must run a full
     * fence, and wake an M if necessary, as {@code Wakep} demands from a submitter of work.
     */
    private static boolean tryPush(long pp, long gp) {
        int h = HEAD.getAcquire(pp); // Pairs with the consumers' CAS-release: the slots below the head are free.
        int t = TAIL.get(pp); // Plain: only the owner writes it (R2).
        if (t - h >= LEN) {
            return false;
        }
        store(pp, t, gp);
        TAIL.setRelease(pp, t + 1); // Pairs with the consumers' load-acquire.
        return true;
    }

    /**
     * Takes the G in runnext. Returns 0 when runnext is empty, or a thief has taken the G first. Called by the owner, the only thread that
     * fills runnext.
     */
    private static long takeRunnext(long pp) {
        long next = RUNNEXT.getVolatile(pp);
        return next != 0 && RUNNEXT.compareAndSet(pp, next, 0L) ? next : 0;
    }

    /** Moves half of the full ring and the new G to the global queue (R6). Returns false when the ring is no longer full. */
    private static boolean runqputslow(long sched, long pp, long gp) {
        int h = HEAD.getAcquire(pp);
        int t = TAIL.get(pp);
        int n = LEN / 2;
        if (t - h != LEN || !HEAD.compareAndSet(pp, h, h + n)) {
            return false;
        }
        // These Gs are the caller's now. Their slots still have them, because only the owner, which is the caller, overwrites slots.
        long first = load(pp, h);
        long last = first;
        for (int i = 1; i < n; i++) {
            long next = load(pp, h + i);
            G.SCHEDLINK.set(last, next);
            last = next;
        }
        G.SCHEDLINK.set(last, gp);
        SchedLock.lock(sched);
        GlobalRunq.globrunqputbatch(sched, pp, first, gp, n + 1);
        SchedLock.unlock(sched);
        PStat.NOVERFLOW.addOpaque(pp, 1);
        return true;
    }

    /**
     * Puts a list of Gs, linked by schedlink, at the end of the ring. The Gs for which the ring has no room go to the global queue. Called
     * by the owner, without sched.lock. Ends with a full fence, as {@link #runqput} does.
     */
    public static void runqputbatch(long sched, long pp, long head, int count) {
        long rest = head;
        int n = 0;
        int room = LEN - (TAIL.get(pp) - HEAD.getAcquire(pp));
        while (n < count && n < room) {
            rest = G.SCHEDLINK.get(rest);
            n++;
        }
        runqpushlist(pp, head, n);
        if (n < count) {
            long tail = rest;
            for (int i = n + 1; i < count; i++) {
                tail = G.SCHEDLINK.get(tail);
            }
            SchedLock.lock(sched);
            GlobalRunq.globrunqputbatch(sched, pp, rest, tail, count - n);
            SchedLock.unlock(sched);
            PStat.NOVERFLOW.addOpaque(pp, 1);
        } else {
            VarHandle.fullFence();
        }
    }

    /** Puts the first {@code n} Gs of a list at the end of the ring, which has room for them. Called by the owner. */
    static void runqpushlist(long pp, long head, int n) {
        int h = HEAD.getAcquire(pp); // As in tryPush.
        int t = TAIL.get(pp);
        if (t - h + n > LEN) {
            throw Throw.of("runqputbatch: runq overflow");
        }
        for (long gp = head; n > 0; n--) {
            long next = G.SCHEDLINK.get(gp); // Read before the G is visible, because its next holder may relink it.
            store(pp, t++, gp);
            gp = next;
        }
        TAIL.setRelease(pp, t);
    }

    /**
     * Takes the next G. Called by the owner.
     *
     * @return the G, with bit {@link #INHERIT} when it came from runnext; 0 when there is none
     */
    public static long runqget(long pp) {
        long next = takeRunnext(pp);
        return next != 0 ? next | INHERIT : ringget(pp);
    }

    /** Takes the first G of the ring, and leaves the one in runnext. Called by the owner. Returns 0 when the ring is empty. */
    public static long ringget(long pp) {
        for (;;) {
            int h = HEAD.getAcquire(pp); // Pairs with the CAS of other consumers.
            int t = TAIL.get(pp);
            if (t == h) {
                return 0;
            }
            long gp = load(pp, h);
            if (HEAD.weakCompareAndSetRelease(pp, h, h + 1)) {
                return gp;
            }
        }
    }

    /**
     * Copies n slots. Their order does not matter. No thread sees the thief's slots before the thief's tail moves. If the victim's owner
     * overwrites a slot meanwhile, the CAS on the head fails and the copies are discarded. Rejected: block copies. They are faster for many
     * slots, but when inlined here they make the more frequent small steals slower.
     */
    private static void copy(long thief, int at, long victim, int from, int n) {
        for (int i = 0; i < n; i++) {
            store(thief, at + i, load(victim, from + i));
        }
    }

    private static long grabRunNext(long victim, long politeNanos) {
        long next = RUNNEXT.getVolatile(victim);
        if (next == 0) {
            return 0;
        }
        if (politeNanos > 0 && PStatus.get(victim) == PStatus.PRUNNING) {
            long start = System.nanoTime();
            do {
                Thread.onSpinWait();
                if (RUNNEXT.getOpaque(victim) != next) {
                    return 0; // The owner took the G, as expected. A later walk may find another G.
                }
            } while (System.nanoTime() - start < politeNanos);
        }
        return RUNNEXT.compareAndSet(victim, next, 0L) ? next : 0;
    }

    /**
     * Steals half of the Gs of {@code victim} into the empty ring of {@code thief}. Called by the thief's owner.
     *
     * @param stealRunNext whether to take runnext if the ring is empty
     * @param politeNanos the time, ns, to wait before the G in runnext is taken from a running victim. The victim will probably take that G
     *     itself
     * @return one of the stolen Gs, or 0 when there was none to steal; the other stolen Gs are in the thief's ring
     */
    public static long runqsteal(long thief, long victim, boolean stealRunNext, long politeNanos) {
        int h = HEAD.getAcquire(victim); // Pairs with the CAS of other consumers.
        int t = TAIL.getAcquire(victim); // Pairs with the owner's release: the slots below t are written.
        if (t == h && !stealRunNext) {
            return 0; // Most probes end here. The method is small enough to be inlined into the walks.
        }
        return runqgrab(thief, victim, h, t, stealRunNext, politeNanos);
    }

    /** Takes half of the victim's ring by one CAS on its head. {@code h} and {@code t} are its head and tail as just read. */
    private static long runqgrab(long thief, long victim, int h, int t, boolean stealRunNext, long politeNanos) {
        int at = TAIL.get(thief);
        for (;;) {
            int n = t - h;
            n -= n / 2;
            if (n == 0) {
                return stealRunNext ? grabRunNext(victim, politeNanos) : 0;
            }
            // If n is out of range, the head moved between the two loads, so h and t are from different states of the ring.
            if (n > 0 && n <= LEN / 2) {
                copy(thief, at, victim, h, n);
                if (HEAD.compareAndSet(victim, h, h + n)) { // At least release is needed, so that the loads above come before the CAS.
                    return stolen(thief, at, n - 1);
                }
            }
            h = HEAD.getAcquire(victim);
            t = TAIL.getAcquire(victim);
        }
    }

    /** Publishes the first {@code n} of the copied Gs in the thief's ring, and returns the G behind them, which the thief runs. */
    private static long stolen(long thief, int at, int n) {
        if (n > 0) {
            if (at - HEAD.getAcquire(thief) + n >= LEN) {
                throw Throw.of("runqsteal: runq overflow");
            }
            TAIL.setRelease(thief, at + n); // From now on other thieves may take these Gs.
        }
        return load(thief, at + n);
    }

    /**
     * Returns whether the P has no G to run. If the tail moved during the three reads, they are from different states of the queue. Then
     * runqput may have moved a G from runnext into the ring, and this method could miss the G in both. So it reads again.
     */
    public static boolean runqempty(long pp) {
        for (;;) {
            int h = HEAD.getVolatile(pp);
            int t = TAIL.getVolatile(pp);
            long next = RUNNEXT.getVolatile(pp);
            if (t == TAIL.getVolatile(pp)) {
                return h == t && next == 0;
            }
        }
    }

    /** Returns the number of Gs in the ring, without runnext, as a hint. */
    public static int size(long pp) {
        int n = TAIL.getAcquire(pp) - HEAD.getAcquire(pp);
        return Math.clamp(n, 0, LEN);
    }

    /** Returns the head index, for checkers. */
    public static int head(long pp) {
        return HEAD.getVolatile(pp);
    }

    /** Returns the number of Gs that were put into the ring so far, modulo 2^32. Called by the owner. */
    public static int pushed(long pp) {
        return TAIL.get(pp);
    }

    /** Returns the tail index, for checkers. */
    public static int tail(long pp) {
        return TAIL.getVolatile(pp);
    }

    /** Returns the G in runnext, for checkers and reports; 0 when it is empty. */
    public static long runnext(long pp) {
        return RUNNEXT.getVolatile(pp);
    }

    /** Returns the G in the slot of index {@code i}, for checkers. */
    public static long at(long pp, int i) {
        return load(pp, i);
    }
}
