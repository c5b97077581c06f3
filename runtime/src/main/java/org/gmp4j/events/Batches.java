// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.events;

import org.gmp4j.ffi.Memory;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.jspecify.annotations.Nullable;

/**
 * The batches of one scheduler's trace: the free ones, and the full ones, oldest first. They are guarded by a leaf lock, which a ring takes
 * once for each batch. The lock also orders the writes of a batch's events before their reads by the thread that takes the batch.
 */
public final class Batches {
    /** The greatest number of free batches that are skipped because they are of another node than the wanted one. */
    private static final int MOST_SKIPPED = 32;

    private final HeapMutex lock = new HeapMutex(LockRank.TRACE);
    private final boolean latest;
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
     * @param latest whether the oldest full batch is lost when no batch is free; if false, the batch that has just been filled is lost
     */
    Batches(int count, boolean latest) {
        this.latest = latest;
        bytes = (long) count * Batch.BYTES;
        address = Memory.map(bytes); // The kernel allocates a page when it is touched.
        for (int i = count - 1; i >= 0; i--) {
            Batch b = new Batch(address + (long) i * Batch.BYTES);
            b.next = free;
            free = b;
        }
    }

    /** Takes a free batch for a new ring. Returns null if no batch is free. {@code node} is the ring's node, -1 for none. */
    @Nullable Batch take(int node) {
        lock.lock();
        Batch b = unlink(node);
        lock.unlock();
        return b;
    }

    /**
     * Takes a free batch. Prefers a batch whose pages are on the node, or a fresh batch, whose pages can still be requested from the node.
     * If none of the first few free batches is such a batch, takes the first one. Returns null if no batch is free. Called under the lock.
     */
    private @Nullable Batch unlink(int node) {
        Batch before = null;
        Batch b = free;
        for (int i = 0; node >= 0 && b != null && !fits(b, node); i++) {
            before = i < MOST_SKIPPED ? b : null;
            b = i < MOST_SKIPPED ? b.next : null;
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

    /**
     * Hands a full batch over and returns a free one. Returns null when no batch is free; then the caller reuses the full batch, whose
     * events are lost.
     */
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

    /** Hands over the last batch of a ring that ends. */
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

    /** Removes and returns the oldest full batch; null if there is none. */
    public @Nullable Batch poll() {
        lock.lock();
        Batch b = first;
        if (b != null) {
            first = b.next;
        }
        lock.unlock();
        return b;
    }

    /** Frees a batch after its events were read. */
    public void free(Batch b) {
        lock.lock();
        b.next = free;
        free = b;
        lock.unlock();
    }

    /** Returns the number of lost batches. */
    public long dropped() {
        lock.lock();
        long n = dropped;
        lock.unlock();
        return n;
    }

    /** Returns the time, in ticks, after which no event is missing, for a trace that keeps only the latest batches. */
    public long lostUntil() {
        lock.lock();
        long t = lostUntil;
        lock.unlock();
        return t;
    }

    /** Frees the memory. No thread may read or write it afterwards. */
    void release() {
        Memory.unmap(address, bytes);
    }
}
