/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to one thread, fences in all threads, CPUs and time slices of threads, and the NUMA node of memory. */
#define _GNU_SOURCE
#include "gmp_shims.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int32_t gmp_signal_queue(int32_t tid, int32_t signo, uint64_t value)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = signo;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_ptr = (void *)(uintptr_t)value;
    long r = syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, signo, &info);
    return r < 0 ? -errno : 0;
}

int32_t gmp_tgkill(int32_t tid, int32_t signo)
{
    long r = syscall(SYS_tgkill, getpid(), tid, signo);
    return r < 0 ? -errno : 0;
}

int32_t gmp_affinity_get(int32_t tid, uint64_t bytes, uint64_t mask)
{
    return sched_getaffinity(tid, bytes, (cpu_set_t *)(uintptr_t)mask) < 0 ? -errno : 0;
}

int32_t gmp_affinity_set(int32_t tid, uint64_t bytes, uint64_t mask)
{
    return sched_setaffinity(tid, bytes, (const cpu_set_t *)(uintptr_t)mask) < 0 ? -errno : 0;
}

int64_t gmp_signal_handler(int32_t signo)
{
    struct sigaction old;

    if (sigaction(signo, NULL, &old) < 0) {
        return -errno;
    }
    /* sa_handler and sa_sigaction are members of one union. */
    return (int64_t)(uintptr_t)old.sa_handler;
}

int32_t gmp_gettid(void)
{
    return gettid();
}

int32_t gmp_getpid(void)
{
    return getpid();
}

int32_t gmp_getcpu(void)
{
    return sched_getcpu();
}

int32_t gmp_membarrier_register(void)
{
    long r = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    return r < 0 ? -errno : 0;
}

int32_t gmp_membarrier(void)
{
    long r = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    return r < 0 ? -errno : 0;
}

int32_t gmp_sched_slice(int32_t tid, uint64_t nanos)
{
    /* The first version of the kernel's struct sched_attr, which not every libc declares. */
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } a;

    memset(&a, 0, sizeof a);
    if (syscall(SYS_sched_getattr, tid, &a, sizeof a, 0) < 0) {
        return -errno;
    }
    a.size = sizeof a;
    a.runtime = nanos;
    long r = syscall(SYS_sched_setattr, tid, &a, 0);
    return r < 0 ? -errno : 0;
}

int32_t gmp_thread_state(int32_t tid)
{
    char path[64], stat[64]; /* A name has 16 bytes at most. */

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    ssize_t n = read(fd, stat, sizeof stat);
    int failed = n < 0 ? errno : EIO;
    close(fd);
    for (ssize_t i = n - 3; i > 0; i--) {
        if (stat[i] == ')') { /* The last one ends the name, which may itself contain parentheses. */
            return stat[i + 2];
        }
    }
    return -failed;
}

int64_t gmp_thread_cpu(int32_t tid)
{
    /* The kernel's clock id of a thread's CPU time: the complement of its tid, then these three bits. */
    enum { THREAD_CPU_CLOCK = 6 };
    struct timespec t;
    clockid_t clock = (clockid_t)((uint32_t)~tid << 3 | THREAD_CPU_CLOCK);
    return clock_gettime(clock, &t) < 0 ? -errno : t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int32_t gmp_mbind_preferred(uint64_t addr, uint64_t bytes, int32_t node)
{
    enum { MAX_NODES = 1024, BITS = 8 * sizeof(unsigned long) };
    unsigned long mask[MAX_NODES / BITS] = {0};

    if (node < 0 || node >= MAX_NODES) {
        return -EINVAL;
    }
    mask[node / BITS] |= 1UL << (node % BITS);
    /* The kernel uses one bit less than the count that it gets. */
    long r = syscall(SYS_mbind, (void *)(uintptr_t)addr, bytes, MPOL_PREFERRED, mask, MAX_NODES + 1, 0);
    return r < 0 ? -errno : 0;
}
