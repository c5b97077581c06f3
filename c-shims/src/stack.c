/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much stack the calling thread has left, and stack memory that a deep recursion has left behind.
 *
 * HotSpot keeps, at the low end of a Java thread's stack, its guard pages (red, yellow and reserved zone), and throws
 * StackOverflowError when a method's frame would come nearer to them than its shadow zone, which is for native code and for
 * the VM itself. So Java code has what is above these. Their sizes are those of StackRedPages, StackYellowPages,
 * StackReservedPages and StackShadowPages, in units of 4 KB, each rounded up to pages; what is assumed here are the
 * defaults. With StackShadowPages raised there is that much less than this says; Headroom asks for far more than it needs.
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

/* Of the calling thread. Initial-exec: one instruction where the general model calls a function of libc. */
#define OF_THREAD static __thread __attribute__((tls_model("initial-exec")))
/* The lowest address that Java frames may reach; 0: not known yet. The ends of the stack itself. */
OF_THREAD uintptr_t limit;
OF_THREAD uintptr_t lowest;
OF_THREAD uintptr_t highest;

static uintptr_t pages(uintptr_t bytes, uintptr_t page) {
    return (bytes + page - 1) / page * page;
}

/* Once a thread. Without an answer from libc the thread counts as one that has no limit: HotSpot's own check remains. */
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
            /* The process's first thread, attached by whoever made the JVM: HotSpot takes at most so much of its stack. */
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
    /* HotSpot touches each page that a frame comes near: if this one is not there, none below it is. */
    if (mincore((void *)(end - page), page, &resident) != 0 || !(resident & 1)) {
        return 0;
    }
    return madvise((void *)lowest, end - lowest, MADV_DONTNEED) == 0 ? (int64_t)(end - lowest) : -errno;
}

#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("no-stack-clash-protection"))) /* Some distributions' gcc would touch each page. */
#endif
int64_t gmp_stack_shorten(int64_t bytes, uint64_t function) {
    volatile char *room = alloca((size_t)bytes);

    room[bytes - 1] = 0; /* The end that is nearest to the caller: or the compiler would do without. */
    ((void (*)(void))(uintptr_t)function)();
    return room[bytes - 1];
}
