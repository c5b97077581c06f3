// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

/**
 * Statistics of an allocator. The numbers are of about one moment: while other threads allocate, they may be off by the calls in
 * progress.
 *
 * @param live segments that were allocated and not freed
 * @param liveBytes the size of their blocks, bytes, which is the requested size, rounded up
 * @param mappedBytes address space from the kernel: that of all blocks, live, free and never used, and of large segments. Blocks that
 *     were never used take no memory
 * @param largeBytes the part of that in mappings of one segment each
 * @param allocations segments allocated since the beginning
 * @param frees segments freed since the beginning
 * @param batches how many batches of free blocks moved between a P and the central lists
 * @param caches the number of Ps that have free blocks of their own
 * @param unboundMappings mappings for a NUMA node which the kernel refused to bind to it
 */
public record AllocatorStats(long live, long liveBytes, long mappedBytes, long largeBytes, long allocations, long frees, long batches,
        int caches, int unboundMappings) {
}
