/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How Java calls the functions of this library: by one native method, which takes the function's address and up to six integers. The JVM
 * finds it by its name, and needs neither a class nor a stub for it. What the JVM's foreign linker makes for a function of the same
 * type costs as much time as the rest of the runtime's start.
 *
 * And the functions of the C library that the runtime calls at its start: to look those up is the linker's, too.
 */
#define _GNU_SOURCE
#include "gmp_shims.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef int64_t (*function_t)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);

/* org.gmp4j.ffi.Call.invoke, which says why a function may be called so. */
GMP_EXPORT int64_t Java_org_gmp4j_ffi_Call_invoke(void *env, void *type, int64_t function, int64_t a, int64_t b, int64_t c, int64_t d,
                                                  int64_t e, int64_t f);
int64_t Java_org_gmp4j_ffi_Call_invoke(void *env, void *type, int64_t function, int64_t a, int64_t b, int64_t c, int64_t d, int64_t e,
                                       int64_t f)
{
    (void)env;
    (void)type;
    return ((function_t)(uintptr_t)function)(a, b, c, d, e, f);
}

GMP_EXPORT int32_t gmp_gettid(void);
int32_t gmp_gettid(void)
{
    return (int32_t)syscall(SYS_gettid);
}

GMP_EXPORT int32_t gmp_getpid(void);
int32_t gmp_getpid(void)
{
    return getpid();
}

GMP_EXPORT int32_t gmp_getcpu(void);
int32_t gmp_getcpu(void)
{
    return sched_getcpu();
}

GMP_EXPORT void *gmp_malloc(uint64_t bytes);
void *gmp_malloc(uint64_t bytes)
{
    return malloc(bytes);
}

GMP_EXPORT void gmp_free(void *block);
void gmp_free(void *block)
{
    free(block);
}
