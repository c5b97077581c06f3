// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.gmp4j.ffi.Memory;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * Off-heap memory for the scheduler's structs, and the accessors of their fields.
 *
 * <p>Structs come from anonymous mappings, and go back to a free list of their kind, never to the kernel. An address that once held a
 * {@code struct g} holds one for ever, so a stale pointer reads a recycled struct and never faults.
 *
 * <p>A field ({@link IntField}, {@link LongField}) is accessed by the struct's address: see {@link Access}. {@code -Dgmp.checkptr=true}
 * finds bad addresses. It checks before each access that the address is the start of a struct of the right kind.
 */
public final class Mem {
    /** Whether each access checks its address. */
    public static final boolean CHECKPTR = Access.CHECKPTR;

    /** The bytes between contended words: two cache lines, because of the adjacent-line prefetcher. */
    public static final int LINE = 128;

    /** Accesses an int anywhere off-heap, by its own address. */
    public static final IntField INT = Access.intWord();

    /** Accesses a long anywhere off-heap, by its own address. */
    public static final LongField LONG = Access.longWord();

    private static final long USER_SPACE = 0x00ff_ffff_ffff_ffffL;

    /**
     * Returns {@code address}, rounded down to a multiple of the word and cut to 56 bits. This changes no valid address, and lets C2 drop
     * the checks of the segment, which accept every such address.
     *
     * @param address the address of a struct, or of a word
     * @param arena the arena of that kind of struct; null for a word
     * @param word the size of the word, in bytes
     * @throws IllegalStateException with {@code gmp.checkptr}, when no such struct or word has this address
     */
    static long checked(long address, @Nullable Arena arena, int word) {
        long valid = address & USER_SPACE & -word;
        if (CHECKPTR) {
            if (arena != null) {
                arena.check(address);
            } else if (address != valid) {
                throw new IllegalStateException("gmp.checkptr: 0x%x is no address of a word".formatted(address));
            }
        }
        return valid;
    }

    private static final ConcurrentMap<String, Arena> ARENAS = new ConcurrentHashMap<>();

    /** Whether chunks that are mapped from now on get huge pages. */
    private static volatile boolean hugePages;

    private Mem() {
    }

    /**
     * Checks the settings of the access to structs.
     *
     * @throws IllegalArgumentException with one sentence that says what to change
     */
    public static void checkSettings() {
        Access.check();
    }

    /** Returns the address of a word inside a struct. The struct's address is checked as for a field. */
    static long within(long struct, long offset, Arena arena) {
        if (CHECKPTR) {
            arena.check(struct);
        }
        return struct + offset;
    }

    /** Allocates structs of one kind. Thread-safe. Not for hot paths. */
    public static final class Arena {
        private static final int CHUNK = 1 << 20;
        private static final int HUGE_PAGE = 2 << 20;

        private final String kind;
        private final long stride;
        /** The address, the end and the node of each chunk. */
        private volatile long[][] chunks = new long[0][];
        /** The free structs, by NUMA node + 1. The first element has the structs of no particular node. */
        private Part[] parts = {new Part()};

        /** The free structs of one node. */
        private static final class Part {
            private long bump;
            private long end;
            /** The first {@link #nfree} elements are the addresses of free structs. */
            private long[] free = new long[0];
            private int nfree;
            /** The number of structs that were taken singly. {@link #free} has room for all of them. */
            private int single;

            private void makeRoom() {
                if (single == free.length) {
                    free = Arrays.copyOf(free, 2 * single + 1);
                }
            }
        }

        private Arena(String kind, long bytes) {
            this.kind = kind;
            long align = bytes < 2 * LINE ? LINE / 2 : LINE;
            this.stride = (bytes + align - 1) & -align;
        }

        /** Returns zeroed memory for {@code count} adjacent structs. {@code node} is -1 for any node. */
        synchronized long take(int count, int node) {
            Part of = part(node);
            if (count == 1) {
                if (of.nfree > 0) {
                    long addr = of.free[of.nfree - 1];
                    Memory.ALL.asSlice(addr, stride).fill((byte) 0);
                    of.nfree--;
                    return addr;
                }
                of.makeRoom();
            }
            long bytes = count * stride;
            if (of.bump + bytes > of.end) {
                boolean huge = hugePages;
                long size = Math.max(bytes, CHUNK);
                size = huge ? size + HUGE_PAGE - 1 & -HUGE_PAGE : size;
                long[] fresh = new long[3];
                long[][] all = Arrays.copyOf(chunks, chunks.length + 1);
                all[chunks.length] = fresh;
                long at = chunk(size, node, huge); // Mapped after the allocations, because a later failure would lose this memory.
                fresh[0] = at;
                fresh[1] = at + size;
                fresh[2] = node;
                chunks = all;
                of.bump = at;
                of.end = at + size;
            }
            long addr = of.bump;
            of.bump += bytes;
            of.single += count == 1 ? 1 : 0;
            return addr;
        }

        private Part part(int node) {
            if (node + 1 >= parts.length) {
                parts = Arrays.copyOf(parts, node + 2);
            }
            if (parts[node + 1] == null) {
                parts[node + 1] = new Part();
            }
            return parts[node + 1];
        }

        /** Maps a chunk. The NUMA policy is set before the first access, because that access allocates the page. */
        private static long chunk(long size, int node, boolean huge) {
            long at = huge ? Memory.mapAligned(size, HUGE_PAGE) : Memory.map(size);
            boolean _ = Memory.preferNode(at, size, node);
            if (huge) {
                boolean _ = Memory.preferHugePages(at, size);
            }
            return at;
        }

        synchronized long taken() {
            long bytes = 0;
            for (Part of : parts) {
                bytes += of == null ? 0 : of.bump - of.end;
            }
            for (long[] c : chunks) {
                bytes += c[1] - c[0];
            }
            return bytes;
        }

        synchronized void give(long addr) {
            Part of = part(nodeOf(addr));
            if (of.nfree == of.free.length) { // Structs that were taken together have been put back singly.
                of.free = Arrays.copyOf(of.free, 2 * of.nfree + 1);
            }
            of.free[of.nfree++] = addr;
        }

        private int nodeOf(long addr) {
            if (parts.length > 1) {
                for (long[] c : chunks) {
                    if (addr >= c[0] && addr < c[1]) {
                        return (int) c[2];
                    }
                }
            }
            return -1;
        }

        void check(long addr) {
            for (long[] c : chunks) {
                if (addr >= c[0] && addr < c[1] && (addr - c[0]) % stride == 0) {
                    return;
                }
            }
            throw new IllegalStateException("gmp.checkptr: 0x%x is no struct %s".formatted(addr, kind));
        }
    }

    private static Arena arena(GroupLayout layout) {
        String kind = layout.name().orElseThrow();
        Arena known = ARENAS.get(kind);
        if (known == null) {
            Arena fresh = new Arena(kind, layout.byteSize());
            known = ARENAS.putIfAbsent(kind, fresh);
            return known != null ? known : fresh;
        }
        return known;
    }

    /**
     * Allocates {@code count} adjacent zeroed structs.
     *
     * @param layout the struct's layout
     * @param count the number of structs, at least 1
     * @return the address of the first struct; the next one is {@link #stride} bytes further
     */
    public static long alloc(GroupLayout layout, int count) {
        return alloc(layout, count, -1);
    }

    /**
     * Allocates {@code count} adjacent zeroed structs, on pages of a NUMA node if the kernel can do that.
     *
     * @param node the node; -1 for any
     */
    public static long alloc(GroupLayout layout, int count, int node) {
        JdkThreads.pin(); // A goroutine that calls this must not leave its M meanwhile.
        try {
            return arena(layout).take(count, node);
        } finally {
            JdkThreads.unpin();
        }
    }

    /**
     * Puts one struct back for reuse. From then on the caller must not write to it. The call needs no memory as long as all structs that
     * are put back were allocated singly.
     */
    public static void recycle(GroupLayout layout, long addr) {
        JdkThreads.pin(); // The caller may be a goroutine that is _Gwaiting already, because it starts a thread for its P.
        try {
            arena(layout).give(addr);
        } finally {
            JdkThreads.unpin();
        }
    }

    /** Maps memory for structs in huge pages from now on, for the whole process, because structs outlive their schedulers. */
    public static void useHugePages() {
        hugePages = true;
    }

    /** Returns the bytes of all structs, including free ones. If the number grows for ever there is a leak. */
    static long taken() {
        long bytes = 0;
        for (Arena a : ARENAS.values()) {
            bytes += a.taken();
        }
        return bytes;
    }

    /** Returns the bytes of the structs of one kind, including free ones. */
    static long taken(GroupLayout layout) {
        return arena(layout).taken();
    }

    /** Returns the number of bytes from one struct to the next in an array that {@link #alloc} returned. */
    public static long stride(GroupLayout layout) {
        return arena(layout).stride;
    }

    /** Returns the accessor of a field that gmp.h declares as an int. */
    public static IntField intField(GroupLayout layout, String... path) {
        return Access.intField(offset(layout, ValueLayout.OfInt.class, path), arena(layout));
    }

    /** Returns the accessor of a field that gmp.h declares as a long or an address. */
    public static LongField longField(GroupLayout layout, String... path) {
        return Access.longField(offset(layout, ValueLayout.OfLong.class, path), arena(layout));
    }

    /** Returns the accessor of a field that is a ring of {@code n} longs. {@code n} is a power of two. */
    public static LongRing ring(GroupLayout layout, String field, int n) {
        return new LongRing(offset(layout, field), n - 1, arena(layout));
    }

    /** Returns the accessor of a field that is a histogram. */
    public static Buckets buckets(GroupLayout layout, String... path) {
        return new Buckets(offset(layout, MemoryLayout.class, path), arena(layout));
    }

    private static long offset(GroupLayout layout, Class<? extends MemoryLayout> type, String... path) {
        long at = 0;
        MemoryLayout found = layout;
        for (String name : path) {
            MemoryLayout in = found;
            found = null;
            for (MemoryLayout member : ((StructLayout) in).memberLayouts()) {
                if (member.name().isPresent() && member.name().get().equals(name)) {
                    found = member;
                    break;
                }
                at += member.byteSize();
            }
            if (found == null) {
                throw new IllegalArgumentException("no field " + String.join(".", path) + " in " + layout);
            }
        }
        if (!type.isInstance(found)) {
            throw new IllegalArgumentException(String.join(".", path) + " is no " + type);
        }
        return at;
    }

    /**
     * Returns the byte offset of a field, for address arithmetic over arrays and for futex words. It searches the layout's members itself,
     * because the JVM generates classes for a layout path.
     */
    public static long offset(GroupLayout layout, String field) {
        return offset(layout, MemoryLayout.class, field);
    }
}
