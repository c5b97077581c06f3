/* SPDX-License-Identifier: Apache-2.0 */
/* Maps and unmaps pages. Each function returns a result or a negated error number. */
#define _GNU_SOURCE
#include "gmp_shims.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

int64_t gmp_map(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? -errno : (int64_t)(intptr_t)p;
}

int32_t gmp_unmap(uint64_t addr, uint64_t bytes)
{
    return munmap((void *)(uintptr_t)addr, bytes) < 0 ? -errno : 0;
}

int32_t gmp_advise(uint64_t addr, uint64_t bytes, int32_t advice)
{
    return madvise((void *)(uintptr_t)addr, bytes, advice) < 0 ? -errno : 0;
}

int32_t gmp_protect(uint64_t addr, uint64_t bytes, int32_t protection)
{
    return mprotect((void *)(uintptr_t)addr, bytes, protection) < 0 ? -errno : 0;
}

int64_t gmp_malloc(uint64_t bytes)
{
    return (int64_t)(intptr_t)malloc(bytes);
}

void gmp_free(uint64_t addr)
{
    free((void *)(uintptr_t)addr);
}
