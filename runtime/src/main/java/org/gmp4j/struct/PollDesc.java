// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

/**
 * Accessors of {@code struct pollDesc} in gmp.h, which describes each field and names its writer. The methods are static, and take the
 * struct's address. A method with a direction uses {@code wg} when {@code write} is true, {@code rg} otherwise.
 *
 * <p>The word of a waiter has the address of its {@code struct g}, of at most 48 bits, and above it the tag of the registration. A
 * descriptor that is registered for good has its only tag in {@code rseq}, and no tag in its words. Its {@code wseq} is 1 once an end, an
 * error or urgent data was reported.
 */
public final class PollDesc {
    /** The word after the descriptor was found ready, until the waiter has read it. */
    public static final long READY = 1;

    /** The word while the waiter is about to park. Used only for descriptors that are registered for good. */
    public static final long WAIT = 2;

    private static final int TAG_SHIFT = 48;
    private static final LongField RG = Struct.POLLDESC.longField("rg");
    private static final LongField WG = Struct.POLLDESC.longField("wg");
    private static final IntField RSEQ = Struct.POLLDESC.intField("rseq");
    private static final IntField WSEQ = Struct.POLLDESC.intField("wseq");

    private PollDesc() {
    }

    /** Makes a struct without waiters. */
    public static long make() {
        return Mem.alloc(Struct.POLLDESC, 1);
    }

    /** Frees the struct, which must not be used any more. */
    public static void recycle(long pd) {
        Mem.recycle(Struct.POLLDESC, pd);
    }

    /** Returns the word of a goroutine that waits with a tag. */
    public static long word(long gp, int tag) {
        return (long) tag << TAG_SHIFT | gp;
    }

    /** Returns the tag in a waiter's word. It is 0 in a word without a waiter. */
    public static int tag(long word) {
        return (int) (word >>> TAG_SHIFT);
    }

    /** Returns the goroutine in a waiter's word. */
    public static long g(long word) {
        return word & (1L << TAG_SHIFT) - 1;
    }

    /** Returns the tag for the next registration, 1 to 65,535, and stores it. Only the waiter may call this. */
    public static int nextTag(long pd, boolean write) {
        IntField seq = write ? WSEQ : RSEQ;
        int tag = seq.get(pd) + 1 & 0xFFFF;
        tag = tag == 0 ? 1 : tag;
        seq.set(pd, tag);
        return tag;
    }

    /** Returns the tag of a descriptor that is registered for good. */
    public static int seqVolatile(long pd) {
        return RSEQ.getVolatile(pd);
    }

    /** Sets a new tag, before the struct serves another registration, so that events with the old tag are stale. */
    public static void setSeqVolatile(long pd, int v) {
        RSEQ.setVolatile(pd, v);
    }

    /** Returns whether an end, an error or urgent data was reported for a descriptor that is registered for good. */
    public static boolean endSeen(long pd) {
        return WSEQ.getVolatile(pd) != 0;
    }

    /** Sets the result of {@link #endSeen}. A poller sets true before it writes READY. It is reset before the registration. */
    public static void setEndSeen(long pd, boolean seen) {
        WSEQ.setVolatile(pd, seen ? 1 : 0);
    }

    public static long xchgWaiter(long pd, boolean write, long v) {
        return write ? WG.getAndSet(pd, v) : RG.getAndSet(pd, v);
    }

    public static long waiterVolatile(long pd, boolean write) {
        return write ? WG.getVolatile(pd) : RG.getVolatile(pd);
    }

    public static void setWaiterVolatile(long pd, boolean write, long v) {
        if (write) {
            WG.setVolatile(pd, v);
        } else {
            RG.setVolatile(pd, v);
        }
    }

    public static boolean casWaiter(long pd, boolean write, long from, long to) {
        return write ? WG.compareAndSet(pd, from, to) : RG.compareAndSet(pd, from, to);
    }
}
