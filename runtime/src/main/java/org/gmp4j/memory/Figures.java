// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

/**
 * What an allocator has done and has. The numbers are of about one moment: while others allocate they may be off by what is under way.
 *
 * @param live segments that were allocated and not freed
 * @param liveBytes the bytes of their blocks, which is what they asked for, rounded up
 * @param mappedBytes address space from the kernel: that of all blocks, live, free and never used, and of large segments. Blocks that were
 *     never used take no memory
 * @param largeBytes the part of that in mappings of one segment each
 * @param allocations segments allocated since the beginning
 * @param frees segments freed since the beginning
 * @param batches how many times free blocks moved between a P and the central lists, a batch at a time
 * @param caches how many Ps have free blocks of their own
 * @param unboundMappings mappings for a NUMA node which the kernel refused to bind to it
 */
public record Figures(long live, long liveBytes, long mappedBytes, long largeBytes, long allocations, long frees, long batches, int caches,
        int unboundMappings) {
}
