/* SPDX-License-Identifier: Apache-2.0 */
/* The netpoller's calls: a result or a negated error number, nothing to capture. */
#define _GNU_SOURCE
#include "gmp_shims.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
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

int32_t gmp_epoll_ctl(int32_t epfd, int32_t op, int32_t fd, uint32_t events, uint64_t data)
{
    struct epoll_event event = {.events = events, .data.u64 = data};
    return epoll_ctl(epfd, op, fd, &event) < 0 ? -errno : 0;
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
