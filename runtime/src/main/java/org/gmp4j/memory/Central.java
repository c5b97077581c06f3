// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.util.Arrays;

import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;

/**
 * The free blocks of one size on one NUMA node, except the blocks in the caches of Ps. They are in whole batches, in a list of at most one
 * batch, and in the unused part of the last span. One lock guards them. Only {@link #giveRest} walks a list under the lock.
 *
 * <p>Before a span is added, the array of batches gets room for all batches that the blocks of all spans can fill. So freeing a block never
 * needs memory of the Java heap.
 */
final class Central {
    private final HeapMutex lock = new HeapMutex(LockRank.MEMORY);
    private final Mcache owner;
    private final int node;
    private final int c;
    private final int size;
    private final int batch;
    // Guarded by the lock:
    private long[] batches = {};
    private int n;
    private long loose;
    private int looseN;
    private long fresh;
    private long freshEnd;
    private long blocks;
    private long taken;
    private long given;
    private long moved;

    Central(Mcache owner, int node, int c) {
        this.owner = owner;
        this.node = node;
        this.c = c;
        size = SizeClasses.size(c);
        batch = SizeClasses.batch(c);
    }

    private void lock() {
        lock.lock();
        if (owner.closed) { // The closing thread sets closed before it takes this lock: see Mcache.close.
            lock.unlock();
            throw Mcache.closedException();
        }
    }

    /**
     * Moves at least one block, and at most a batch, to the cache of a P that has no block of this size.
     *
     * @throws OutOfMemoryError when there is no memory; nothing has changed
     */
    void refill(PCache to) {
        lock.lock(); // closed is not checked, because the closing thread waits for the user of the cache.
        try {
            if (n > 0) {
                to.have(c, batches[--n], batch);
                moved++;
            } else if (looseN > 0) {
                to.have(c, loose, looseN);
                loose = 0;
                looseN = 0;
                moved++;
            } else {
                if (fresh == freshEnd) {
                    span();
                }
                long end = Math.min(fresh + (long) batch * size, freshEnd);
                to.haveFresh(c, fresh, end);
                fresh = end;
            }
        } finally {
            lock.unlock();
        }
    }

    private void span() {
        int in = SizeClasses.blocks(c);
        int most = (int) Math.min(Integer.MAX_VALUE, (blocks + in) / batch + 1);
        if (most > batches.length) {
            batches = Arrays.copyOf(batches, Math.max(most, batches.length + (batches.length >> 1)));
        }
        fresh = owner.heap.takeSpan(node, c);
        freshEnd = fresh + (long) in * size;
        blocks += in;
    }

    /** Takes a whole batch from the cache of a P. */
    void give(long head) {
        lock.lock();
        try {
            add(head);
            moved++;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns a block for a thread without a P.
     *
     * @throws OutOfMemoryError when there is no memory; nothing has changed
     * @throws IllegalStateException when the allocator is closed
     */
    long takeOne() {
        lock();
        try {
            if (looseN == 0 && n > 0) {
                loose = batches[--n];
                looseN = batch;
            }
            if (looseN == 0 && fresh == freshEnd) {
                span();
            }
            taken++; // Counted after span(), which may fail.
            if (looseN > 0) {
                long block = loose;
                loose = Blocks.next(block);
                looseN--;
                Blocks.take(block);
                return block;
            }
            long block = fresh;
            fresh += size;
            return block;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes a block back from a thread without a P, or with a P of another node. Returns false, without a change, when it is free already.
     *
     * @throws IllegalStateException when the allocator is closed
     */
    boolean giveOne(long block) {
        lock();
        try {
            boolean was = Blocks.isFree(block, owner.secret);
            if (!was) {
                given++;
                push(block);
            }
            return !was;
        } finally {
            lock.unlock();
        }
    }

    /** Takes the blocks of a cache that is flushed: a list of marked blocks, and a range of unused blocks. */
    void giveRest(long list, long from, long end) {
        lock.lock();
        try {
            for (long block = list; block != 0;) {
                long next = Blocks.next(block);
                push(block);
                block = next;
            }
            for (long block = from; block < end; block += size) {
                push(block);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a batch. The array can be full only if blocks were freed twice, undetected. Then this drops the batch, and its memory is lost.
     */
    private void add(long head) {
        if (n < batches.length) {
            batches[n++] = head;
        }
    }

    private void push(long block) {
        if (looseN == batch) {
            add(loose);
            loose = 0;
            looseN = 0;
        }
        Blocks.free(block, loose, owner.secret);
        loose = block;
        looseN++;
    }

    /** Waits until the lock is free. Threads that take the lock later find the allocator closed. */
    void close() {
        lock.lock();
        lock.unlock();
    }

    /** Adds to the arguments the blocks taken and given without a cache or by a removed cache, and the batches that moved. */
    void addTo(long[] taken, long[] given, long[] moved) {
        lock.lock();
        try {
            taken[c] += this.taken;
            given[c] += this.given;
            moved[c] += this.moved;
        } finally {
            lock.unlock();
        }
    }

    /** Adds the counts of a cache that is removed. */
    void count(long taken, long given) {
        lock.lock();
        try {
            this.taken += taken;
            this.given += given;
        } finally {
            lock.unlock();
        }
    }
}
