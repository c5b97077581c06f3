/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes how much stack the calling thread has left, and releases stack memory that a deep recursion has left resident.
 *
 * At the low end of a Java thread's stack HotSpot has guard pages (the red, yellow and reserved zones). It throws
 * StackOverflowError when a method's frame would reach into the shadow zone above them, which is for native code and for the VM
 * itself. Java code can use the part above these zones. StackRedPages, StackYellowPages, StackReservedPages and
 * StackShadowPages set their sizes, in units of 4 KB, each rounded up to pages. This file assumes the defaults. If
 * StackShadowPages is larger, less stack is left than gmp_stack_left returns. Headroom checks for far more than it needs.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gmp_shims.h"

#define KB 1024
#define FIRST_THREAD_MOST (8 * KB * KB)

/* A variable of the calling thread. The model initial-exec needs one instruction; the general model calls a function of libc. */
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
/* The lowest address that Java frames may reach; 0 when it is not known yet, 1 when there is no limit. */
OF_THREAD uintptr_t limit;
/* The ends of the stack above the guard pages; 0 when they are not known. */
OF_THREAD uintptr_t lowest;
OF_THREAD uintptr_t highest;

static uintptr_t pages(uintptr_t bytes, uintptr_t page) {
    return (bytes + page - 1) / page * page;
}

/* Sets the variables. Called once in each thread. If libc cannot tell the stack, there is no limit, and HotSpot's own check remains. */
static __attribute__((noinline, cold)) void find(void) {
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0, guard = 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    limit = 1;
    if (pthread_getattr_np(pthread_self(), &attr) != 0) {
        return;
    }
    if (pthread_attr_getstack(&attr, &low, &size) == 0 && pthread_attr_getguardsize(&attr, &guard) == 0) {
        highest = (uintptr_t)low + size;
        if (syscall(SYS_gettid) == getpid()) {
            /* The process's first thread, on which a program has made a JVM. HotSpot uses at most so much of its stack. */
            if (size > FIRST_THREAD_MOST) {
                size = FIRST_THREAD_MOST;
            }
            guard += 2 * page;
        }
        lowest = pages(highest - size + guard, page) + pages(4 * KB, page) + pages(8 * KB, page) + pages(4 * KB, page);
        limit = lowest + pages(80 * KB, page);
    }
    pthread_attr_destroy(&attr);
}

int64_t gmp_stack_left(void) {
    if (__builtin_expect(limit == 0, 0)) {
        find();
    }
    return (int64_t)((uintptr_t)__builtin_frame_address(0) - limit);
}

int64_t gmp_stack_trim(int64_t keep) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident = 0;

    if (limit == 0) {
        find();
    }
    uintptr_t end = ((uintptr_t)__builtin_frame_address(0) - (uintptr_t)keep) / page * page;
    if (lowest == 0 || end <= lowest + page || end >= highest) {
        return 0;
    }
    /* HotSpot touches all pages down to the shadow zone of a frame. So if this page is not resident, none below it is. */
    if (mincore((void *)(end - page), page, &resident) != 0 || !(resident & 1)) {
        return 0;
    }
    return madvise((void *)lowest, end - lowest, MADV_DONTNEED) == 0 ? (int64_t)(end - lowest) : -errno;
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("no-stack-clash-protection"))) /* With the protection, some distributions' default, gcc touches each page. */
#endif
int64_t gmp_stack_shorten(int64_t bytes, uint64_t function) {
    volatile char *room = alloca((size_t)bytes);

    room[bytes - 1] = 0; /* Without a write the compiler would drop the allocation. This end is the nearest to the caller's frame. */
    ((void (*)(void))(uintptr_t)function)();
    return room[bytes - 1];
}
