// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.ffi;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.gmp4j.ffi.linux.linux_h;

/**
 * Allocates anonymous memory from the kernel, and blocks from the C library, by address. Addresses and lengths must be multiples of the
 * page size where the kernel requires it. No method checks them, and a wrong address may crash the process. Thread-safe.
 */
public final class Memory {
    /** {@link #advise}: no special treatment. */
    public static final int ADVICE_NORMAL = linux_h.MADV_NORMAL;

    /** {@link #advise}: the memory will be used soon. */
    public static final int ADVICE_WILLNEED = linux_h.MADV_WILLNEED;

    /** {@link #advise}: release the pages now; they read as zero afterwards. */
    public static final int ADVICE_DONTNEED = linux_h.MADV_DONTNEED;

    /** {@link #advise}: the kernel may take the pages when it needs memory; until then they keep their content. */
    public static final int ADVICE_FREE = linux_h.MADV_FREE;

    /** {@link #advise}: use huge pages. */
    public static final int ADVICE_HUGEPAGE = linux_h.MADV_HUGEPAGE;

    /** {@link #advise}: do not use huge pages. */
    public static final int ADVICE_NOHUGEPAGE = linux_h.MADV_NOHUGEPAGE;

    /** {@link #advise}: make all pages present and writable now. */
    public static final int ADVICE_POPULATE_WRITE = linux_h.MADV_POPULATE_WRITE;

    /** {@link #protect}: no access. */
    public static final int PROTECT_NONE = linux_h.PROT_NONE;

    /** {@link #protect}: reads only. */
    public static final int PROTECT_READ = linux_h.PROT_READ;

    /** {@link #protect}: reads and writes. */
    public static final int PROTECT_READ_WRITE = linux_h.PROT_READ | linux_h.PROT_WRITE;

    private Memory() {
    }

    /**
     * Reads an int.
     *
     * @param addr its address, of any alignment
     * @return the int
     */
    static int getInt(long addr) {
        return Call.NATIVE != null ? Call.NATIVE.getInt(addr) : AddressSpace.ALL.get(ValueLayout.JAVA_INT_UNALIGNED, addr);
    }

    /**
     * Reads a long.
     *
     * @param addr its address, of any alignment
     * @return the long
     */
    static long getLong(long addr) {
        return Call.NATIVE != null ? Call.NATIVE.getLong(addr) : AddressSpace.ALL.get(ValueLayout.JAVA_LONG_UNALIGNED, addr);
    }

    /**
     * Writes a long.
     *
     * @param addr its address, of any alignment
     * @param v the long
     */
    static void setLong(long addr, long v) {
        if (Call.NATIVE != null) {
            Call.NATIVE.setLong(addr, v);
        } else {
            AddressSpace.ALL.set(ValueLayout.JAVA_LONG_UNALIGNED, addr, v);
        }
    }

    /**
     * Sets memory to zero.
     *
     * @param addr its address
     * @param bytes its size
     */
    public static void clear(long addr, long bytes) {
        if (Call.NATIVE != null) {
            Call.NATIVE.clear(addr, bytes);
        } else {
            MemorySegment _ = AddressSpace.ALL.asSlice(addr, bytes).fill((byte) 0);
        }
    }

    /**
     * Maps zeroed memory, readable and writable, page-aligned. Only pages that are touched use memory, and no swap space is
     * reserved.
     *
     * @param bytes the size, positive; the kernel rounds it up to pages
     * @return the address
     * @throws NativeException ENOMEM without enough address space or memory, EINVAL for a size of 0
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
     * @param bytes its size
     * @throws NativeException EINVAL for a bad range
     */
    public static void unmap(long addr, long bytes) {
        check((int) Call.call(Call.function("gmp_unmap"), addr, bytes, 0), "munmap", addr, bytes);
    }

    /**
     * Tells the kernel how memory will be used.
     *
     * @param addr its address, a multiple of the page size
     * @param bytes its size
     * @param advice one of the {@code ADVICE} constants
     * @throws NativeException EINVAL when the kernel does not know the advice, ENOMEM when the range is not mapped
     */
    public static void advise(long addr, long bytes, int advice) {
        check((int) Call.call(Calls.ADVISE, addr, bytes, advice), "madvise", addr, bytes);
    }

    /**
     * Changes the access protection of memory.
     *
     * @param addr its address, a multiple of the page size
     * @param bytes its size
     * @param protection one of the {@code PROTECT} constants
     * @throws NativeException EINVAL for a bad range, ENOMEM when the range is not mapped
     */
    public static void protect(long addr, long bytes, int protection) {
        check((int) Call.call(Call.function("gmp_protect"), addr, bytes, protection), "mprotect", addr, bytes);
    }

    /**
     * Requests pages of one NUMA node. Pages that are first touched from now on come from this node while it has free ones, and
     * then from others. So the policy is MPOL_PREFERRED and not MPOL_BIND, by which a full node would kill the process.
     *
     * @param addr address of the memory, a multiple of the page size
     * @param bytes its size
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
     * Requests pages of one NUMA node as {@link #bindToNode} does, but as a hint. If a sandbox forbids the call, or the node has no
     * memory, pages come from the node of the CPU that first touches them.
     *
     * @param addr address of the memory, a multiple of the page size
     * @param bytes its size
     * @param node the node; negative for none
     * @return true if the kernel accepted the request, or there was none
     */
    public static boolean preferNode(long addr, long bytes, int node) {
        return node < 0 || (int) Call.call(Call.function("gmp_mbind_preferred"), addr, bytes, node) == 0;
    }

    /**
     * Requests huge pages as a hint, which has no effect on a kernel without them.
     *
     * @param addr address of the memory, a multiple of the page size
     * @param bytes its size
     * @return whether the kernel accepted the request
     */
    public static boolean preferHugePages(long addr, long bytes) {
        return (int) Call.call(Calls.ADVISE, addr, bytes, ADVICE_HUGEPAGE) == 0;
    }

    /**
     * Maps memory as {@link #map} does, at a multiple of a power of two. It first maps more than it needs, and then unmaps both ends. If
     * the kernel refuses that, only address space is lost.
     *
     * @param bytes the size, a multiple of the page size
     * @param align the power of two, a multiple of the page size
     * @return the address
     * @throws NativeException ENOMEM without enough address space or memory
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
            return; // The caller needs only the part in the middle.
        }
    }

    private static void check(int r, String call, long addr, long bytes) {
        if (r < 0) {
            throw new NativeException(call + "(0x" + Long.toHexString(addr) + ", " + bytes + " bytes)", -r);
        }
    }

    /**
     * Allocates a block from the C library. Its content is undefined.
     *
     * @param bytes the size, positive
     * @return the address, a multiple of 16; 0 when there is no memory
     */
    public static long malloc(long bytes) {
        return Call.call(Allocator.MALLOC, bytes);
    }

    /**
     * Frees a block. Any thread may call this.
     *
     * @param addr the address that {@link #malloc} returned; it may be freed once
     */
    public static void free(long addr) {
        long _ = Call.call(Allocator.FREE, addr);
    }

    /** A class of its own, because reads and the constants need no C code. */
    private static final class Calls {
        static final Call.Function MAP = Call.function("gmp_map");
        static final Call.Function ADVISE = Call.function("gmp_advise");
    }

    /** A class of its own, so that the functions are looked up only when they are used. */
    private static final class Allocator {
        static final Call.Function MALLOC = Call.function("gmp_malloc");
        static final Call.Function FREE = Call.function("gmp_free");
    }
}
