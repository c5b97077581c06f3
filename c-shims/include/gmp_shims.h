/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgmp4j's own functions: the calls that Java makes often, or that need a system call number (those differ between
 * machines, so only C may know them).
 *
 * Conventions. Addresses are plain 64-bit numbers, so that a call from Java allocates nothing. A function
 * that can fail returns its result (0 or more) or the negated error number (-EAGAIN ...): errno is read here, in
 * the thread that made the call, and Java needs no capture buffer. All functions may be called from any thread.
 */
#ifndef GMP_SHIMS_H
#define GMP_SHIMS_H

#include <stdint.h>

#if defined(__GNUC__)
#define GMP_EXPORT __attribute__((visibility("default")))
#else
#define GMP_EXPORT
#endif

/* abi.c: the GMP_ABI_VERSION this library was compiled with. */
GMP_EXPORT int32_t gmp_abi_version(void);

/*
 * futex.c: process-private futexes.
 *
 * gmp_futex_wait sleeps while *addr == expected; timeout_ns is relative, on CLOCK_MONOTONIC, negative for ever.
 * 0 when woken (or spuriously), -EAGAIN when *addr differed, -EINTR, -ETIMEDOUT.
 * gmp_futex_wake wakes at most n sleepers and returns how many.
 */
GMP_EXPORT int32_t gmp_futex_wait(uint64_t addr, int32_t expected, int64_t timeout_ns);
GMP_EXPORT int32_t gmp_futex_wake(uint64_t addr, int32_t n);

/*
 * stack.c: how many bytes of its stack the calling thread may still use for Java frames before HotSpot throws
 * StackOverflowError; negative within HotSpot's shadow zone. Returns at once but for the first call of a thread.
 */
GMP_EXPORT int64_t gmp_stack_left(void);
/*
 * Gives the kernel back what a deep recursion has left of the calling thread's stack, further than keep bytes below the
 * caller's frame. How many bytes of address space; 0 when nothing was there; -EINVAL for locked memory. One system call when
 * there is nothing to do.
 */
GMP_EXPORT int64_t gmp_stack_trim(int64_t keep);
/* Calls function, void (*)(void), with so many bytes less of the calling thread's stack; they are not touched. 0. */
GMP_EXPORT int64_t gmp_stack_shorten(int64_t bytes, uint64_t function);

/*
 * memory.c: pages of zeroed memory, readable and writable, for which no swap space is set aside: the address or -errno; and
 * munmap(2), madvise(2), mprotect(2): 0 or -errno.
 */
GMP_EXPORT int64_t gmp_map(uint64_t bytes);
GMP_EXPORT int32_t gmp_unmap(uint64_t addr, uint64_t bytes);
GMP_EXPORT int32_t gmp_advise(uint64_t addr, uint64_t bytes, int32_t advice);
GMP_EXPORT int32_t gmp_protect(uint64_t addr, uint64_t bytes, int32_t protection);

/* thread.c: signals, memory policy, and the CPUs of a thread (tid 0: the caller's), as masks of so many bytes. 0 or -errno. */
GMP_EXPORT int32_t gmp_affinity_get(int32_t tid, uint64_t bytes, uint64_t mask);
GMP_EXPORT int32_t gmp_affinity_set(int32_t tid, uint64_t bytes, uint64_t mask);
GMP_EXPORT int32_t gmp_signal_queue(int32_t tid, int32_t signo, uint64_t value);
GMP_EXPORT int32_t gmp_tgkill(int32_t tid, int32_t signo);
GMP_EXPORT int32_t gmp_mbind_preferred(uint64_t addr, uint64_t bytes, int32_t node);
/*
 * The address of signo's handler in this process: 0 for the default action, 1 when ignored; -errno for a bad
 * signal number.
 */
GMP_EXPORT int64_t gmp_signal_handler(int32_t signo);
/*
 * A full fence in every thread of this process that runs just now; one that does not has had its own when it was taken off
 * its CPU. 0, or -errno where the kernel has none: then gmp_membarrier_register has said so.
 */
GMP_EXPORT int32_t gmp_membarrier_register(void);
/*
 * Asks for time slices of so many nanoseconds for a thread (tid 0: the caller; 100,000 to 100,000,000; 0 for the usual ones), which
 * then waits less for one that others have. What it starts inherits them: SCHED_FLAG_RESET_ON_FORK would take a negative nice
 * value away too. Linux 6.12 on; earlier kernels take no notice. 0 or -errno.
 */
GMP_EXPORT int32_t gmp_sched_slice(int32_t tid, uint64_t nanos);
/* The same for HotSpot's VM thread; threads of the runtime begin with the usual slices all the same. -ESRCH: it was not found. */
GMP_EXPORT int32_t gmp_vm_slice(uint64_t nanos);
/*
 * ticks.c: the CPU's own time stamp counter, not ordered with what stands around it: some tens of nanoseconds early at most.
 */
GMP_EXPORT int64_t gmp_ticks(void);
/* Whether C2 puts safepoint polls into counted loops: 1 or 0 (the serial and the parallel collector's default), or -ENOENT. */
GMP_EXPORT int32_t gmp_vm_counted_loops_poll(void);
/* What a thread of this process does, as in /proc: 'R', 'S', 'D' and so on; or -errno. Keeps no file open. */
GMP_EXPORT int32_t gmp_thread_state(int32_t tid);
/* Nanoseconds of CPU time that a thread of this process has had, or -errno: EINVAL when there is none such. */
GMP_EXPORT int64_t gmp_thread_cpu(int32_t tid);
GMP_EXPORT int32_t gmp_membarrier(void);

/*
 * osthread.c: what threads and processes inherit from the thread that creates them (see there).
 *
 * gmp_thread_begin   First thing on a thread of the runtime: the process's CPUs, policy and signal mask, signo (0: none)
 *                    unblocked, and this timer slack (0: the process's). -errno when the kernel refuses the policy; the rest is done
 *                    then too.
 * gmp_thread_plain   1 when the calling thread has the process's CPUs and policy, so that what it creates has them as well.
 * gmp_thread_place   sched_setaffinity(2) of the calling thread, taken off again while it creates a thread or process.
 * gmp_thread_hook    From now on threads that begin here take off what is theirs while they create threads and processes, by functions
 *                    around the JDK's. -ENOSYS, -ESRCH, -EINVAL when this JVM is not as it should be, or has not loaded this library.
 */
GMP_EXPORT int32_t gmp_thread_begin(int32_t signo, int32_t slack_ns);
GMP_EXPORT int32_t gmp_thread_plain(void);
GMP_EXPORT int32_t gmp_thread_place(uint64_t mask, uint64_t bytes);
GMP_EXPORT int32_t gmp_thread_hook(void);
/* Stores the ids of HotSpot's compiler threads, at most so many; of those that optimize alone (not 0) or of all; how many, or -errno. */
GMP_EXPORT int32_t gmp_compiler_threads(uint64_t tids, int32_t most, int32_t optimizing);
/* The same of all threads of this process. */
GMP_EXPORT int32_t gmp_threads(uint64_t tids, int32_t most);
/* For how many nanoseconds a thread of this process has waited for a CPU so far; has waited for one or had it; or -ESRCH. */
GMP_EXPORT int64_t gmp_thread_waited(int32_t tid);
GMP_EXPORT int64_t gmp_thread_wanted(int32_t tid);
/* The CPU time of this process, ns. */
GMP_EXPORT int64_t gmp_process_cpu(void);
/* The nice value of a thread (tid 0: the caller); -100 - errno when there is none. Setting it: 0 or -errno. */
GMP_EXPORT int32_t gmp_nice(int32_t tid);
GMP_EXPORT int32_t gmp_set_nice(int32_t tid, int32_t nice);

/*
 * preempt.c: the preemption signal's handler (see there). Installs it for signo with SA_SIGINFO, SA_ONSTACK and
 * SA_RESTART, unless somebody else's handler is there: then -EBUSY. Harmless when repeated.
 */
GMP_EXPORT int32_t gmp_preempt_install(int32_t signo);

/*
 * ready.c: how C code wakes a goroutine without entering the JVM. An example: examples/sensor.c.
 *
 * gmp_ready fires an event: 1 when a goroutine was waiting for it, which is runnable now; 0 when nobody was: the next wait
 * returns at once.
 *
 * event     What NativeEvent.address() gave. Valid until NativeEvent.close(): whoever calls that makes sure first that
 *           nobody fires any more, by joining the thread that does, say. A later call may wake another event's goroutine.
 * callers   Any thread, whether the JVM knows it or not, several at once; signal handlers too. errno is kept.
 * cost      No lock, no allocation, no waiting. One futex(2) to wake the scheduler's monitor when that sleeps.
 * counting  Fires that come before the goroutine waits, or after it was woken and before it runs, count as one. So
 *           it looks at all there is to do each time, and there may be nothing when a fire came while it looked.
 * memory    What the caller wrote before is visible to the goroutine when its wait ends.
 * goroutine It runs as soon as a P is free for it, not at once and not on the calling thread.
 *
 * Code that is not linked with libgmp4j takes the function's address from NativeEvent.function().
 */
GMP_EXPORT int32_t gmp_ready(uint64_t event);
typedef int32_t (*gmp_ready_fn)(uint64_t event);

/* io.c: read(2), write(2), readv(2), sendmsg(2), recvfrom(2), accept4(2), epoll_wait(2), epoll_ctl(2): the result or -errno. EINTR is not
 * retried. */
GMP_EXPORT int64_t gmp_read(int32_t fd, uint64_t buf, uint64_t len);
GMP_EXPORT int64_t gmp_write(int32_t fd, uint64_t buf, uint64_t len);
/* A socket's write without SIGPIPE (send with MSG_NOSIGNAL). */
GMP_EXPORT int64_t gmp_send(int32_t fd, uint64_t buf, uint64_t len);
/* The same from n pieces, 1 to 8, in one system call; the arguments behind them are not looked at. */
GMP_EXPORT int64_t gmp_sendv(int32_t fd, int32_t n, uint64_t buf0, uint64_t len0, uint64_t buf1, uint64_t len1, uint64_t buf2,
                             uint64_t len2, uint64_t buf3, uint64_t len3, uint64_t buf4, uint64_t len4, uint64_t buf5,
                             uint64_t len5, uint64_t buf6, uint64_t len6, uint64_t buf7, uint64_t len7);
/* readv(2) of n pieces, 1 to 8; the arguments behind them are not looked at. */
GMP_EXPORT int64_t gmp_readv(int32_t fd, int32_t n, uint64_t buf0, uint64_t len0, uint64_t buf1, uint64_t len1, uint64_t buf2,
                             uint64_t len2, uint64_t buf3, uint64_t len3, uint64_t buf4, uint64_t len4, uint64_t buf5,
                             uint64_t len5, uint64_t buf6, uint64_t len6, uint64_t buf7, uint64_t len7);
/* Datagrams: addr has room for *addrlen bytes, or holds addrlen. */
GMP_EXPORT int64_t gmp_recvfrom(int32_t fd, uint64_t buf, uint64_t len, uint64_t addr, uint64_t addrlen);
GMP_EXPORT int64_t gmp_sendto(int32_t fd, uint64_t buf, uint64_t len, uint64_t addr, uint64_t addrlen);
GMP_EXPORT int32_t gmp_accept(int32_t fd, uint64_t addr, uint64_t addrlen, int32_t flags);
GMP_EXPORT int32_t gmp_epoll_wait(int32_t epfd, uint64_t events, int32_t max, int32_t timeout_ms);
/* The same with a limit in nanoseconds, as exact as the thread's timer slack: epoll_pwait2(2), or ppoll(2) on an older kernel. */
GMP_EXPORT int32_t gmp_epoll_wait_ns(int32_t epfd, uint64_t events, int32_t max, int64_t timeout_ns);
GMP_EXPORT int32_t gmp_epoll_ctl(int32_t epfd, int32_t op, int32_t fd, uint32_t events, uint64_t data);
/* An epoll instance, and an eventfd that does not block with its counter at 0: the descriptor or -errno. close(2): 0 or -errno. */
GMP_EXPORT int32_t gmp_epoll_create(void);
GMP_EXPORT int32_t gmp_eventfd(void);
GMP_EXPORT int32_t gmp_close(int32_t fd);
/* Adds to an eventfd's counter (0 or -errno); takes the whole counter, or 1 of a semaphore's (the value or -errno). */
GMP_EXPORT int32_t gmp_eventfd_add(int32_t fd, uint64_t value);
GMP_EXPORT int64_t gmp_eventfd_take(int32_t fd);

/*
 * floor.c: the run queue ring in C11 atomics, for benchmarks to stand beside. p is the address of a struct p
 * whose ring nobody else touches during the call. No function sleeps.
 *
 * gmp_floor_pushpop: n times runqput (without next, with its full fence) and runqget by the owner.
 * gmp_floor_steal: nanoseconds that n steals took together, each of which moves batch (1 to 128) slots from one
 *   ring to another by runqsteal; refilling and draining happen outside the timed part, and the clock's own cost is
 *   taken off. The victim's ring holds 2*batch-1 before each. -1 for a bad batch or without memory.
 * gmp_floor_failed_probe: nanoseconds that n attempts to steal from an empty ring took together.
 */
GMP_EXPORT void gmp_floor_pushpop(uint64_t p, uint64_t n);
GMP_EXPORT int64_t gmp_floor_steal(uint64_t n, uint32_t batch);
GMP_EXPORT int64_t gmp_floor_failed_probe(uint64_t n);

#endif
