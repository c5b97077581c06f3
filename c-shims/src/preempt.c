/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The preemption signal's handler. It runs on the M that it is about, between two instructions of whatever that thread
 * does, and touches nothing but the off-heap structs: no JVM, no libc, no lock.
 *
 * Why it may take the P away. The runtime works on a P only between acquirem and releasem, where m.locks > 0; the handler
 * refuses then. With m.locks == 0 the thread is in user code, in the JDK or in native code, none of which knows its P.
 * What follows is what the thread itself would do in entersyscall, and because the handler is that thread, nothing races
 * with it but what races with entersyscall too: retake and stopTheWorld, by CAS on p.status. When the goroutine
 * next enters the runtime, acquirem raises m.locks first and looks at m.gate second; finding it shut it goes through
 * exitsyscall. Interrupted between the two, the handler sees locks > 0 and refuses. The compiler must keep the two in
 * order (a fence in acquirem that costs no instruction); the processor cannot show its own thread another order.
 * Another thread may be taking the P without a signal at this moment (org.gmp4j.proc.Gate). To that one the handler is like
 * any other code that enters the runtime: it raises m.locks, looks at the gate, and leaves the P alone unless it is open.
 *
 * Why the status goes last: from the moment p.status is _Psyscall any thread may take the P. All that this thread writes
 * to it comes before.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "copies.h"
#include "gmp.h"
#include "gmp_shims.h"

/* Loads and stores of words that another thread, or the interrupted code, also uses. */
#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#define STORE(field, v) __atomic_store_n(&(field), (v), __ATOMIC_RELEASE)
#define COUNT(field) __atomic_store_n(&(field), (field) + 1, __ATOMIC_RELAXED)

static uint64_t interrupted_pc(const void *context) {
    const ucontext_t *uc = context;
#if defined(__x86_64__)
    return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uint64_t)uc->uc_mcontext.pc;
#else
#error "no program counter for this machine"
#endif
}

/* entersyscall, from outside; m.locks is raised. */
static int take_p(struct m *m, struct g *g, struct p *p) {
    if (LOAD(m->gate) != GMP_GATE_OPEN) {
        return 0; /* Somebody else is at it. */
    }
    uint32_t running = GMP_GRUNNING;
    if (!__atomic_compare_exchange_n(&g->atomicstatus, &running, GMP_GSYSCALL, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        return 0; /* Held by a scan: sysmon asks again. */
    }
    m->oldp = m->p;
    STORE(p->m, 0);
    STORE(m->p, 0);
    STORE(m->gate, GMP_GATE_SHUT);
    __atomic_store_n(&p->status, GMP_PSYSCALL, __ATOMIC_SEQ_CST);
    return 1;
}

static void on_signal(int signo, siginfo_t *info, void *context) {
    (void)signo;
    if (info->si_code != SI_QUEUE || info->si_value.sival_ptr == NULL) {
        return; /* Somebody else's: out-of-band data, kill(1). Ignored, as by default. */
    }
    struct m *m = info->si_value.sival_ptr;
    if (LOAD(m->procid) != (uint64_t)gettid()) {
        return; /* Its thread has ended while the signal was on its way, and this one got the number: not its M. */
    }
    uint32_t request = __atomic_exchange_n(&m->sigreq, GMP_SIG_NONE, __ATOMIC_ACQ_REL);
    if (request == GMP_SIG_NONE) {
        COUNT(m->siglate);
        return;
    }
    if (LOAD(m->locks) != 0) {
        COUNT(m->siglocks);
        return;
    }
    struct g *g = (struct g *)LOAD(m->curg);
    struct p *p = (struct p *)LOAD(m->p);
    if (g == NULL || p == NULL) {
        COUNT(m->sigidle);
        return;
    }
    if (p->schedtick != m->sigtick) {
        COUNT(m->siglate);
        return;
    }
    g->sig = (uint32_t)signo;
    g->sigcode0 = request;
    m->sigpc = interrupted_pc(context);
    if (request == GMP_SIG_PREEMPT) {
        COUNT(m->sigpreempt);
        return;
    }
    STORE(m->locks, 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* For the processor: the membarrier of whoever wants the P too. */
    int took = take_p(m, g, p);
    STORE(m->locks, 0);
    if (took) {
        COUNT(m->sighandoff);
    } else {
        COUNT(m->siglate);
    }
}

void *gmp_preempt_handler(void) {
    return (void *)on_signal;
}

int32_t gmp_preempt_install(int32_t signo) {
    struct sigaction old;
    struct sigaction sa;
    /* The first copy's handler serves the Ms of all: it knows nothing but the struct m that a signal names. */
    void *(*first)(void) = (void *(*)(void))gmp_first_copy("gmp_preempt_handler", (void *)gmp_preempt_handler);
    if (sigaction(signo, NULL, &old) != 0) {
        return -errno;
    }
    if ((old.sa_flags & SA_SIGINFO)
        && (old.sa_sigaction == on_signal || (first != NULL && (void *)old.sa_sigaction == first()))) {
        return 0;
    }
    if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
        return -EBUSY;
    }
    memset(&sa, 0, sizeof sa);
    sa.sa_sigaction = on_signal;
    sa.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&sa.sa_mask);
    return sigaction(signo, &sa, NULL) == 0 ? 0 : -errno;
}
