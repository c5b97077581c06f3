// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.memory;

/**
 * The statistics of an allocator at one moment. Calls of other threads that are in progress may be counted or not.
 *
 * @param live segments that were allocated and not freed
 * @param liveBytes the sizes of their blocks, which are the requested sizes rounded up, bytes
 * @param mappedBytes the address space that the allocator has from the kernel, bytes: all blocks, whether live, free or never used, and
 *     large segments. Blocks that were never used take no memory
 * @param largeBytes the part of {@code mappedBytes} in mappings that hold one large segment
 * @param allocations segments allocated since the beginning
 * @param frees segments freed since the beginning
 * @param batches the number of batches of free blocks that moved between a P and the central lists
 * @param caches the number of Ps that have free blocks of their own
 * @param unboundMappings the number of mappings that the kernel refused to bind to their NUMA node
 */
public record AllocatorStats(long live, long liveBytes, long mappedBytes, long largeBytes, long allocations, long frees, long batches,
        int caches, int unboundMappings) {
}
