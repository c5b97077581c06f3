// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.jspecify.annotations.Nullable;

/**
 * The batches of one scheduler's trace: those that are free, and those that are full, oldest first. A leaf lock, taken once in some 4,000
 * events. It orders what a batch holds before whoever takes it from the list.
 */
public final class Batches {
    private final HeapMutex lock = new HeapMutex(LockRank.TRACE);
    private final boolean latest;
    /** How many are looked at for one of a node. */
    private static final int LOOK = 32;

    private final long address;
    private final long bytes;
    private @Nullable Batch free;
    private @Nullable Batch first;
    private @Nullable Batch last;
    private long dropped;
    private long lostUntil;

    /**
     * Takes memory for {@code count} batches.
     *
     * @param latest when no batch is free the oldest full one is lost; else the one that has just been filled
     */
    Batches(int count, boolean latest) {
        this.latest = latest;
        bytes = (long) count * Batch.BYTES;
        address = Memory.map(bytes); // Takes memory where it is touched.
        for (int i = count - 1; i >= 0; i--) {
            Batch b = new Batch(address + (long) i * Batch.BYTES);
            b.next = free;
            free = b;
        }
    }

    /** A free one for a new ring of a node (-1 for none), or null. */
    @Nullable Batch take(int node) {
        lock.lock();
        Batch b = unlink(node);
        lock.unlock();
        return b;
    }

    /** A free one of the node, or one that can still be there, among the next few; else the next, if any. Under the lock. */
    private @Nullable Batch unlink(int node) {
        Batch before = null;
        Batch b = free;
        for (int i = 0; node >= 0 && b != null && !fits(b, node); i++) {
            before = i < LOOK ? b : null;
            b = i < LOOK ? b.next : null;
        }
        if (b == null || before == null) {
            b = free;
            free = b == null ? null : b.next;
        } else {
            before.next = b.next;
        }
        return b;
    }

    private static boolean fits(Batch b, int node) {
        return b.node == node || b.node == Batch.FRESH;
    }

    /** Hands a full one over; returns a free one, or null when there is none: then the caller keeps the full one, as lost. */
    @Nullable Batch exchange(Batch full, int node) {
        lock.lock();
        Batch b = unlink(node);
        if (b == null && latest && first != null) {
            b = first;
            first = b.next;
            dropped++;
            lostUntil = Math.max(lostUntil, b.until);
        }
        if (b != null) {
            append(full);
        } else {
            dropped++;
        }
        lock.unlock();
        return b;
    }

    /** The same without one in return: the ring is at its end. */
    void hand(Batch b) {
        lock.lock();
        append(b);
        lock.unlock();
    }

    private void append(Batch b) {
        b.next = null;
        if (first == null || last == null) {
            first = b;
        } else {
            last.next = b;
        }
        last = b;
    }

    /** The oldest full one, for good; null for none. */
    public @Nullable Batch poll() {
        lock.lock();
        Batch b = first;
        if (b != null) {
            first = b.next;
        }
        lock.unlock();
        return b;
    }

    /** Gives one back that was read. */
    public void free(Batch b) {
        lock.lock();
        b.next = free;
        free = b;
        lock.unlock();
    }

    /** How many were lost. */
    public long dropped() {
        lock.lock();
        long n = dropped;
        lock.unlock();
        return n;
    }

    /** When only the latest are kept: from when on nothing is missing, in ticks. */
    public long lostUntil() {
        lock.lock();
        long t = lostUntil;
        lock.unlock();
        return t;
    }

    /** Nobody writes or reads any more. */
    void release() {
        Memory.unmap(address, bytes);
    }
}
