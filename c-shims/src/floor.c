/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run queue of a P in C11 atomics: the same ring of 256 slots in the same struct p as the Java one, and a lower bound for its
 * cost. One producer, the owner of the P, advances runqtail. The owner and thieves advance runqhead by compare-and-set (R2, R4).
 * The names are Go's. Benchmarks run it and the Java ring in one run.
 */
#define _GNU_SOURCE
#include "gmp.h"
#include "gmp_shims.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The fields are declared as plain integers, so that every compiler can read the header. Here they are accessed atomically. */
typedef _Atomic(uint32_t) atomic_u32;
typedef _Atomic(uint64_t) atomic_u64;

_Static_assert(sizeof(atomic_u32) == sizeof(uint32_t), "an atomic word has the size of a plain one");
_Static_assert(sizeof(atomic_u64) == sizeof(uint64_t), "an atomic word has the size of a plain one");
_Static_assert((GMP_RUNQ & (GMP_RUNQ - 1)) == 0, "indices wrap at 2^32, so the ring's size is a power of two");

static inline atomic_u32 *head_of(struct p *pp)
{
    return (atomic_u32 *)&pp->runqhead;
}

static inline atomic_u32 *tail_of(struct p *pp)
{
    return (atomic_u32 *)&pp->runqtail;
}

static inline atomic_u64 *next_of(struct p *pp)
{
    return (atomic_u64 *)&pp->runnext;
}

static inline atomic_u64 *slot_of(struct p *pp, uint32_t i)
{
    return (atomic_u64 *)&pp->runq[i % GMP_RUNQ];
}

/* Enqueues gp. Called by the owner only. Returns false when the ring is full. */
static inline bool runqput(struct p *pp, guintptr gp, bool next)
{
    if (next) {
        guintptr old = atomic_load_explicit(next_of(pp), memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(
                   next_of(pp), &old, gp, memory_order_acq_rel, memory_order_relaxed)) {
        }
        if (old == 0) {
            return true;
        }
        gp = old; /* The G that was in runnext goes to the tail. */
    }
    /* Acquire: pairs with a consumer's release of head, so its read of the slot is over before we write it. */
    uint32_t h = atomic_load_explicit(head_of(pp), memory_order_acquire);
    uint32_t t = atomic_load_explicit(tail_of(pp), memory_order_relaxed);
    if (t - h >= GMP_RUNQ) {
        return false;
    }
    atomic_store_explicit(slot_of(pp, t), gp, memory_order_relaxed);
    /* Release: a consumer that acquires this tail sees the slot. */
    atomic_store_explicit(tail_of(pp), t + 1, memory_order_release);
    /* The runtime has this fence too: its caller checks for idle Ps next, and that load must not come before the store. */
    atomic_thread_fence(memory_order_seq_cst);
    return true;
}

/* Returns the number of Gs in the ring. Called by the owner only, while no thread steals. */
static inline uint32_t runqlen(struct p *pp)
{
    return atomic_load_explicit(tail_of(pp), memory_order_relaxed)
           - atomic_load_explicit(head_of(pp), memory_order_relaxed);
}

/* Dequeues a G. Called by the owner only. Returns 0 when there is none. */
static inline guintptr runqget(struct p *pp)
{
    guintptr next = atomic_load_explicit(next_of(pp), memory_order_relaxed);
    /* Only the owner sets runnext, and other threads only clear it. So if the exchange fails, it was cleared. */
    if (next != 0
        && atomic_compare_exchange_strong_explicit(
            next_of(pp), &next, 0, memory_order_acq_rel, memory_order_relaxed)) {
        return next;
    }
    for (;;) {
        uint32_t h = atomic_load_explicit(head_of(pp), memory_order_acquire);
        uint32_t t = atomic_load_explicit(tail_of(pp), memory_order_relaxed);
        if (t == h) {
            return 0;
        }
        guintptr gp = atomic_load_explicit(slot_of(pp, h), memory_order_relaxed);
        /* Release: the slot is read before a producer may see it free. */
        if (atomic_compare_exchange_strong_explicit(
                head_of(pp), &h, h + 1, memory_order_release, memory_order_relaxed)) {
            return gp;
        }
    }
}

/*
 * Copies half of pp's ring, rounded up, into batch's ring from batchHead on, and removes it from pp's. Any thread may call it.
 * Returns the number of Gs.
 */
static inline uint32_t runqgrab(struct p *pp, struct p *batch, uint32_t batchHead)
{
    for (;;) {
        uint32_t h = atomic_load_explicit(head_of(pp), memory_order_acquire);
        /* Acquire: pairs with the producer's release, so the slots below t are written. */
        uint32_t t = atomic_load_explicit(tail_of(pp), memory_order_acquire);
        uint32_t n = t - h;
        n = n - n / 2;
        if (n == 0) {
            return 0;
        }
        if (n > GMP_RUNQ / 2) {
            continue; /* h and t were read at different times */
        }
        for (uint32_t i = 0; i < n; i++) {
            guintptr gp = atomic_load_explicit(slot_of(pp, h + i), memory_order_relaxed);
            atomic_store_explicit(slot_of(batch, batchHead + i), gp, memory_order_relaxed);
        }
        if (atomic_compare_exchange_strong_explicit(
                head_of(pp), &h, h + n, memory_order_release, memory_order_relaxed)) {
            return n;
        }
    }
}

/* Takes half of p2's ring, returns one G of it, and leaves the others in pp's ring. Called by pp's owner only. Returns 0 for none. */
static inline guintptr runqsteal(struct p *pp, struct p *p2)
{
    uint32_t t = atomic_load_explicit(tail_of(pp), memory_order_relaxed);
    uint32_t n = runqgrab(p2, pp, t);
    if (n == 0) {
        return 0;
    }
    n--;
    guintptr gp = atomic_load_explicit(slot_of(pp, t + n), memory_order_relaxed);
    if (n > 0) {
        atomic_store_explicit(tail_of(pp), t + n, memory_order_release);
    }
    return gp;
}

static inline int64_t now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Makes n Ps with the alignment of the runtime's. Returns NULL when there is no memory. */
static struct p *new_ps(size_t n)
{
    struct p *ps = aligned_alloc(GMP_LINE, n * sizeof(struct p));
    if (ps != NULL) {
        memset(ps, 0, n * sizeof(struct p));
    }
    return ps;
}

/* Uses the result of a timed loop, so that the compiler cannot remove the loop. */
static inline void consume(uint64_t value)
{
    __asm__ volatile("" : : "r"(value) : "memory");
}

void gmp_floor_pushpop(uint64_t p, uint64_t n)
{
    struct p *pp = (struct p *)(uintptr_t)p;
    uint64_t sum = 0;

    for (uint64_t i = 1; i <= n; i++) {
        runqput(pp, i, false);
        sum += runqget(pp);
    }
    consume(sum);
}

/* Returns the time that reading the clock adds to a timed section: the least of many samples. */
static int64_t clock_cost(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 1000; i++) {
        int64_t start = now();
        int64_t cost = now() - start;
        if (cost < least) {
            least = cost;
        }
    }
    return least;
}

int64_t gmp_floor_steal(uint64_t n, uint32_t batch)
{
    /*
     * Reading the clock costs more than a steal of one G. So the steals of a round are timed together: each of ROUND
     * thieves steals from a victim of its own, and the cost of the clock is subtracted. Between two rounds, which is not
     * timed, the victims are filled again and the thieves' rings are drained.
     */
    enum { ROUND = 16 };
    if (batch < 1 || batch > GMP_RUNQ / 2) {
        return -1;
    }
    struct p *victims = new_ps(ROUND);
    struct p *thieves = new_ps(ROUND);
    if (victims == NULL || thieves == NULL) {
        free(victims);
        free(thieves);
        return -1;
    }

    int64_t cost = clock_cost();
    int64_t total = 0;
    uint64_t sum = 0;
    for (uint64_t done = 0; done < n && total >= 0;) {
        uint32_t round = n - done < ROUND ? (uint32_t)(n - done) : ROUND;
        for (uint32_t i = 0; i < round; i++) {
            /* A thief takes b slots of a victim that has 2b, or 2b-1. */
            while (runqlen(&victims[i]) < 2 * batch - 1) {
                runqput(&victims[i], 1 + i, false);
            }
        }
        int64_t start = now();
        for (uint32_t i = 0; i < round; i++) {
            sum += runqsteal(&thieves[i], &victims[i]);
        }
        int64_t elapsed = now() - start - cost;
        total += elapsed > 0 ? elapsed : 0;
        done += round;
        for (uint32_t i = 0; i < round; i++) {
            /* One G was returned. The others are in the thief's ring. */
            uint32_t moved = 1;
            while (runqget(&thieves[i]) != 0) {
                moved++;
            }
            if (moved != batch) {
                total = -1;
                break;
            }
        }
    }
    consume(sum);
    free(victims);
    free(thieves);
    return total;
}

int64_t gmp_floor_failed_probe(uint64_t n)
{
    enum { ROUND = 16 }; /* the number of victims, which are all empty */
    struct p *ps = new_ps(1 + ROUND);
    if (ps == NULL) {
        return -1;
    }
    uint64_t sum = 0;
    int64_t start = now();
    for (uint64_t i = 0; i < n; i++) {
        sum += runqsteal(&ps[0], &ps[1 + i % ROUND]);
    }
    int64_t total = now() - start;
    consume(sum);
    free(ps);
    return total;
}
