/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the Linux API that the Java side calls, in one header for jextract.
 *
 * It is read WITHOUT _GNU_SOURCE. With _GNU_SOURCE glibc declares the addresses of bind, connect and accept4 as a
 * transparent union, which jextract cannot bind. The few GNU-only functions that we need are declared here with
 * glibc's own prototypes. Functions that need a raw system call number, which differs between machines (futex,
 * rt_tgsigqueueinfo, mbind), are in gmp_shims.h.
 *
 * The symbols that come out are listed in native-bindings/src/jextract/linux.includes.
 */
#ifndef GMP_LINUX_H
#define GMP_LINUX_H

#ifdef _GNU_SOURCE
#error "gmp_linux.h must be read without _GNU_SOURCE: see the comment at its top"
#endif

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* GNU-only functions, with glibc's prototypes. */
int sched_setaffinity(pid_t pid, size_t cpusetsize, const cpu_set_t *mask);
int sched_getaffinity(pid_t pid, size_t cpusetsize, cpu_set_t *mask);
int sched_getcpu(void);
pid_t gettid(void);
int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
const char *strerrorname_np(int err);
const char *strerrordesc_np(int err);

/* GNU-only constants. They are the kernel's numbers, which are the same on both supported machines. */
#ifndef SCHED_BATCH
#define SCHED_BATCH 3
#endif
#ifndef SCHED_RESET_ON_FORK
#define SCHED_RESET_ON_FORK 0x40000000
#endif
#ifndef EPOLLRDHUP
#define EPOLLRDHUP 0x2000
#endif

#endif
