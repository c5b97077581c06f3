/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The futexes on which Ms sleep. They are private to the process. Each function returns the negated errno, so Java need not read it.
 */
#define _GNU_SOURCE
#include "gmp_shims.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(long) == 8, "64-bit Linux only: struct timespec is passed to the kernel as it is");

int32_t gmp_futex_wait(uint64_t addr, int32_t expected, int64_t timeout_ns)
{
    struct timespec ts;
    struct timespec *timeout = NULL;

    if (timeout_ns >= 0) {
        ts.tv_sec = timeout_ns / 1000000000;
        ts.tv_nsec = timeout_ns % 1000000000;
        timeout = &ts;
    }
    /* FUTEX_WAIT takes a relative timeout and measures it on CLOCK_MONOTONIC. */
    long r = syscall(SYS_futex, (uint32_t *)(uintptr_t)addr, FUTEX_WAIT_PRIVATE, expected, timeout, NULL, 0);
    return r < 0 ? -errno : 0;
}

int32_t gmp_futex_wake(uint64_t addr, int32_t n)
{
    long r = syscall(SYS_futex, (uint32_t *)(uintptr_t)addr, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
    return r < 0 ? -errno : (int32_t)r;
}
