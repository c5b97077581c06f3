// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.struct;

import java.util.Arrays;

import org.gmp4j.ffi.Memory;
import org.gmp4j.stack.JdkThreads;
import org.jspecify.annotations.Nullable;

/**
 * Off-heap memory for the scheduler's structs.
 *
 * <p>Structs come from anonymous mappings, and go back to a free list of their kind, never to the kernel. An address that once held a
 * {@code struct g} holds one for ever, so a stale pointer reads a recycled struct and never faults.
 *
 * <p>A field ({@link Struct}) is accessed by the struct's address: see {@link Access}. {@code -Dgmp.checkptr=true} finds bad addresses. It
 * checks before each access that the address is the start of a struct of the right kind.
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

        Arena(String kind, long bytes) {
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
                    Memory.clear(addr, stride);
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

    /**
     * Allocates {@code count} adjacent zeroed structs.
     *
     * @param count the number of structs, at least 1
     * @return the address of the first struct; the next one is {@link #stride} bytes further
     */
    public static long alloc(Struct struct, int count) {
        return alloc(struct, count, -1);
    }

    /**
     * Allocates {@code count} adjacent zeroed structs, on pages of a NUMA node if the kernel can do that.
     *
     * @param node the node; -1 for any
     */
    public static long alloc(Struct struct, int count, int node) {
        JdkThreads.pin(); // A goroutine that calls this must not leave its M meanwhile.
        try {
            return struct.arena.take(count, node);
        } finally {
            JdkThreads.unpin();
        }
    }

    /**
     * Puts one struct back for reuse. From then on the caller must not write to it. The call needs no memory as long as all structs that
     * are put back were allocated singly.
     */
    public static void recycle(Struct struct, long addr) {
        JdkThreads.pin(); // The caller may be a goroutine that is _Gwaiting already, because it starts a thread for its P.
        try {
            struct.arena.give(addr);
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
        for (Struct s : Struct.all()) {
            bytes += s.arena.taken();
        }
        return bytes;
    }

    /** Returns the bytes of the structs of one kind, including free ones. */
    static long taken(Struct struct) {
        return struct.arena.taken();
    }

    /** Returns the number of bytes from one struct to the next in an array that {@link #alloc} returned. */
    public static long stride(Struct struct) {
        return struct.arena.stride;
    }
}
