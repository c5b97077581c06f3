/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gmp_ready: a thread that knows nothing of the JVM makes a goroutine runnable.
 *
 * The waiter puts its G into event.word by CAS from 0, after its frames are off its thread; whoever fires exchanges the
 * word for 1 and, if a G came out, owns it. The G goes onto sched.inject, a stack that many push to and one drains by
 * exchanging it for 0: with no single pops there is no ABA. Then sysmon's note is rung, in case everybody sleeps; an M
 * that looks for work finds the list first. The push releases the G and all the firer wrote before; the drain acquires.
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
/* org.gmp4j.lock.Note. */
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
