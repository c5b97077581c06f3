// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.queue;

import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.gmp.p;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.struct.G;
import org.gmp4j.struct.IntField;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.LongRing;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.PStat;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Throw;

/**
 * The local run queue of a P: a ring of {@link #LEN} slots with one producer and many consumers, and the one-slot
 * {@code runnext} in front of it.
 *
 * <p>Invariants, by their numbers in {@code ARCHITECTURE.md}
 * <ul>
 * <li>R1 {@code runqtail - runqhead <= LEN}, counted modulo 2^32; the slot of index i is {@code i % LEN}.
 * <li>R2 only the M that holds the P moves {@code runqtail}.
 * <li>R3 anyone moves {@code runqhead}, by CAS: the owner by one, a thief by half.
 * <li>R4 tail: store-release, load-acquire. Head: load-acquire, CAS-release.
 * <li>R5 {@code runnext} is in no slot; it is set by the owner and taken by anyone, by CAS.
 * <li>R6 a push into a full ring moves half the ring and the new G to the global queue, in one hold of the lock.
 * </ul>
 *
 * <p>Why these orders. Tail release / acquire: a consumer that sees the new tail sees the slot written before it, and
 * through the slot the G (its status, its function). Weaker, it could take what the slot held a lap ago. Head CAS-release
 * / owner's acquire: a consumer reads its slots before it moves the head; when the owner sees the head moved, those reads
 * are done and it may overwrite the slots. Weaker, the owner could overwrite a slot that a thief has yet to read, and one
 * G would run twice while another is lost. A thief may still read a slot while the owner overwrites it (the head moved
 * under it): then its CAS fails and what it read is thrown away. Slots are therefore opaque, not plain: whole words, but
 * no order of their own.
 *
 * <p>Rejected: a Chase-Lev deque (LIFO for the owner) starves the oldest goroutine; a bounded MPMC queue puts a
 * sequence number beside each slot and cannot take half in one CAS.
 *
 * <p>Source: the ring of Go's runtime; the half-steal goes back to Vyukov's scalable scheduler design.
 */
public final class Runq {
    /** Slots in use, a power of two from 2 to 256: {@code -Dgmp.runqlen}; tests make wrap and overflow frequent with 4. */
    public static final int LEN = len();

    /** Set in the result of {@link #runqget}: the G came from runnext and inherits the time slice. Addresses are aligned. */
    public static final long INHERIT = 1;

    private static final IntField HEAD = Mem.intField(p.layout(), "runqhead");
    private static final IntField TAIL = Mem.intField(p.layout(), "runqtail");
    private static final LongField RUNNEXT = Mem.longField(p.layout(), "runnext");
    private static final LongRing SLOT = Mem.ring(p.layout(), "runq", LEN);

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
     * Puts a G on the local queue; owner only. Ends with a full fence, since the caller looks for idle Ps next ({@code Wakep}, step 2 of
     * the submitter).
     *
     * @param next into runnext, and what was there to the end of the ring; else to the end of the ring
     */
    public static void runqput(long sched, long pp, long gp, boolean next) {
        if (put(sched, pp, gp, next)) {
            VarHandle.fullFence(); // The tail was stored with release: a later load could pass it.
        }
    }

    /** True when the last store was the release of the tail; false when it was a full fence of its own. */
    private static boolean put(long sched, long pp, long gp, boolean next) {
        if (next) {
            long old;
            do {
                old = RUNNEXT.getVolatile(pp);
            } while (!RUNNEXT.compareAndSet(pp, old, gp)); // Fails only when a thief empties the slot.
            if (old == 0) {
                return false; // The CAS.
            }
            gp = old;
        }
        while (!tryPush(pp, gp)) {
            if (runqputslow(sched, pp, gp)) {
                return false; // The lock.
            }
            // A thief made room between the two looks.
        }
        return true;
    }

    /** Puts a G at the end of the ring; false when that is full; owner only. The caller sees to it that it is found there. */
    static boolean tryPush(long pp, long gp) {
        int h = HEAD.getAcquire(pp); // Pairs with the consumers' CAS-release: their slots are free.
        int t = TAIL.get(pp); // R2: ours.
        if (t - h >= LEN) {
            return false;
        }
        store(pp, t, gp);
        TAIL.setRelease(pp, t + 1); // Pairs with the consumers' load-acquire.
        return true;
    }

    /** Takes what is in runnext; owner only, who alone fills it. 0 for nothing: also when a thief was faster. */
    static long takeRunnext(long pp) {
        long next = RUNNEXT.getVolatile(pp);
        return next != 0 && RUNNEXT.compareAndSet(pp, next, 0L) ? next : 0;
    }

    /** R6. False when the ring is no longer full. */
    private static boolean runqputslow(long sched, long pp, long gp) {
        int h = HEAD.getAcquire(pp);
        int t = TAIL.get(pp);
        int n = LEN / 2;
        if (t - h != LEN) {
            return false;
        }
        if (!HEAD.compareAndSet(pp, h, h + n)) {
            return false;
        }
        // The Gs are ours now, and their slots still hold them: only the owner, which is this thread, overwrites slots.
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
     * Puts a list of Gs (by schedlink) at the end of the ring, and those that do not fit on the global queue; owner only, the
     * scheduler lock not held. Ends with a full fence, as {@link #runqput} does.
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

    /** Puts the first {@code n} Gs of a list at the end of the ring, which has room for them; owner only. */
    static void runqpushlist(long pp, long head, int n) {
        int h = HEAD.getAcquire(pp); // As in tryPush.
        int t = TAIL.get(pp);
        if (t - h + n > LEN) {
            throw Throw.of("runqputbatch: runq overflow");
        }
        for (long gp = head; n > 0; n--) {
            long next = G.SCHEDLINK.get(gp); // Before the G is visible: its next holder may relink it.
            store(pp, t++, gp);
            gp = next;
        }
        TAIL.setRelease(pp, t);
    }

    /**
     * Takes the next G; owner only.
     *
     * @return 0 when there is none; with bit {@link #INHERIT} when it came from runnext
     */
    public static long runqget(long pp) {
        long next = takeRunnext(pp);
        if (next != 0) {
            return next | INHERIT;
        }
        for (;;) {
            int h = HEAD.getAcquire(pp); // With the other consumers.
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
     * Copies n slots. Their order does not matter: nobody sees the thief's slots before its tail moves, and if the victim's owner
     * overwrites a slot meanwhile, the CAS on the head fails and the copy is thrown away. Rejected: block copies. They are faster by
     * half for 128 slots, but inlined here they make steals of 4 and 16 slower by half.
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
                    return 0; // Its owner took it, as expected; come back later if there is another.
                }
            } while (System.nanoTime() - start < politeNanos);
        }
        return RUNNEXT.compareAndSet(victim, next, 0L) ? next : 0;
    }

    /**
     * Steals from {@code victim} into the empty ring of {@code thief}; the thief's owner calls it.
     *
     * @param stealRunNext take runnext when the ring is empty
     * @param politeNanos how long to leave runnext to a running victim, which is about to take it itself
     * @return one of the stolen Gs, the others stand in the thief's ring; 0 when there was nothing
     */
    public static long runqsteal(long thief, long victim, boolean stealRunNext, long politeNanos) {
        int h = HEAD.getAcquire(victim); // With the other consumers.
        int t = TAIL.getAcquire(victim); // With the producer: the slots up to t are written.
        if (t == h && !stealRunNext) {
            return 0; // Most probes end here: small enough to be inlined where Ps are walked.
        }
        return runqgrab(thief, victim, h, t, stealRunNext, politeNanos);
    }

    /** Takes half of the victim's ring, of which head and tail were just read, by one CAS on its head. */
    private static long runqgrab(long thief, long victim, int h, int t, boolean stealRunNext, long politeNanos) {
        int at = TAIL.get(thief);
        for (;;) {
            int n = t - h;
            n -= n / 2;
            if (n == 0) {
                return stealRunNext ? grabRunNext(victim, politeNanos) : 0;
            }
            // Else the head moved between the two loads: not one state of the ring.
            if (n > 0 && n <= LEN / 2) {
                copy(thief, at, victim, h, n);
                if (HEAD.compareAndSet(victim, h, h + n)) { // At least CAS-release: the loads above come before.
                    return stolen(thief, at, n - 1);
                }
            }
            h = HEAD.getAcquire(victim);
            t = TAIL.getAcquire(victim);
        }
    }

    /** The last of the Gs that were copied is for now; the {@code n} before it go public. */
    private static long stolen(long thief, int at, int n) {
        if (n > 0) {
            if (at - HEAD.getAcquire(thief) + n >= LEN) {
                throw Throw.of("runqsteal: runq overflow");
            }
            TAIL.setRelease(thief, at + n); // Other thieves may take from here on.
        }
        return load(thief, at + n);
    }

    /**
     * Whether the P has nothing to run. Head, tail and runnext are one state of the queue only if the tail did not move
     * while they were read: runqput may move a G from runnext into the ring, and a reader between the two could miss it in both.
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

    /** How many Gs stand in the ring, runnext not counted: a snapshot for reports. */
    public static int size(long pp) {
        int n = TAIL.getAcquire(pp) - HEAD.getAcquire(pp);
        return Math.clamp(n, 0, LEN);
    }

    /** The head index, for checkers. */
    public static int head(long pp) {
        return HEAD.getVolatile(pp);
    }

    /** How many Gs were ever put into the ring, modulo 2^32; owner only. */
    public static int pushed(long pp) {
        return TAIL.get(pp);
    }

    /** The tail index, for checkers. */
    public static int tail(long pp) {
        return TAIL.getVolatile(pp);
    }

    /** What runnext holds, for checkers and reports; 0 when empty. */
    public static long runnext(long pp) {
        return RUNNEXT.getVolatile(pp);
    }

    /** The G in the slot of index {@code i}, for checkers. */
    public static long at(long pp, int i) {
        return load(pp, i);
    }
}
