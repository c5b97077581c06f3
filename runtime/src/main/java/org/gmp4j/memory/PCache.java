// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.Membarrier;
import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.struct.HeapInt;
import org.gmp4j.struct.Mem;
import org.jspecify.annotations.Nullable;

/**
 * A P's free blocks of one allocator: for each size a list for takes and frees, and a whole batch in reserve. A full list becomes the
 * reserve, and the old reserve goes to {@link Central}. The reserve, or a batch from Central, replaces an empty list. So if a batch has n
 * blocks, at most one batch moves in any n takes and frees. Of each size a P keeps at most two batches and the rest of a range of fresh
 * blocks.
 *
 * <p>The state of a cache is in off-heap words. Only a goroutine on the P accesses them, inside {@code GStack.enter}. There the goroutine
 * is not preempted and does not lose the P between two steps. When the P dies, the thread that has stopped the world accesses them. The
 * thread that drops the caches of an ended scheduler, and the closing thread, access them when no goroutine does. {@link Mcache#stats}
 * reads the counts in a benign race.
 *
 * <p>Closing. The user of the cache makes {@code busy} 1, and then reads {@link Mcache#closed}. The closing thread makes {@code closed}
 * true, and then waits until it reads busy 0. Each of the two needs a full fence between its store and its load. The closing thread's
 * membarrier is the fence of both. So either the user finds the allocator closed, and uses no block, or the closing thread waits for the
 * user. After that wait the blocks and words are unmapped. Where there is no membarrier, both threads run full fences themselves. Elsewhere
 * that is rejected, because the fence would cost a user more than the rest of its call.
 */
final class PCache implements Processor.Cache {
    /** Whether the closing thread runs the users' fences by membarrier; otherwise the users run them. */
    private static final boolean ASYMMETRIC = Membarrier.isAvailable();

    private static final HeapInt<PCache> BUSY = HeapInt.of(MethodHandles.lookup(), PCache.class, "busy");

    private static final int SPINS = 1_000;

    // Each size has a cache line of words, with these offsets:
    private static final int LINE = 64;
    private static final int LIST = 0;
    private static final int LENGTH = 8;
    private static final int RESERVE = 16;
    private static final int FRESH = 24;
    private static final int FRESH_END = 32;
    private static final int TAKEN = 40;
    private static final int GIVEN = 48;
    private static final int BYTES = SizeClasses.COUNT * LINE;

    final Mcache owner;
    /** The NUMA node of the P: see {@link Processor#node}. */
    final int node;
    private final Central[] central;
    private final long words;
    /** The links of the list of all caches of the allocator, guarded by its lock. */
    @Nullable PCache next;
    @Nullable PCache previous;
    boolean listed;
    @SuppressWarnings("unused")
    private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;
    private volatile int busy;
    @SuppressWarnings("unused")
    private long q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, q10, q11, q12, q13, q14, q15;

    /**
     * Makes an empty cache.
     *
     * @throws OutOfMemoryError when there is no memory for it
     */
    PCache(Mcache owner, int node, Central[] central) {
        this.owner = owner;
        this.node = node;
        this.central = central;
        try {
            words = Memory.map(BYTES);
        } catch (NativeException e) {
            throw (OutOfMemoryError) new OutOfMemoryError("Mcache: " + e.getMessage()).initCause(e);
        }
        boolean _ = Memory.preferNode(words, BYTES, node); // If refused, the page is on the node of the first access, usually this one.
    }

    /** Enters the cache. Returns false when the allocator is closed; otherwise blocks and words stay mapped until {@link #exit}. */
    private boolean enter() {
        BUSY.setOpaque(this, 1);
        if (ASYMMETRIC) {
            VarHandle.acquireFence(); // A fence for the compiler: see GStack.raise. For the CPU there is the closing thread's membarrier.
        } else {
            VarHandle.fullFence();
        }
        if (owner.closed) {
            exit();
            return false;
        }
        return true;
    }

    private void exit() {
        BUSY.setRelease(this, 0);
    }

    /**
     * Returns a block.
     *
     * @throws OutOfMemoryError when there is no memory; nothing has changed
     * @throws IllegalStateException when the allocator is closed
     */
    long take(int c) {
        if (!enter()) {
            throw Mcache.closedException();
        }
        try {
            long line = words + (long) c * LINE;
            long block = Mem.LONG.get(line + LIST);
            if (block == 0) {
                block = Mem.LONG.get(line + FRESH);
                if (block < Mem.LONG.get(line + FRESH_END)) {
                    Mem.LONG.set(line + FRESH, block + SizeClasses.size(c));
                    Mem.LONG.set(line + TAKEN, Mem.LONG.get(line + TAKEN) + 1);
                    return block;
                }
                block = more(c, line);
            }
            if (block != 0) {
                Mem.LONG.set(line + LIST, Blocks.next(block));
                Mem.LONG.set(line + LENGTH, Mem.LONG.get(line + LENGTH) - 1);
                Blocks.take(block);
            } else {
                block = Mem.LONG.get(line + FRESH);
                Mem.LONG.set(line + FRESH, block + SizeClasses.size(c));
            }
            Mem.LONG.set(line + TAKEN, Mem.LONG.get(line + TAKEN) + 1);
            return block;
        } finally {
            exit();
        }
    }

    /** Replaces an empty list. Returns the head of the new list; 0 when there is a new range of fresh blocks instead. */
    private long more(int c, long line) {
        long reserve = Mem.LONG.get(line + RESERVE);
        if (reserve != 0) {
            Mem.LONG.set(line + RESERVE, 0);
            have(c, reserve, SizeClasses.batch(c));
        } else {
            central[c].refill(this);
        }
        return Mem.LONG.get(line + LIST);
    }

    /** Sets the list of a size. Called by {@link Central#refill}. */
    void have(int c, long list, int length) {
        long line = words + (long) c * LINE;
        Mem.LONG.set(line + LIST, list);
        Mem.LONG.set(line + LENGTH, length);
    }

    /** Sets the range of fresh blocks of a size. Called by {@link Central#refill}. */
    void haveFresh(int c, long from, long end) {
        long line = words + (long) c * LINE;
        Mem.LONG.set(line + FRESH, from);
        Mem.LONG.set(line + FRESH_END, end);
    }

    /**
     * Frees a block. Returns false, without a change, when it is free already.
     *
     * @throws IllegalStateException when the allocator is closed
     */
    boolean give(int c, long block) {
        if (!enter()) {
            throw Mcache.closedException();
        }
        try {
            long secret = owner.secret;
            if (Blocks.isFree(block, secret)) {
                return false;
            }
            long line = words + (long) c * LINE;
            long length = Mem.LONG.get(line + LENGTH);
            long list = Mem.LONG.get(line + LIST);
            if (length == SizeClasses.batch(c)) {
                full(c, line, list);
                length = 0;
                list = 0;
            }
            Blocks.free(block, list, secret);
            Mem.LONG.set(line + LIST, block);
            Mem.LONG.set(line + LENGTH, length + 1);
            Mem.LONG.set(line + GIVEN, Mem.LONG.get(line + GIVEN) + 1);
            return true;
        } finally {
            exit();
        }
    }

    private void full(int c, long line, long list) {
        long reserve = Mem.LONG.get(line + RESERVE);
        if (reserve != 0) {
            central[c].give(reserve);
        }
        Mem.LONG.set(line + RESERVE, list);
    }

    /** Moves all blocks to the central lists. */
    @Override
    public void flush() {
        GStack st = GStack.enterChecked();
        if (enter()) {
            for (int c = 0; c < SizeClasses.COUNT; c++) {
                flush(c);
            }
            exit();
        }
        GStack.exit(st);
    }

    private void flush(int c) {
        long line = words + (long) c * LINE;
        long reserve = Mem.LONG.get(line + RESERVE);
        if (reserve != 0) {
            Mem.LONG.set(line + RESERVE, 0);
            central[c].give(reserve);
        }
        long list = Mem.LONG.get(line + LIST);
        long from = Mem.LONG.get(line + FRESH);
        long end = Mem.LONG.get(line + FRESH_END);
        have(c, 0, 0);
        haveFresh(c, 0, 0);
        if (list != 0 || from < end) {
            central[c].giveRest(list, from, end);
        }
    }

    @Override
    public void drop() {
        flush();
        owner.dropped(this);
    }

    /** Waits until no thread is in the cache. Called by the closing thread, which has set {@code closed} and run the membarrier. */
    void quiesce() {
        for (int i = 0; busy != 0; i++) {
            if (i < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    /**
     * Unmaps the words. Called when the allocator is closed and no thread is in the cache, or when the cache is in no list and belongs to
     * no P.
     */
    void unmap() {
        Heap.unmap(words, BYTES);
    }

    /** Adds this cache's counts to the arguments. */
    void addTo(long[] taken, long[] given) {
        for (int c = 0; c < SizeClasses.COUNT; c++) {
            long line = words + (long) c * LINE;
            taken[c] += Mem.LONG.get(line + TAKEN);
            given[c] += Mem.LONG.get(line + GIVEN);
        }
    }

    /** Adds this cache's counts to the counts of the central lists. */
    void leaveCounts() {
        for (int c = 0; c < SizeClasses.COUNT; c++) {
            long line = words + (long) c * LINE;
            central[c].count(Mem.LONG.get(line + TAKEN), Mem.LONG.get(line + GIVEN));
        }
    }

    static void fenceUsers() {
        if (ASYMMETRIC) {
            Membarrier.run();
        } else {
            VarHandle.fullFence();
        }
    }
}
