/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgmp4j's own functions: calls that Java makes often, and calls that need a system call number, which differs
 * between machines and which only C code knows.
 *
 * Conventions. Addresses are plain 64-bit numbers, so that a call from Java allocates nothing. A function
 * that can fail returns its result (0 or more) or the negated error number (-EAGAIN ...). It reads errno itself, so
 * Java needs no capture buffer. All functions may be called from any thread.
 */
#ifndef GMP_SHIMS_H
#define GMP_SHIMS_H

#include <stdint.h>

#if defined(__GNUC__)
#define GMP_EXPORT __attribute__((visibility("default")))
#else
#define GMP_EXPORT
#endif

/* abi.c: returns the GMP_ABI_VERSION with which this library was compiled. */
GMP_EXPORT int32_t gmp_abi_version(void);

/*
 * futex.c: process-private futexes.
 *
 * gmp_futex_wait sleeps while *addr == expected. timeout_ns is relative, on CLOCK_MONOTONIC; negative for no limit.
 * Returns 0 when it was woken (or spuriously), -EAGAIN when *addr differed, -EINTR, -ETIMEDOUT.
 * gmp_futex_wake wakes at most n sleepers and returns how many.
 */
GMP_EXPORT int32_t gmp_futex_wait(uint64_t addr, int32_t expected, int64_t timeout_ns);
GMP_EXPORT int32_t gmp_futex_wake(uint64_t addr, int32_t n);

/*
 * stack.c: returns how many bytes of its stack the calling thread may still use for Java frames before HotSpot throws
 * StackOverflowError. The number is negative within HotSpot's shadow zone. Only the first call of a thread takes long.
 */
GMP_EXPORT int64_t gmp_stack_left(void);
/*
 * Releases to the kernel the pages of the calling thread's stack that a deep recursion has left resident, from keep bytes below
 * the caller's frame on. Returns the number of bytes of address space that it released; 0 when no page was resident there;
 * -EINVAL for locked memory. When there is nothing to do it makes one system call.
 */
GMP_EXPORT int64_t gmp_stack_trim(int64_t keep);
/*
 * Calls function, of type void (*)(void), with a stack that is shorter by so many bytes than the calling thread's. These bytes are
 * not touched. Returns 0.
 */
GMP_EXPORT int64_t gmp_stack_shorten(int64_t bytes, uint64_t function);

/*
 * memory.c: gmp_map returns the address of zeroed pages, readable and writable, for which no swap space is reserved, or -errno. The
 * others are munmap(2), madvise(2) and mprotect(2), and return 0 or -errno.
 */
GMP_EXPORT int64_t gmp_map(uint64_t bytes);
GMP_EXPORT int32_t gmp_unmap(uint64_t addr, uint64_t bytes);
GMP_EXPORT int32_t gmp_advise(uint64_t addr, uint64_t bytes, int32_t advice);
GMP_EXPORT int32_t gmp_protect(uint64_t addr, uint64_t bytes, int32_t protection);

/* memory.c: malloc(3), which returns 0 when there is no memory, and free(3). */
GMP_EXPORT int64_t gmp_malloc(uint64_t bytes);
GMP_EXPORT void gmp_free(uint64_t addr);

/*
 * thread.c: the CPUs of a thread (tid 0: the caller), as masks of so many bytes; signals to a thread; memory policy. All return 0 or
 * -errno.
 */
GMP_EXPORT int32_t gmp_affinity_get(int32_t tid, uint64_t bytes, uint64_t mask);
GMP_EXPORT int32_t gmp_affinity_set(int32_t tid, uint64_t bytes, uint64_t mask);
GMP_EXPORT int32_t gmp_signal_queue(int32_t tid, int32_t signo, uint64_t value);
GMP_EXPORT int32_t gmp_tgkill(int32_t tid, int32_t signo);
GMP_EXPORT int32_t gmp_mbind_preferred(uint64_t addr, uint64_t bytes, int32_t node);
/*
 * Returns the address of signo's handler in this process: 0 for the default action, 1 when the signal is ignored; -errno
 * for a bad signal number.
 */
GMP_EXPORT int64_t gmp_signal_handler(int32_t signo);
/* gettid(2), getpid(2) and sched_getcpu(3). By these names no other library of the program defines them. */
GMP_EXPORT int32_t gmp_gettid(void);
GMP_EXPORT int32_t gmp_getpid(void);
GMP_EXPORT int32_t gmp_getcpu(void);

/*
 * membarrier(2). gmp_membarrier makes each thread of this process that runs on a CPU execute a full fence. Any other thread has
 * executed one when it left its CPU. gmp_membarrier_register has to be called once before. Both return 0, or -errno where the kernel
 * has no such call.
 */
GMP_EXPORT int32_t gmp_membarrier_register(void);
/*
 * Requests time slices of so many nanoseconds for a thread (tid 0: the caller). The range is 100,000 to 100,000,000; 0 is for the
 * usual slices. With shorter slices a thread waits less for a CPU that other threads use. Threads that it starts inherit its slices,
 * because SCHED_FLAG_RESET_ON_FORK would also reset a negative nice value. Kernels before Linux 6.12 ignore the request. Returns 0 or
 * -errno.
 */
GMP_EXPORT int32_t gmp_sched_slice(int32_t tid, uint64_t nanos);
/*
 * Requests time slices for HotSpot's VM thread, as gmp_sched_slice does. Threads of the runtime still begin with the slices that the
 * VM thread had before. Returns 0, -ESRCH when the thread was not found, or -errno.
 */
GMP_EXPORT int32_t gmp_vm_slice(uint64_t nanos);
/*
 * ticks.c: returns the CPU's time stamp counter. The read is not ordered with other instructions, so it may come some tens of
 * nanoseconds too early.
 */
GMP_EXPORT int64_t gmp_ticks(void);
/*
 * Returns 1 if C2 puts safepoint polls into counted loops, 0 if not (the default of the serial and the parallel collector), or
 * -ENOENT when that is not known.
 */
GMP_EXPORT int32_t gmp_vm_counted_loops_poll(void);
/* Returns the state of a thread of this process, as in /proc: 'R', 'S', 'D' and so on; or -errno. Keeps no file open. */
GMP_EXPORT int32_t gmp_thread_state(int32_t tid);
/* Returns the CPU time of a thread of this process, ns, or -errno: EINVAL when there is no such thread. */
GMP_EXPORT int64_t gmp_thread_cpu(int32_t tid);
/* See gmp_membarrier_register. */
GMP_EXPORT int32_t gmp_membarrier(void);

/*
 * osthread.c: controls the attributes that threads and processes inherit from the thread that creates them (see there).
 *
 * gmp_thread_begin   Is called first on a new thread of the runtime. Gives it the process's CPUs, policy and signal mask, unblocks
 *                    signo (0: none), and sets this timer slack (0: the process's). Returns 0, or -errno when the kernel refuses the
 *                    policy; everything else is done then too.
 * gmp_thread_plain   Returns 1 when the calling thread has the process's CPUs and policy, so that threads that it creates have them
 *                    as well; else 0.
 * gmp_thread_place   Sets the CPUs of the calling thread (sched_setaffinity(2)). They are removed while it creates a thread or process.
 * gmp_thread_hook    From now on each thread that calls gmp_thread_begin has the attributes that the runtime has set removed while it
 *                    creates threads and processes, by functions around the JDK's. Returns 0, or -ENOSYS, -ESRCH or -EINVAL when
 *                    this JVM differs from those that are known, or has not loaded this library.
 */
GMP_EXPORT int32_t gmp_thread_begin(int32_t signo, int32_t slack_ns);
GMP_EXPORT int32_t gmp_thread_plain(void);
GMP_EXPORT int32_t gmp_thread_place(uint64_t mask, uint64_t bytes);
GMP_EXPORT int32_t gmp_thread_hook(void);
/*
 * Stores the ids of HotSpot's compiler threads, most of them at most. If optimizing is not 0, only those of the optimizing compilers.
 * Returns their number, or -errno.
 */
GMP_EXPORT int32_t gmp_compiler_threads(uint64_t tids, int32_t most, int32_t optimizing);
/* Stores the ids of the threads of this process, most of them at most. Returns their number, or -errno. */
GMP_EXPORT int32_t gmp_threads(uint64_t tids, int32_t most);
/* Returns how long a thread of this process has been runnable without a CPU so far, ns, or -ESRCH. */
GMP_EXPORT int64_t gmp_thread_waited(int32_t tid);
/* Returns how long a thread of this process has been runnable so far, with or without a CPU, ns, or -ESRCH. */
GMP_EXPORT int64_t gmp_thread_wanted(int32_t tid);
/* Returns the CPU time of this process, ns, or -errno. */
GMP_EXPORT int64_t gmp_process_cpu(void);
/* Returns the nice value of a thread (tid 0: the caller), or -100 - errno when there is no such thread. */
GMP_EXPORT int32_t gmp_nice(int32_t tid);
/* Sets the nice value of a thread (tid 0: the caller). Returns 0 or -errno. */
GMP_EXPORT int32_t gmp_set_nice(int32_t tid, int32_t nice);

/*
 * preempt.c: installs the handler of the preemption signal (see there) for signo, with SA_SIGINFO, SA_ONSTACK and SA_RESTART.
 * Returns 0, -EBUSY when signo has the handler of other code, or -errno. May be repeated.
 */
GMP_EXPORT int32_t gmp_preempt_install(int32_t signo);

/*
 * ready.c: wakes a goroutine from C code without entering the JVM. examples/sensor.c is an example.
 *
 * gmp_ready fires an event. Returns 1 when a goroutine was waiting for the event, which is runnable now. Returns 0 when no
 * goroutine was waiting; then the next wait returns at once.
 *
 * event     The address that NativeEvent.address() has returned. It is valid until NativeEvent.close(). The caller of close()
 *           first makes sure that no thread fires the event any more, for example by joining the thread that does. A later
 *           fire may wake the goroutine of another event.
 * callers   Any thread may call, attached to the JVM or not, also several at once and in signal handlers. errno is unchanged.
 * cost      It takes no lock, allocates nothing and does not wait. It makes one futex(2) call if the scheduler's monitor sleeps.
 * counting  Several fires before the goroutine waits, or after it was woken and before it runs, count as one. So the
 *           goroutine has to process all input that is there each time. After a fire that came while it did so, it may find
 *           none.
 * memory    All writes of the caller before the fire are visible to the goroutine when its wait ends.
 * goroutine It runs as soon as a P is free for it, and not on the calling thread.
 *
 * Code that is not linked with libgmp4j gets the function's address from NativeEvent.function().
 */
GMP_EXPORT int32_t gmp_ready(uint64_t event);
typedef int32_t (*gmp_ready_fn)(uint64_t event);

/*
 * io.c: read(2), write(2), readv(2), sendmsg(2), recvfrom(2), accept4(2), epoll_wait(2), epoll_ctl(2). They return the result or -errno.
 * They do not retry after EINTR.
 */
GMP_EXPORT int64_t gmp_read(int32_t fd, uint64_t buf, uint64_t len);
GMP_EXPORT int64_t gmp_write(int32_t fd, uint64_t buf, uint64_t len);
/* Writes to a socket, without SIGPIPE (send with MSG_NOSIGNAL). */
GMP_EXPORT int64_t gmp_send(int32_t fd, uint64_t buf, uint64_t len);
/* Writes n pieces, 1 to 8, to a socket in one system call, without SIGPIPE. The arguments after the n-th piece are ignored. */
GMP_EXPORT int64_t gmp_sendv(int32_t fd, int32_t n, uint64_t buf0, uint64_t len0, uint64_t buf1, uint64_t len1, uint64_t buf2,
                             uint64_t len2, uint64_t buf3, uint64_t len3, uint64_t buf4, uint64_t len4, uint64_t buf5,
                             uint64_t len5, uint64_t buf6, uint64_t len6, uint64_t buf7, uint64_t len7);
/* readv(2) into n pieces, 1 to 8. The arguments after the n-th piece are ignored. */
GMP_EXPORT int64_t gmp_readv(int32_t fd, int32_t n, uint64_t buf0, uint64_t len0, uint64_t buf1, uint64_t len1, uint64_t buf2,
                             uint64_t len2, uint64_t buf3, uint64_t len3, uint64_t buf4, uint64_t len4, uint64_t buf5,
                             uint64_t len5, uint64_t buf6, uint64_t len6, uint64_t buf7, uint64_t len7);
/* Receives a datagram. addrlen is the address of the length of the memory at addr, which gets the sender's address. */
GMP_EXPORT int64_t gmp_recvfrom(int32_t fd, uint64_t buf, uint64_t len, uint64_t addr, uint64_t addrlen);
/* Sends a datagram to the address at addr, which has addrlen bytes. */
GMP_EXPORT int64_t gmp_sendto(int32_t fd, uint64_t buf, uint64_t len, uint64_t addr, uint64_t addrlen);
GMP_EXPORT int32_t gmp_accept(int32_t fd, uint64_t addr, uint64_t addrlen, int32_t flags);
GMP_EXPORT int32_t gmp_epoll_wait(int32_t epfd, uint64_t events, int32_t max, int32_t timeout_ms);
/*
 * Waits as gmp_epoll_wait does, but with a limit in nanoseconds; negative for no limit. Uses epoll_pwait2(2), or ppoll(2) on an older
 * kernel. The thread's timer slack applies.
 */
GMP_EXPORT int32_t gmp_epoll_wait_ns(int32_t epfd, uint64_t events, int32_t max, int64_t timeout_ns);
GMP_EXPORT int32_t gmp_epoll_ctl(int32_t epfd, int32_t op, int32_t fd, uint32_t events, uint64_t data);
/* Makes an epoll instance. Returns the descriptor or -errno. */
GMP_EXPORT int32_t gmp_epoll_create(void);
/* Makes an eventfd that does not block, with a counter of 0. Returns the descriptor or -errno. */
GMP_EXPORT int32_t gmp_eventfd(void);
/* close(2). Returns 0 or -errno. */
GMP_EXPORT int32_t gmp_close(int32_t fd);
/* Adds to an eventfd's counter. Returns 0 or -errno. */
GMP_EXPORT int32_t gmp_eventfd_add(int32_t fd, uint64_t value);
/* Resets an eventfd's counter to 0 and returns its value, or takes 1 from that of a semaphore and returns 1; or -errno. */
GMP_EXPORT int64_t gmp_eventfd_take(int32_t fd);

/*
 * floor.c: the run queue ring in C11 atomics, for comparison in benchmarks. p is the address of a struct p whose ring no other
 * thread uses during the call. No function sleeps.
 *
 * gmp_floor_pushpop: does runqput (without next, with its full fence) and runqget by the owner, n times.
 * gmp_floor_steal: does n steals, each of which moves batch (1 to 128) slots from one ring to another by runqsteal. Returns the
 *   nanoseconds that they took together, or -1 for a bad batch or without memory. Refilling and draining are not timed, and the
 *   cost of reading the clock is subtracted. The victim's ring holds 2*batch-1 slots before each steal.
 * gmp_floor_failed_probe: makes n attempts to steal from empty rings. Returns the nanoseconds that they took together.
 */
GMP_EXPORT void gmp_floor_pushpop(uint64_t p, uint64_t n);
GMP_EXPORT int64_t gmp_floor_steal(uint64_t n, uint32_t batch);
GMP_EXPORT int64_t gmp_floor_failed_probe(uint64_t n);

#endif
