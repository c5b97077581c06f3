// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import org.gmp4j.ffi.linux.linux_h;

/**
 * Anonymous memory from the kernel, and blocks from the C library, by address. Addresses and lengths given back to a method are
 * multiples of the page size where the kernel wants it so. Nothing is checked: a wrong address is the end of the process.
 * Thread-safe.
 */
public final class Memory {
    /** All of memory: the base over which off-heap structs are accessed by absolute address. */
    @SuppressWarnings("restricted")
    public static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    /** {@link #advise}: no special treatment. */
    public static final int ADVICE_NORMAL = linux_h.MADV_NORMAL();

    /** {@link #advise}: will be wanted soon. */
    public static final int ADVICE_WILLNEED = linux_h.MADV_WILLNEED();

    /** {@link #advise}: give the pages back now; they read as zero afterwards. */
    public static final int ADVICE_DONTNEED = linux_h.MADV_DONTNEED();

    /** {@link #advise}: the kernel may take the pages when it is short; until then they keep their content. */
    public static final int ADVICE_FREE = linux_h.MADV_FREE();

    /** {@link #advise}: back it with huge pages. */
    public static final int ADVICE_HUGEPAGE = linux_h.MADV_HUGEPAGE();

    /** {@link #advise}: do not back it with huge pages. */
    public static final int ADVICE_NOHUGEPAGE = linux_h.MADV_NOHUGEPAGE();

    /** {@link #advise}: fault all pages in, writable, now. */
    public static final int ADVICE_POPULATE_WRITE = linux_h.MADV_POPULATE_WRITE();

    /** {@link #protect}: no access. */
    public static final int PROTECT_NONE = linux_h.PROT_NONE();

    /** {@link #protect}: reads. */
    public static final int PROTECT_READ = linux_h.PROT_READ();

    /** {@link #protect}: reads and writes. */
    public static final int PROTECT_READ_WRITE = linux_h.PROT_READ() | linux_h.PROT_WRITE();

    private Memory() {
    }

    /**
     * All of memory, as long as an arena lives: for segments that end with it.
     *
     * @param arena the arena
     * @return a segment that begins at address 0
     */
    public static MemorySegment all(Arena arena) {
        return segment(0, Long.MAX_VALUE, arena);
    }

    /**
     * A part of memory, as long as an arena lives.
     *
     * @param addr its address
     * @param bytes how much
     * @param arena the arena, which does not own the memory
     * @return the segment
     */
    @SuppressWarnings("restricted")
    public static MemorySegment segment(long addr, long bytes, Arena arena) {
        return MemorySegment.ofAddress(addr).reinterpret(bytes, arena, null);
    }

    /**
     * Maps zeroed memory, readable and writable, page-aligned. It costs memory only where it is touched, and no swap
     * space is set aside for it.
     *
     * @param bytes how much, positive; the kernel rounds up to pages
     * @return the address
     * @throws NativeException ENOMEM when there is no room, EINVAL for a size of 0
     */
    public static long map(long bytes) {
        long r = Call.call(Calls.MAP, bytes);
        if (r < 0) {
            throw new NativeException("mmap(" + bytes + " bytes)", (int) -r);
        }
        return r;
    }

    /**
     * Unmaps memory.
     *
     * @param addr its address, a multiple of the page size
     * @param bytes how much
     * @throws NativeException EINVAL for a bad range
     */
    public static void unmap(long addr, long bytes) {
        check((int) Call.call(Call.function("gmp_unmap"), addr, bytes, 0), "munmap", addr, bytes);
    }

    /**
     * Tells the kernel how memory will be used.
     *
     * @param addr its address, a multiple of the page size
     * @param bytes how much
     * @param advice one of the {@code ADVICE} constants
     * @throws NativeException EINVAL when the kernel does not know the advice, ENOMEM when the range is not mapped
     */
    public static void advise(long addr, long bytes, int advice) {
        check((int) Call.call(Calls.ADVISE, addr, bytes, advice), "madvise", addr, bytes);
    }

    /**
     * Changes what may be done with memory.
     *
     * @param addr its address, a multiple of the page size
     * @param bytes how much
     * @param protection one of the {@code PROTECT} constants
     * @throws NativeException EINVAL, ENOMEM when the range is not mapped
     */
    public static void protect(long addr, long bytes, int protection) {
        check((int) Call.call(Call.function("gmp_protect"), addr, bytes, protection), "mprotect", addr, bytes);
    }

    /**
     * Asks for pages of one NUMA node. Pages touched from now on come from there while it has any, then from
     * elsewhere: a full node must not kill the process, so the policy is MPOL_PREFERRED and not MPOL_BIND.
     *
     * @param addr address of the memory, a multiple of the page size
     * @param bytes how much
     * @param node the node, 0 to 1023
     * @throws NativeException EINVAL when there is no such node, ENOSYS or EPERM where the kernel has no NUMA or a
     *     sandbox forbids the call
     */
    public static void bindToNode(long addr, long bytes, int node) {
        int r = (int) Call.call(Call.function("gmp_mbind_preferred"), addr, bytes, node);
        if (r < 0) {
            throw new NativeException(
                    "mbind(0x" + Long.toHexString(addr) + ", " + bytes + " bytes, node " + node + ")", -r);
        }
    }

    /**
     * The same where it is only a hint: a sandbox may forbid it, or the node have no memory, and then pages are where they are
     * first touched.
     *
     * @param addr address of the memory, a multiple of the page size
     * @param bytes how much
     * @param node the node; negative for none
     * @return whether the kernel took it, or there was nothing to ask
     */
    public static boolean preferNode(long addr, long bytes, int node) {
        return node < 0 || (int) Call.call(Call.function("gmp_mbind_preferred"), addr, bytes, node) == 0;
    }

    /**
     * Asks for huge pages, as a hint: a kernel without them leaves all as it is.
     *
     * @param addr address of the memory, a multiple of the page size
     * @param bytes how much
     * @return whether the kernel took it
     */
    public static boolean preferHugePages(long addr, long bytes) {
        return (int) Call.call(Calls.ADVISE, addr, bytes, ADVICE_HUGEPAGE) == 0;
    }

    /**
     * Maps memory as {@link #map} does, at a multiple of a power of two. What it maps too much at first it gives back; if the kernel
     * refuses that, some address space is lost, and nothing else.
     *
     * @param bytes how much, a multiple of the page size
     * @param align the power of two, a multiple of the page size
     * @return the address
     * @throws NativeException ENOMEM when there is no room
     */
    public static long mapAligned(long bytes, long align) {
        long at = map(bytes + align);
        long from = at + align - 1 & -align;
        trim(at, from - at);
        trim(from + bytes, at + align - from);
        return from;
    }

    private static void trim(long addr, long bytes) {
        try {
            if (bytes > 0) {
                unmap(addr, bytes);
            }
        } catch (NativeException | OutOfMemoryError e) {
            return; // The part in the middle is what was asked for.
        }
    }

    private static void check(int r, String call, long addr, long bytes) {
        if (r < 0) {
            throw new NativeException(call + "(0x" + Long.toHexString(addr) + ", " + bytes + " bytes)", -r);
        }
    }

    /**
     * Takes a block from the C library's allocator, with whatever stands in it.
     *
     * @param bytes how much, positive
     * @return the address, a multiple of 16; 0 when there is no memory
     */
    public static long malloc(long bytes) {
        return Call.call(Allocator.MALLOC, bytes);
    }

    /**
     * Gives a block back, from any thread.
     *
     * @param addr what {@link #malloc} returned, once
     */
    public static void free(long addr) {
        long _ = Call.call(Allocator.FREE, addr);
    }

    /** Apart: {@link #ALL} and the constants need no C code. */
    private static final class Calls {
        static final Call.Function MAP = Call.function("gmp_map");
        static final Call.Function ADVISE = Call.function("gmp_advise");
    }

    /** Apart: only users of the C library's allocator make the linker look its functions up. */
    private static final class Allocator {
        static final Call.Function MALLOC = Call.libc("malloc");
        static final Call.Function FREE = Call.libc("free");
    }
}
