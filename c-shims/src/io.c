/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of the network poller. Each function returns a result or a negated error number, so Java need not read errno. */
#define _GNU_SOURCE
#include "gmp_shims.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

int64_t gmp_read(int32_t fd, uint64_t buf, uint64_t len)
{
    ssize_t r = read(fd, (void *)(uintptr_t)buf, len);
    return r < 0 ? -errno : r;
}

int64_t gmp_write(int32_t fd, uint64_t buf, uint64_t len)
{
    ssize_t r = write(fd, (const void *)(uintptr_t)buf, len);
    return r < 0 ? -errno : r;
}

int64_t gmp_send(int32_t fd, uint64_t buf, uint64_t len)
{
    ssize_t r = send(fd, (const void *)(uintptr_t)buf, len, MSG_NOSIGNAL);
    return r < 0 ? -errno : r;
}

#define PIECE(n) {(void *)(uintptr_t)buf##n, len##n}

int64_t gmp_sendv(int32_t fd, int32_t n, uint64_t buf0, uint64_t len0, uint64_t buf1, uint64_t len1, uint64_t buf2,
                  uint64_t len2, uint64_t buf3, uint64_t len3, uint64_t buf4, uint64_t len4, uint64_t buf5, uint64_t len5,
                  uint64_t buf6, uint64_t len6, uint64_t buf7, uint64_t len7)
{
    struct iovec pieces[] = {PIECE(0), PIECE(1), PIECE(2), PIECE(3), PIECE(4), PIECE(5), PIECE(6), PIECE(7)};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = (size_t)n};
    ssize_t r = sendmsg(fd, &message, MSG_NOSIGNAL);
    return r < 0 ? -errno : r;
}

int64_t gmp_readv(int32_t fd, int32_t n, uint64_t buf0, uint64_t len0, uint64_t buf1, uint64_t len1, uint64_t buf2,
                  uint64_t len2, uint64_t buf3, uint64_t len3, uint64_t buf4, uint64_t len4, uint64_t buf5, uint64_t len5,
                  uint64_t buf6, uint64_t len6, uint64_t buf7, uint64_t len7)
{
    struct iovec pieces[] = {PIECE(0), PIECE(1), PIECE(2), PIECE(3), PIECE(4), PIECE(5), PIECE(6), PIECE(7)};
    ssize_t r = readv(fd, pieces, n);
    return r < 0 ? -errno : r;
}

int64_t gmp_recvfrom(int32_t fd, uint64_t buf, uint64_t len, uint64_t addr, uint64_t addrlen)
{
    ssize_t r = recvfrom(fd, (void *)(uintptr_t)buf, len, 0, (struct sockaddr *)(uintptr_t)addr,
                         (socklen_t *)(uintptr_t)addrlen);
    return r < 0 ? -errno : r;
}

int64_t gmp_sendto(int32_t fd, uint64_t buf, uint64_t len, uint64_t addr, uint64_t addrlen)
{
    ssize_t r = sendto(fd, (const void *)(uintptr_t)buf, len, MSG_NOSIGNAL, (const struct sockaddr *)(uintptr_t)addr,
                       (socklen_t)addrlen);
    return r < 0 ? -errno : r;
}

int32_t gmp_accept(int32_t fd, uint64_t addr, uint64_t addrlen, int32_t flags)
{
    int r = accept4(fd, (struct sockaddr *)(uintptr_t)addr, (socklen_t *)(uintptr_t)addrlen, flags);
    return r < 0 ? -errno : r;
}

int32_t gmp_epoll_wait(int32_t epfd, uint64_t events, int32_t max, int32_t timeout_ms)
{
    int r = epoll_wait(epfd, (struct epoll_event *)(uintptr_t)events, max, timeout_ms);
    return r < 0 ? -errno : r;
}

/* glibc has a wrapper since 2.35. The kernel has the call since 5.11, with the same number on all machines. */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

int32_t gmp_epoll_wait_ns(int32_t epfd, uint64_t events, int32_t max, int64_t timeout_ns)
{
    static int no_pwait2; /* Whether the kernel lacks the call. Any thread that finds that out writes 1. */
    struct epoll_event *out = (struct epoll_event *)(uintptr_t)events;
    if (timeout_ns <= 0)
        return gmp_epoll_wait(epfd, events, max, timeout_ns < 0 ? -1 : 0);
    struct timespec limit = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    if (!__atomic_load_n(&no_pwait2, __ATOMIC_RELAXED)) {
        long r = syscall(SYS_epoll_pwait2, epfd, out, max, &limit, NULL, (size_t)0);
        if (r >= 0)
            return (int32_t)r;
        if (errno != ENOSYS && errno != EPERM) /* A seccomp filter that does not know a call makes it fail with EPERM. */
            return -errno;
        __atomic_store_n(&no_pwait2, 1, __ATOMIC_RELAXED);
    }
    struct pollfd ready = {.fd = epfd, .events = POLLIN};
    int r = ppoll(&ready, 1, &limit, NULL);
    if (r <= 0)
        return r < 0 ? -errno : 0;
    return gmp_epoll_wait(epfd, events, max, 0);
}

int32_t gmp_epoll_ctl(int32_t epfd, int32_t op, int32_t fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = {.events = events, .data.u64 = data};
    return epoll_ctl(epfd, op, fd, &event) < 0 ? -errno : 0;
}

int32_t gmp_epoll_create(void)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

int32_t gmp_close(int32_t fd)
{
    return close(fd) < 0 ? -errno : 0;
}

int32_t gmp_eventfd(void)
{
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

int32_t gmp_eventfd_add(int32_t fd, uint64_t value)
{
    return eventfd_write(fd, value) < 0 ? -errno : 0;
}

int64_t gmp_eventfd_take(int32_t fd)
{
    eventfd_t value;
    return eventfd_read(fd, &value) < 0 ? -errno : (int64_t)value;
}
