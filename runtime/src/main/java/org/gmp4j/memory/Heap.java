// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.gmp4j.ffi.Memory;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.GStack;

/**
 * The memory of an allocator: chunks, which are divided into spans, and a mapping for each segment that is larger than the largest block.
 * Chunks stay until the end. Mappings are made and undone outside of the lock, except the mappings of chunks, which are rare.
 */
final class Heap {
    /** A number of bytes that no process can map. */
    private static final long MOST = 1L << 47;
    private static final int HUGE_PAGE = 2 << 20;
    /** A multiple of the page size of every machine. Sizes and alignments for {@link Memory#mapAligned} are multiples of it. */
    private static final long GRANULE = 64 << 10;
    private static final long PAGE = 4 << 10;

    private final HeapMutex lock = new HeapMutex(LockRank.MEMORY_HEAP);
    private final long limit;
    private final boolean hugePages;
    /** A hash table of the chunks by address, with open addressing, at most half full. Replaced under the lock; any thread reads it. */
    private volatile Chunk[] table = new Chunk[4];
    // Guarded by the lock:
    private int chunks;
    /** The chunk from which new spans are taken, by node. The index is the node + 1. */
    private Chunk[] current = new Chunk[1];
    /** The number of spans of each current chunk that are in use. */
    private int[] used = new int[1];
    private final Map<Long, Long> mappings = new HashMap<>();
    private boolean closed;
    // Written under the lock:
    private volatile long mapped;
    private volatile long mappedBig;
    private volatile int big;
    private volatile long bigTaken;
    /** The number of mappings whose node the kernel did not accept. */
    private final AtomicInteger unbound = new AtomicInteger();

    Heap(long limit, boolean hugePages) {
        this.limit = limit;
        this.hugePages = hugePages;
    }

    /**
     * Returns the statistics. Each array has one count for each size class, added up over all lists and caches: the blocks taken, the
     * blocks given back, and the batches that moved.
     */
    AllocatorStats stats(long[] taken, long[] given, long[] moved, int caches) {
        long allocations = 0;
        long live = 0;
        long bytes = 0;
        long batches = 0;
        for (int c = 0; c < SizeClasses.COUNT; c++) {
            long now = Math.max(taken[c] - given[c], 0);
            allocations += taken[c];
            live += now;
            bytes += now * SizeClasses.size(c);
            batches += moved[c];
        }
        live += big;
        allocations += bigTaken;
        return new AllocatorStats(live, bytes + mappedBig, mapped, mappedBig, allocations, Math.max(allocations - live, 0), batches, caches,
                unbound.get());
    }

    /** Returns the chunk that contains this address; null when no chunk does. */
    Chunk chunk(long address) {
        long base = address & -Chunk.BYTES;
        Chunk[] t = table;
        for (int i = hash(base);; i++) {
            Chunk c = t[i & t.length - 1];
            if (c == null || c.base == base) {
                return c;
            }
        }
    }

    private static int hash(long base) {
        return (int) ((base / Chunk.BYTES) * 0x9E37_79B9L >>> 12);
    }

    /**
     * Returns a span of zeros for blocks of a class. Called under the lock of the class's central list.
     *
     * @throws OutOfMemoryError when there is no memory; nothing has changed
     */
    long takeSpan(int node, int c) {
        lock.lock();
        try {
            if (closed) {
                throw Mcache.closedException();
            }
            int at = node + 1;
            if (at >= current.length) {
                int[] more = Arrays.copyOf(used, at + 1);
                current = Arrays.copyOf(current, at + 1);
                used = more;
            }
            if (current[at] == null || used[at] == Chunk.SPANS) {
                current[at] = newChunk(node);
                used[at] = 0;
            }
            current[at].assign(used[at], c);
            return current[at].span(used[at]++);
        } finally {
            lock.unlock();
        }
    }

    private Chunk newChunk(int node) {
        Chunk[] t = 2 * (chunks + 1) > table.length ? new Chunk[2 * table.length] : table.clone();
        reserve(Chunk.BYTES);
        long base = 0;
        Chunk c = null;
        boolean done = false;
        try {
            base = mapAligned(Chunk.BYTES, Chunk.BYTES);
            c = new Chunk(base, node);
            prepare(base, Chunk.BYTES, node);
            done = true;
        } finally {
            if (!done) {
                mapped -= Chunk.BYTES;
                if (base != 0) {
                    unmap(base, Chunk.BYTES);
                }
            }
        }
        if (t.length > table.length) {
            for (Chunk old : table) {
                insert(t, old);
            }
        }
        insert(t, c);
        chunks++;
        table = t;
        return c;
    }

    private static void insert(Chunk[] t, Chunk c) {
        if (c != null) {
            int i = hash(c.base);
            while (t[i & t.length - 1] != null) {
                i++;
            }
            t[i & t.length - 1] = c;
        }
    }

    private void prepare(long address, long bytes, int node) {
        if (!Memory.preferNode(address, bytes, node)) {
            unbound.incrementAndGet();
        }
        if (hugePages && bytes >= HUGE_PAGE) {
            boolean _ = Memory.preferHugePages(address, bytes);
        }
    }

    private void reserve(long bytes) {
        if (bytes > limit - mapped) {
            throw new OutOfMemoryError("Mcache: " + bytes + " bytes more than the " + mapped
                    + " that are mapped would be beyond its limit of " + limit);
        }
        mapped += bytes;
    }

    private static long mapAligned(long bytes, long align) {
        if (bytes + align > MOST) {
            throw new OutOfMemoryError("Mcache: no process has room for " + bytes + " bytes at a multiple of " + align);
        }
        try {
            return align <= PAGE ? Memory.map(bytes) : Memory.mapAligned(bytes, align);
        } catch (NativeException e) {
            throw (OutOfMemoryError) new OutOfMemoryError("Mcache: the kernel gives no " + bytes + " bytes: " + e.getMessage())
                    .initCause(e);
        }
    }

    /** Undoes a mapping, or leaves it if that fails. */
    static void unmap(long at, long bytes) {
        try {
            Memory.unmap(at, bytes);
        } catch (OutOfMemoryError | NativeException e) {
            return; // Some address space is lost, because there is no memory for the call, or the kernel allows no more mappings.
        }
    }

    /**
     * Makes a mapping for one segment, and returns its address.
     *
     * @throws OutOfMemoryError when there is no memory; nothing has changed
     */
    long map(long size, long align, int node) {
        if (size > MOST || align > MOST) {
            throw new OutOfMemoryError("Mcache: no process has room for " + size + " bytes at a multiple of " + align);
        }
        long bytes = Math.max(size, 1) + PAGE - 1 & -PAGE;
        long at = align <= PAGE ? PAGE : Math.max(align, GRANULE);
        at = hugePages && bytes >= HUGE_PAGE ? Math.max(at, HUGE_PAGE) : at;
        bytes = at > PAGE ? bytes + GRANULE - 1 & -GRANULE : bytes;
        count(bytes);
        long address = 0;
        boolean done = false;
        try {
            address = mapAligned(bytes, at);
            prepare(address, bytes, node);
            note(address, bytes);
            done = true;
            return address;
        } finally {
            if (!done) {
                count(-bytes);
                if (address != 0) {
                    unmap(address, bytes);
                }
            }
        }
    }

    private void note(long address, long bytes) {
        Long key = address;
        Long value = bytes;
        GStack st = GStack.enter();
        lock.lock();
        boolean half = false;
        try {
            if (closed) {
                throw Mcache.closedException();
            }
            half = true;
            mappings.put(key, value);
            half = false;
            mappedBig += bytes;
            big++;
            bigTaken++;
        } finally {
            if (half) { // The map found no memory to grow, but has the new entry already. The entry would outlive the mapping.
                mappings.remove(key);
            }
            lock.unlock();
            GStack.exit(st);
        }
    }

    private void count(long bytes) {
        GStack st = GStack.enterChecked();
        lock.lock();
        try {
            if (bytes > 0) {
                reserve(bytes);
            } else {
                mapped += bytes;
            }
        } finally {
            lock.unlock();
            GStack.exit(st);
        }
    }

    /** Undoes a mapping. Returns its size in bytes, or 0 when no mapping begins at the address. */
    long unmap(long address) {
        Long key = address;
        GStack st = GStack.enterToGive();
        lock.lock();
        Long bytes;
        try {
            if (closed) {
                throw Mcache.closedException();
            }
            bytes = mappings.remove(key);
            if (bytes != null) {
                mappedBig -= bytes;
                big--;
            }
        } finally {
            lock.unlock();
            GStack.exit(st);
        }
        if (bytes == null) {
            return 0;
        }
        unmap(address, bytes);
        count(-bytes);
        return bytes;
    }

    /** Undoes all mappings. Called when no thread uses a block any more. */
    void close() {
        GStack st = GStack.enterChecked();
        lock.lock();
        closed = true;
        lock.unlock();
        GStack.exit(st);
        for (Chunk c : table) {
            if (c != null) {
                unmap(c.base, Chunk.BYTES);
            }
        }
        mappings.forEach((at, bytes) -> unmap(at, bytes));
        table = new Chunk[1];
    }
}
