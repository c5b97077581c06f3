// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

import org.gmp4j.ffi.AddressSpace;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.base.Processor;
import org.jspecify.annotations.Nullable;

/**
 * An allocator of off-heap segments. Any thread may free any segment by {@link #free}, in any order. Thread-safe. The allocator is made for
 * goroutines: each P has lists of free blocks, and a goroutine takes a block from the lists of its P without a lock. So a block is reused
 * soon after it was freed, when the CPU's cache still has it. Threads that are not goroutines share lists under locks. No method waits, so
 * interrupts and bubbles have no effect.
 *
 * {@snippet :
 * try (Mcache memory = Mcache.create()) {
 *     gmp.run(() -> {
 *         MemorySegment s = memory.allocate(100);
 *         try {
 *             use(s);
 *         } finally {
 *             memory.free(s);
 *         }
 *     });
 * }
 * }
 *
 * <p>The contents of a new segment are undefined, as with {@code malloc}; {@link #allocateZeroed} clears them. {@code allocateFrom} writes
 * all bytes of its segments. A size is rounded up to one of 40 classes from 16 bytes to 32 KiB, with four classes between a power of two
 * and the next. A larger segment has a mapping of its own, which takes microseconds to make and undo. A segment of 0 bytes also has an
 * address of its own, and must be freed.
 *
 * <p>With an affinity ({@code Gmp.Builder.affinity}) on a machine with several NUMA nodes, a P whose CPUs belong to one node has blocks of
 * that node's memory. If a goroutine on that P frees a block of another node, the block returns to its own node.
 *
 * <p>A segment that was freed must not be used any more. As in C such use is not detected, except that a second {@code free} throws if the
 * block was not allocated again. In debug mode ({@link Builder#debug}) all such use throws. After {@link #close} the use of any segment
 * throws, in either mode. An allocator that is not closed keeps its memory until the process ends.
 *
 * <p>Source: Go's mcache, mcentral and mheap; {@link PCache} has the protocol.
 */
public final class Mcache implements SegmentAllocator, AutoCloseable {
    /** The numbers of the open allocators. An allocator's number is the index of its caches in the tables of the Ps. */
    private static final BitSet NUMBERS = new BitSet();

    /** A random number in the marks of free blocks. Because of it the contents of a live block do not look like a mark. */
    final long secret = ThreadLocalRandom.current().nextLong() | 1;
    final Heap heap;
    /** Whether the allocator is closed; then blocks may be unmapped. Written once, by {@link #close}. */
    volatile boolean closed;
    private final int number;
    /** The arena of {@link #all}, the whole address space as one segment. Outside of debug mode all segments are slices of that segment. */
    private final Arena arena = Arena.ofShared();
    private final MemorySegment all = AddressSpace.all(arena);
    private final MemorySegment.Scope scope = all.scope();
    private final @Nullable Debug debug;
    private final AtomicBoolean closing = new AtomicBoolean();
    /** The central lists by NUMA node + 1 (0 for no node) and size class. The array is replaced under {@link #lock}, and not changed. */
    private volatile Central[][] central;
    private final HeapMutex lock = new HeapMutex(LockRank.MEMORY_HEAP);
    /** The list of all caches. Guarded by {@link #lock}, like their number. */
    private @Nullable PCache caches;
    private int cacheCount;

    private Mcache(Settings s) {
        heap = new Heap(s.limit, s.hugePages);
        debug = s.debug ? new Debug(this) : null;
        central = new Central[][] {lists(-1)};
        synchronized (NUMBERS) {
            number = NUMBERS.nextClearBit(0);
            NUMBERS.set(number);
        }
    }

    /** Returns an allocator with the defaults of {@link Builder}. */
    public static Mcache create() {
        return builder().build();
    }

    /** Returns a builder. */
    public static Builder builder() {
        return new Settings();
    }

    /** Settings of an allocator. Not thread-safe. */
    public interface Builder {
        /**
         * Sets the limit, bytes, of the address space that the allocator takes from the kernel. The limit is at least 4 MiB, the unit in
         * which the allocator takes address space for blocks. Default: no limit. An allocation that would need more throws
         * {@link OutOfMemoryError}, even if other Ps have free blocks.
         */
        Builder limit(long bytes);

        /**
         * Sets whether misuse is detected: default false. In this debug mode every segment has a scope of its own, which ends with {@link
         * #free}, so that later use throws {@link IllegalStateException}. New segments are filled with {@code 0xCD}, and freed blocks with
         * {@code 0xDD}; freed blocks are not reused for a while. {@link Mcache#check}, {@code free} and {@code close} detect native code's
         * writes to freed blocks and behind the end of live segments. {@link Mcache#leaks} returns the places where live segments were
         * allocated, and {@code close} prints them on stderr. An allocation takes some microseconds, and allocations of several threads
         * wait for each other.
         */
        Builder debug(boolean on);

        /**
         * Sets whether the allocator requests huge pages from the kernel ({@code MADV_HUGEPAGE}): default false. That saves TLB misses if
         * much memory is in use.
         */
        Builder hugePages(boolean on);

        /**
         * Makes the allocator. It takes memory at its first use.
         *
         * @throws IllegalArgumentException when a setting is bad; the message names it
         * @throws OutOfMemoryError when there is no memory for the allocator, or for the code that the process's first allocator loads and
         *     runs
         */
        Mcache build();
    }

    private static final class Settings implements Builder {
        private long limit = Long.MAX_VALUE;
        private boolean debug;
        private boolean hugePages;

        @Override
        public Builder limit(long bytes) {
            limit = bytes;
            return this;
        }

        @Override
        public Builder debug(boolean on) {
            debug = on;
            return this;
        }

        @Override
        public Builder hugePages(boolean on) {
            hugePages = on;
            return this;
        }

        @Override
        public Mcache build() {
            if (limit < Chunk.BYTES) {
                throw new IllegalArgumentException("limit is " + limit + " bytes: use " + Chunk.BYTES + " or more");
            }
            Drill.once();
            return new Mcache(this);
        }
    }

    /** Returns an allocator for {@link Drill}, which runs before any other allocator is made. */
    static Mcache bare() {
        return new Mcache(new Settings());
    }

    static IllegalStateException closedException() {
        return new IllegalStateException("the Mcache is closed");
    }

    private Central[] lists(int node) {
        Central[] lists = new Central[SizeClasses.COUNT];
        for (int c = 0; c < lists.length; c++) {
            lists[c] = new Central(this, node, c);
        }
        return lists;
    }

    /**
     * Returns a new segment. Its contents are undefined.
     *
     * @param byteSize bytes, 0 or more
     * @param byteAlignment a power of two; the address is a multiple of it
     * @throws IllegalArgumentException when an argument is not in its range
     * @throws OutOfMemoryError when the kernel gives no more memory, or the limit is reached; nothing has changed
     * @throws IllegalStateException after {@link #close}
     */
    @Override
    public MemorySegment allocate(long byteSize, long byteAlignment) {
        if (byteSize < 0) {
            throw new IllegalArgumentException("a segment of " + byteSize + " bytes: use 0 or more");
        }
        if (byteAlignment <= 0 || (byteAlignment & byteAlignment - 1) != 0) {
            throw new IllegalArgumentException("an alignment of " + byteAlignment + ": use a power of two");
        }
        return debug != null ? debug.allocate(byteSize, byteAlignment) : all.asSlice(take(byteSize, byteAlignment), byteSize);
    }

    /**
     * Returns a new segment that is filled with zeros. Takes the same arguments as {@link #allocate(long, long)}, and throws the same
     * errors.
     */
    public MemorySegment allocateZeroed(long byteSize, long byteAlignment) {
        return allocate(byteSize, byteAlignment).fill((byte) 0);
    }

    /**
     * Frees a segment. The program must not use it any more.
     *
     * @param segment a segment from {@link #allocate} of this allocator, or a part of it that begins at the same address
     * @throws IllegalArgumentException when it is another segment
     * @throws IllegalStateException when the segment is free already and its block was not allocated again (in debug mode even if it was),
     *     or when the allocator is closed; nothing has changed
     */
    public void free(MemorySegment segment) {
        Objects.requireNonNull(segment);
        if (debug != null) {
            debug.free(segment);
            return;
        }
        if (!segment.isNative() || !segment.scope().equals(scope)) {
            throw foreign(segment);
        }
        if (!give(segment.address())) {
            throw new IllegalStateException("double free: the segment of " + segment.byteSize() + " bytes at 0x"
                    + Long.toHexString(segment.address()) + " is free already; Mcache.builder().debug(true) tells where it was freed");
        }
    }

    IllegalArgumentException foreign(MemorySegment segment) {
        return new IllegalArgumentException("the segment of " + segment.byteSize() + " bytes at 0x" + Long.toHexString(segment.address())
                + " was not allocated by this Mcache, or does not begin where one does");
    }

    /** Returns the address of a new block. The caller has checked the arguments. */
    long take(long size, long align) {
        int c = SizeClasses.of(size, align);
        if (c == SizeClasses.NONE) {
            return heap.map(size, align, node());
        }
        GStack st = GStack.enter();
        try {
            return st != null ? cache(st).take(c) : central[0][c].takeOne();
        } finally {
            GStack.exit(st);
        }
    }

    private int node() {
        GStack st = GStack.enter();
        int node = st == null ? -1 : st.processor().node();
        GStack.exit(st);
        return node;
    }

    /** Frees a block. Returns false when it is free already. */
    boolean give(long address) {
        Chunk chunk = heap.chunk(address);
        if (chunk == null) {
            if (closed) {
                throw closedException();
            }
            if (heap.unmap(address) == 0) {
                throw new IllegalStateException("double free, or not the beginning of a segment: nothing is at 0x"
                        + Long.toHexString(address));
            }
            return true;
        }
        int c = chunk.classAt(address);
        if (c == SizeClasses.NONE) {
            throw new IllegalArgumentException("0x" + Long.toHexString(address) + " is not the beginning of a segment of this Mcache");
        }
        GStack st = GStack.enterToGive();
        try {
            if (st == null) {
                return central[chunk.node + 1][c].giveOne(address);
            }
            PCache cache = cache(st);
            return cache.node == chunk.node ? cache.give(c, address) : central[chunk.node + 1][c].giveOne(address);
        } finally {
            GStack.exit(st);
        }
    }

    /** Returns the cache of a goroutine's P. Called inside {@link GStack#enter}. */
    private PCache cache(GStack st) {
        Processor pr = st.processor();
        return pr.cache(number) instanceof PCache p && p.owner == this && p.node == pr.node() ? p : newCache(pr);
    }

    private PCache newCache(Processor pr) {
        if (closed) {
            throw closedException();
        }
        PCache fresh = new PCache(this, pr.node(), central(pr.node()));
        boolean done = false;
        try {
            add(fresh);
            done = true;
        } finally {
            if (!done) {
                fresh.unmap();
            }
        }
        Processor.Cache old = pr.cache(number);
        done = false;
        try {
            pr.setCache(number, fresh);
            done = true;
        } finally {
            if (!done) {
                fresh.drop();
            }
        }
        if (old instanceof PCache p && p.owner == this) { // The P has moved from another node, to which the old cache belongs.
            p.drop();
        }
        return fresh;
    }

    /** Returns a cache that belongs to no P, for {@link Drill}. */
    PCache loose() {
        PCache c = new PCache(this, -1, central(-1));
        add(c);
        return c;
    }

    Central list(int c) {
        return central[0][c];
    }

    private Central[] central(int node) {
        Central[][] now = central;
        if (node + 1 < now.length && now[node + 1] != null) {
            return now[node + 1];
        }
        Central[] lists = lists(node);
        lock.lock();
        try {
            now = central;
            if (node + 1 >= now.length || now[node + 1] == null) {
                now = Arrays.copyOf(now, Math.max(now.length, node + 2));
                now[node + 1] = lists;
                central = now;
            }
            return now[node + 1];
        } finally {
            lock.unlock();
        }
    }

    private void add(PCache c) {
        lock.lock();
        boolean open = !closed;
        if (open) {
            c.next = caches;
            if (caches != null) {
                caches.previous = c;
            }
            caches = c;
            c.listed = true;
            cacheCount++;
        }
        lock.unlock();
        if (!open) {
            throw closedException();
        }
    }

    /** Removes an empty cache from the list and unmaps it, unless {@link #close} has taken it. */
    void dropped(PCache c) {
        GStack st = GStack.enterChecked();
        lock.lock();
        boolean mine = c.listed;
        if (mine) {
            c.listed = false;
            if (c.previous == null) {
                caches = c.next;
            } else {
                c.previous.next = c.next;
            }
            if (c.next != null) {
                c.next.previous = c.previous;
            }
            cacheCount--;
        }
        lock.unlock();
        if (mine) {
            c.leaveCounts();
            c.unmap();
        }
        GStack.exit(st);
    }

    /** Removes all caches from the list, for the caller. Returns the first cache, from which {@code next} leads to the others. */
    private @Nullable PCache takeCaches() {
        GStack st = GStack.enterChecked();
        lock.lock();
        PCache all = caches;
        for (PCache c = all; c != null; c = c.next) {
            c.listed = false;
        }
        caches = null;
        cacheCount = 0;
        lock.unlock();
        GStack.exit(st);
        return all;
    }

    /** Returns the statistics. After {@link #close} they stay as they were at the close. */
    public AllocatorStats stats() {
        long[] taken = new long[SizeClasses.COUNT];
        long[] given = new long[SizeClasses.COUNT];
        long[] moved = new long[SizeClasses.COUNT];
        GStack st = GStack.enter();
        lock.lock();
        for (PCache c = caches; c != null; c = c.next) {
            c.addTo(taken, given);
        }
        int n = cacheCount;
        lock.unlock();
        for (Central[] lists : central) {
            for (int c = 0; lists != null && c < lists.length; c++) {
                lists[c].addTo(taken, given, moved);
            }
        }
        GStack.exit(st);
        AllocatorStats f = heap.stats(taken, given, moved, n);
        return debug == null ? f : debug.stats(f);
    }

    /**
     * Returns the segments that were not freed, by the place of the allocation, most bytes first. In debug mode only.
     *
     * @throws IllegalStateException outside of debug mode
     */
    public List<Leak> leaks() {
        return inDebug().leaks();
    }

    /**
     * Checks for writes to freed blocks, and for writes behind the end of live segments. In debug mode only.
     *
     * @throws IllegalStateException when it finds such a write, with the places where the block was allocated and freed; or outside of
     *     debug mode
     */
    public void check() {
        inDebug().check();
    }

    private Debug inDebug() {
        if (debug == null) {
            throw new IllegalStateException("not in debug mode: use Mcache.builder().debug(true)");
        }
        return debug;
    }

    /**
     * Ends all segments and frees all memory. Any later use of a segment, or of this allocator, throws {@link IllegalStateException}.
     * In debug mode it prints on stderr the segments that were not freed, and the errors that {@link #check} would find. A second
     * close does nothing.
     *
     * <p>On JDK 25 and 26 without the fix of JDK-8364167, such as 25.0.3, a thread may crash the JVM by an access to a segment during the
     * close of this allocator or of any shared arena.
     *
     * @throws IllegalStateException when a native call uses a segment; then the allocator is not closed
     */
    @Override
    public void close() {
        GStack.checkAll();
        if (!closing.compareAndSet(false, true)) {
            return;
        }
        boolean ended = false;
        try {
            if (debug != null) {
                debug.end();
            }
            arena.close();
            ended = true;
        } finally {
            if (!ended) {
                closing.set(false);
            }
        }
        closed = true;
        PCache.fenceUsers(); // Now each user of a cache sees closed set, or has set busy: see PCache.
        PCache all = takeCaches(); // No cache can be added later.
        for (PCache c = all; c != null; c = c.next) {
            c.quiesce();
        }
        GStack st = GStack.enterChecked();
        for (Central[] lists : central) {
            for (int c = 0; lists != null && c < lists.length; c++) {
                lists[c].close();
            }
        }
        for (PCache c = all; c != null; c = c.next) {
            c.leaveCounts();
            c.unmap();
        }
        GStack.exit(st);
        heap.close();
        synchronized (NUMBERS) {
            NUMBERS.clear(number);
        }
    }
}
