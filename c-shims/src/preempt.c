/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handler of the preemption signal. It runs on the thread of the M that the request is for, between any two instructions
 * of that thread. It accesses only the off-heap structs, calls neither the JVM nor libc, and takes no lock.
 *
 * Why it may take the P away. Code of the runtime uses a P only between acquirem and releasem, where m.locks > 0, and the
 * handler refuses the request then. With m.locks == 0 the thread runs user code, the JDK or native code, which do not use the
 * P. The handler then does the steps of entersyscall. As it runs on the M's own thread, only threads that also race with
 * entersyscall race with it: retake and stopTheWorld, by CAS on p.status. When the goroutine next enters the runtime,
 * acquirem first raises m.locks and then reads m.gate. It finds the gate shut and calls exitsyscall. If the signal comes
 * between these two steps, the handler sees locks > 0 and refuses. The compiler must keep the two steps in order, by a fence
 * in acquirem that needs no instruction. The processor cannot show a thread its own accesses in another order. Another
 * thread may be taking the P without a signal at the same time (org.gmp4j.sched.base.Gate). For that thread the handler is like
 * other code that enters the runtime: it raises m.locks, reads the gate, and does not touch the P unless the gate is open.
 *
 * Why the status is written last. Any thread may take the P as soon as p.status is _Psyscall. So all other writes of this
 * thread to the P come before.
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

/* Does the steps of entersyscall for the interrupted goroutine. m.locks is raised. Returns 0 when another thread was first. */
static int take_p(struct m *m, struct g *g, struct p *p) {
    if (LOAD(m->gate) != GMP_GATE_OPEN) {
        return 0; /* Another thread wants to take the P, or has taken it. */
    }
    uint32_t running = GMP_GRUNNING;
    if (!__atomic_compare_exchange_n(&g->atomicstatus, &running, GMP_GSYSCALL, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST)) {
        return 0; /* A scan holds the goroutine. Sysmon makes the request again. */
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
        return; /* The signal is not from sysmon, but from out-of-band data or kill(1). It is ignored, as by default. */
    }
    struct m *m = info->si_value.sival_ptr;
    if (LOAD(m->procid) != (uint64_t)gettid()) {
        return; /* The M's thread has ended while the signal was pending, and this thread has got its id. */
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
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* For the compiler. The membarrier of a thread that takes the P orders the processor. */
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
    /* The first copy's handler serves the Ms of all copies, because it uses only the struct m to which the signal points. */
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
