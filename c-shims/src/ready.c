/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gmp_ready: a thread that is not attached to the JVM makes a goroutine runnable.
 *
 * The waiter writes its G to event.word by CAS from 0, after its stack was unmounted. A thread that fires exchanges the word for
 * 1. If the old word was a G, the thread owns that G, and pushes it onto sched.inject, a stack. A thread that drains the stack
 * takes all of it, by exchanging its head for 0. No thread pops single elements, so there is no ABA problem. After the push the
 * thread wakes sysmon by its note, in case all Ms sleep. An M that searches for work may find the list before sysmon does. The
 * push releases the G and all earlier writes of the firing thread. The drain acquires them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gmp.h"
#include "gmp_shims.h"

#define EVENT_FIRED 1
/* States of org.gmp4j.lock.Note. */
#define NOTE_WOKEN 1
#define NOTE_ASLEEP (-1)

static void ring(int32_t *note) {
    if (__atomic_exchange_n(note, NOTE_WOKEN, __ATOMIC_SEQ_CST) == NOTE_ASLEEP) {
        int saved = errno;
        syscall(SYS_futex, note, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        errno = saved;
    }
}

int32_t gmp_ready(uint64_t event) {
    struct gmp_event *e = (struct gmp_event *)event;
    uint64_t waiter = __atomic_exchange_n(&e->word, EVENT_FIRED, __ATOMIC_SEQ_CST);
    if (waiter <= EVENT_FIRED) {
        return 0;
    }
    struct g *g = (struct g *)waiter;
    struct schedt *s = (struct schedt *)e->sched;
    uint64_t head = __atomic_load_n(&s->inject, __ATOMIC_RELAXED);
    do {
        g->schedlink = head;
    } while (!__atomic_compare_exchange_n(&s->inject, &head, waiter, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    ring(&s->sysmonnote);
    return 1;
}
