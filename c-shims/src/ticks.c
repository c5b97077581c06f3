/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the execution tracer. clock_gettime(2) takes longer, because it orders the read by a fence. */
#include "gmp_shims.h"

#if defined(__x86_64__)
#include <x86intrin.h>

int64_t gmp_ticks(void)
{
    return (int64_t)__rdtsc();
}
#elif defined(__aarch64__)
int64_t gmp_ticks(void)
{
    int64_t t;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
    return t;
}
#else
#error "gmp4j supports x86_64 and aarch64"
#endif
