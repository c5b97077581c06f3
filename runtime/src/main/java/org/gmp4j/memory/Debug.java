// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

import org.gmp4j.ffi.AddressSpace;
import org.jspecify.annotations.Nullable;

/**
 * The debug mode of an allocator: it records for each block where it was allocated and freed. A freed block stays in a queue for a while
 * before it is reused. No scope stops late writes of native code, but such writes damage the block in the queue, and so are detected. One
 * lock guards the whole state.
 */
final class Debug {
    private static final byte NEW = (byte) 0xCD;
    private static final byte DEAD = (byte) 0xDD;
    private static final byte EDGE = (byte) 0xBD;
    /** The number of guard bytes behind the end of each segment. If one has changed, code has written out of bounds. */
    private static final int EDGE_BYTES = 16;
    private static final int MOST_RESTING = 4_096;
    private static final long MOST_RESTING_BYTES = 16 << 20;
    private static final int FRAMES = 12;
    private static final StackWalker WALKER = StackWalker.getInstance();

    private final Mcache of;
    private final ReentrantLock lock = new ReentrantLock();
    // Guarded by the lock:
    private final Map<Long, Block> live = new HashMap<>();
    private final Map<Long, Block> dead = new HashMap<>();
    private final ArrayDeque<Block> resting = new ArrayDeque<>();
    private long restingBytes;
    private long liveBytes;
    private long allocations;
    private boolean ended;

    private static final class Block {
        private final MemorySegment raw;
        private final long size;
        private final Arena arena = Arena.ofShared();
        private final List<StackTraceElement> site = here();
        private @Nullable List<StackTraceElement> freed;

        Block(long at, long size) {
            this.size = size;
            raw = AddressSpace.ALL.asSlice(at, size + EDGE_BYTES);
        }

        /** Returns the offset of the first byte, from {@code from} on, that is not {@code value}; -1 when there is none. */
        long damage(long from, byte value) {
            if (raw.get(ValueLayout.JAVA_BYTE, from) != value) {
                return from;
            }
            // All bytes are equal if each is equal to the previous one.
            long at = raw.asSlice(from + 1).mismatch(raw.asSlice(from, raw.byteSize() - from - 1));
            return at < 0 ? -1 : from + 1 + at;
        }

        @Override
        public String toString() {
            return "the segment of " + size + " bytes at 0x" + Long.toHexString(raw.address()) + ", allocated" + Leak.text(site)
                    + (freed == null ? "" : "\nand freed" + Leak.text(freed));
        }
    }

    Debug(Mcache of) {
        this.of = of;
    }

    private static List<StackTraceElement> here() {
        return WALKER.walk(frames -> frames.map(StackWalker.StackFrame::toStackTraceElement).dropWhile(f -> isOurs(f.getClassName()))
                .limit(FRAMES).toList());
    }

    private static boolean isOurs(String name) {
        return name.startsWith("java.lang.foreign.") || name.equals(Mcache.class.getName()) || name.startsWith(Debug.class.getName());
    }

    private <T> T locked(Supplier<T> what) {
        lock.lock();
        try {
            if (ended) {
                throw Mcache.closedException();
            }
            return what.get();
        } finally {
            lock.unlock();
        }
    }

    MemorySegment allocate(long size, long align) {
        return locked(() -> {
            long at = of.take(Math.addExact(Math.min(size, Long.MAX_VALUE - EDGE_BYTES), EDGE_BYTES), align);
            Block b = null;
            try {
                b = new Block(at, size);
                MemorySegment s = AddressSpace.segment(at, size, b.arena);
                b.raw.asSlice(0, size).fill(NEW);
                b.raw.asSlice(size).fill(EDGE);
                live.put(at, b);
                liveBytes += size;
                allocations++;
                return s;
            } finally {
                if (b == null || live.get(at) != b) {
                    boolean _ = of.give(at);
                }
            }
        });
    }

    void free(MemorySegment s) {
        String found = locked(() -> {
            Block b = s.isNative() ? live.get(s.address()) : null;
            if (b == null || !b.arena.scope().equals(s.scope())) {
                throw notLive(s);
            }
            b.arena.close(); // This throws, before any change, if a native call uses the segment.
            b.freed = here();
            Block _ = live.remove(s.address());
            liveBytes -= b.size;
            String damage = edge(b);
            b.raw.fill(DEAD);
            dead.put(s.address(), b);
            resting.add(b);
            restingBytes += b.raw.byteSize();
            while (resting.size() > MOST_RESTING || restingBytes > MOST_RESTING_BYTES) {
                String late = bury();
                damage = damage == null ? late : damage;
            }
            return damage;
        });
        if (found != null) {
            throw new IllegalStateException(found);
        }
    }

    private RuntimeException notLive(MemorySegment s) {
        Block was = s.isNative() ? dead.get(s.address()) : null;
        if (was != null && was.arena.scope().equals(s.scope())) {
            return new IllegalStateException("double free: " + was);
        }
        return s.scope().isAlive() ? of.foreign(s)
                : new IllegalStateException("double free, or a segment of another allocator that has ended: " + s.byteSize()
                        + " bytes at 0x" + Long.toHexString(s.address()));
    }

    /** Frees the block that has been in the queue longest. Returns a description of its damage, or null. */
    private @Nullable String bury() {
        Block b = resting.remove();
        restingBytes -= b.raw.byteSize();
        Block _ = dead.remove(b.raw.address());
        String damage = late(b);
        boolean _ = of.give(b.raw.address());
        return damage;
    }

    private static @Nullable String edge(Block b) {
        long at = b.damage(b.size, EDGE);
        return at < 0 ? null : "written behind its end, at offset " + at + ": " + b;
    }

    private static @Nullable String late(Block b) {
        long at = b.damage(0, DEAD);
        return at < 0 ? null : "written after it was freed, at offset " + at + ": " + b;
    }

    void check() {
        List<String> wrong = locked(this::wrong);
        if (!wrong.isEmpty()) {
            throw new IllegalStateException(wrong.getFirst() + (wrong.size() == 1 ? "" : "\nand " + (wrong.size() - 1) + " more"));
        }
    }

    private List<String> wrong() {
        List<String> wrong = new ArrayList<>();
        for (Block b : live.values()) {
            String s = edge(b);
            if (s != null) {
                wrong.add(s);
            }
        }
        for (Block b : resting) {
            String s = late(b);
            if (s != null) {
                wrong.add(s);
            }
        }
        return wrong;
    }

    /** Returns the statistics of segments. Freed blocks in the queue do not count. */
    AllocatorStats stats(AllocatorStats f) {
        lock.lock();
        try {
            return new AllocatorStats(live.size(), liveBytes, f.mappedBytes(), f.largeBytes(), allocations, allocations - live.size(),
                    f.batches(), f.caches(), f.unboundMappings());
        } finally {
            lock.unlock();
        }
    }

    List<Leak> leaks() {
        lock.lock(); // Not by locked(), because callers may come after the end.
        try {
            return bySite();
        } finally {
            lock.unlock();
        }
    }

    private List<Leak> bySite() {
        Map<List<StackTraceElement>, Leak> sites = new LinkedHashMap<>();
        for (Block b : live.values()) {
            Leak _ = sites.merge(b.site, new Leak(1, b.size, b.site),
                    (x, y) -> new Leak(x.count() + y.count(), x.bytes() + y.bytes(), x.site()));
        }
        return sites.values().stream().sorted(Comparator.comparingLong(Leak::bytes).reversed()).toList();
    }

    /**
     * Ends the scopes of all segments, and prints the errors and leaks on stderr.
     *
     * @throws IllegalStateException when a native call uses one of the segments; the scopes of some others may have ended
     */
    void end() {
        List<String> wrong;
        List<Leak> left;
        lock.lock();
        try {
            for (Block b : live.values()) {
                if (b.arena.scope().isAlive()) {
                    b.arena.close();
                }
            }
            ended = true;
            wrong = wrong();
            left = bySite();
        } finally {
            lock.unlock();
        }
        for (String s : wrong) {
            System.err.println("gmp4j: " + s);
        }
        if (!left.isEmpty()) {
            StringBuilder s = new StringBuilder("gmp4j: an Mcache was closed with segments that were not freed");
            left.forEach(l -> s.append(System.lineSeparator()).append(l));
            System.err.println(s);
        }
    }
}
