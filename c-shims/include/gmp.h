/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's structs, declared once.  jextract makes the Java layouts from this file, C code includes it, and a test
 * compares sizeof and offsetof of both sides.
 *
 * Rules that hold for every struct here
 *  - A pointer is a 64-bit address, 0 is nil.  Structs are recycled and never unmapped, so access through a stale pointer
 *    never faults.
 *  - No struct contains a Java reference.  The Java objects of a G, M or P are in side tables, under its index.
 *  - Fields are grouped by their writers.  Contended words are 128 bytes apart, which is two cache lines, because the
 *    processor prefetches the adjacent line.  Structs of which there are millions (g, sudog) are whole 64-byte lines instead:
 *    each has one owner at a time, which writes it.
 *  - The comment of a field names its writer.  "owner" is the M that holds the P (struct p), the thread itself (struct m), or
 *    the M that runs the G (struct g).
 *  - Flags are 32 bits wide because the JVM has compare-and-set for 32 and 64 bits only.
 */
#ifndef GMP_H
#define GMP_H

#include <stdint.h>

#define GMP_ABI_VERSION 11

/* Go's names for an address that is not a reference. */
typedef uint64_t guintptr;
typedef uint64_t muintptr;
typedef uint64_t puintptr;
typedef uint64_t sudoguintptr;

#define GMP_LINE 128
#define GMP_ALIGNED __attribute__((aligned(GMP_LINE)))

/* Values of g.atomicstatus.  org.gmp4j.struct.GStatus has the legal transitions. */
#define GMP_GIDLE 0
#define GMP_GRUNNABLE 1
#define GMP_GRUNNING 2
#define GMP_GSYSCALL 3
#define GMP_GWAITING 4
#define GMP_GDEAD 6
#define GMP_GCOPYSTACK 8
#define GMP_GPREEMPTED 9
#define GMP_GSCAN 0x1000

/* Values of p.status. */
#define GMP_PIDLE 0
#define GMP_PRUNNING 1
#define GMP_PSYSCALL 2
#define GMP_PGCSTOP 3
#define GMP_PDEAD 4

/* Values of m.sigreq: the request of sysmon to the M, for the goroutine that it runs. */
#define GMP_SIG_NONE 0
#define GMP_SIG_PREEMPT 1 /* record the goroutine's PC; g.preempt is set already */
#define GMP_SIG_HANDOFF 2 /* release the P, as entersyscall does */

/*
 * Values of m.gate, which stands between user code and the P.  Code that raises m.locks from 0 reads the gate next.
 * org.gmp4j.sched.base.Gate describes the protocol.
 */
#define GMP_GATE_SHUT 0   /* the M has no P */
#define GMP_GATE_OPEN 1   /* the M's thread may use m.p while m.locks is raised */
#define GMP_GATE_ASKED 2  /* another thread wants to take the P; the M's thread may refuse, by CAS to GMP_GATE_OPEN */
#define GMP_GATE_TAKING 3 /* another thread is taking the P; the M's thread waits until it has finished */

/* The slots of p.runq.  The runtime may use fewer of them: tests shrink the ring to 4. */
#define GMP_RUNQ 256

/*
 * The buckets of a histogram of durations, in nanoseconds: one for each of 0 to 3, then four for each power of two, and the last
 * for all durations of more than half an hour.  See org.gmp4j.struct.Buckets.
 */
#define GMP_BUCKETS 160

/*
 * A waiter: an element of a wait queue.  The element that it sends or receives is in a side table under `index`.  While it is
 * queued, the lock of the object on which it waits guards its fields.
 *
 * A thread that is not an M also waits by a sudog.  For a select it has, besides one sudog for each case, a sudog that is in no
 * queue and represents the thread.
 */
struct sudog {
    guintptr g;          /* the G that waits; for a thread that is not an M 0, and in a select the sudog that represents it */
    sudoguintptr next;   /* link of a wait queue, or a child in a semaphore's treap; after a close a link of the list of waiters
                            to wake; in a sudog that represents a thread the sudog of the case that won */
    sudoguintptr prev;   /* the other link of a wait queue, or the other child */
    sudoguintptr waitlink; /* link of the g.waiting list, of the ring of a semaphore's waiters, or of the free list of a P or of
                              sched; for a channel of longs the element, for a Semaphore the weight */
    int64_t releasetime; /* in a semaphore's treap the id of the semaphore */
    uint32_t index;      /* slot, set once */
    uint32_t ticket;     /* in the treap the random key; in a semaphore's waiter that was dequeued whether it got the unit; for a
                            Cond the ticket; in a sudog that represents a thread the same as g.selectDone for a goroutine */
    int32_t isSelect;    /* 1 for a case of a G's select, 2 for a case of a thread's: racing wakers must win g.selectDone, or the
                            ticket of the sudog that represents the thread */
    int32_t success;     /* woken by a value, not by a close */
    int32_t caseIndex;   /* for a lock, while waits for locks are profiled, the time in us since when it waits; else 0 */
    int32_t thread;      /* futex word (a Note) of a waiting thread that is not an M */
};

/* A goroutine. */
struct g {
    /* Hot: every switch touches this line. */
    uint32_t atomicstatus; /* any thread, by CAS only, along the edges of GStatus */
    uint32_t index;        /* slot in the side tables; set once when the slot is made */
    muintptr m;            /* owner; 0 when not running */
    guintptr schedlink;    /* the thread that queues or dequeues the G: next in a queue or free list */
    uint64_t goid;         /* newproc */
    uint32_t preempt;      /* sysmon and stopTheWorld set it: the G is to yield at its next point; the G's M clears it */
    uint32_t waitreason;   /* owner, before _Gwaiting */
    uint32_t selectDone;   /* wakers of a select, by CAS: 0 open, 1 won */
    uint32_t hasstack;     /* owner: 0 fresh (no stack yet), 1 has one in the side table */
    int64_t waitsince;     /* its M, and Upkeep.timeWaits: nanoTime since when it waits, or 0 while that is not known */
    int64_t runnabletime;  /* the thread that makes it runnable: nanoTime of that, in one of many cases, whose wait is measured; else
                              minus the number of cases since the last such one.  Its M sets 0 or less when it runs: see Latency */
    sudoguintptr param;    /* waker, before ready: the sudog that fired */
    muintptr lockedm;      /* owner: LockOSThread partner, or the M whose stack pins it */
    int64_t sleepWhen;     /* owner, before it parks: nanoTime when its sleep ends */

    /* Cold. */
    uint64_t parentGoid;   /* newproc */
    uint32_t sig;          /* C handler: the last preemption signal; for a debugger */
    uint32_t sigcode0;     /* C handler: the request, GMP_SIG_*; for a debugger */
    uint64_t allocseq;     /* newproc: how often the slot was used; distinguishes a recycled G from the old one */
};

/* A machine: an OS thread that the runtime made. */
struct m {
    /* Owner's line. */
    guintptr curg;         /* owner: running G or 0 */
    puintptr p;            /* owner: attached P or 0 */
    puintptr oldp;         /* owner: the P held before a syscall */
    guintptr lockedg;      /* owner: partner of LockOSThread */
    int32_t locks;         /* owner: depth of acquirem; the handler must not touch the P while > 0 */
    int32_t spinning;      /* owner: searching for work, counted in sched.nmspinning */
    int32_t incgo;         /* owner, in Syscall: 1 after it has released its P for a call that may last; 0 if the handler took the P */
    int32_t gate;          /* owner, with locks raised, and a thread that takes its P: GMP_GATE_*; see Gate */
    uint32_t lockedExt;    /* owner: depth of LockOSThread by users */
    uint32_t lockedInt;    /* owner: depth of LockOSThread by the runtime */
    uint64_t fastrand;     /* owner: xorshift state */
    uint32_t index;        /* slot in the side table; set once */
    uint64_t nsleep;       /* owner: times it slept for want of a P, not counting those in the network poller; outlives the thread */
    uint64_t nsleeppoll;   /* owner: times it slept in the network poller */

    /* Written by other threads. */
    puintptr nextp GMP_ALIGNED; /* the waker, before the wake-up; the owner attaches the P after it */
    muintptr schedlink;    /* under sched.lock: midle */
    muintptr alllink;      /* under sched.lock, once: allm */
    int64_t id;            /* newm, once */
    uint64_t procid;       /* mstart, once: the kernel's thread id */
    int32_t cpu;           /* mstart: the CPU it is pinned to, -1 when it is not pinned */
    int32_t exited;        /* mexit, once, before the thread ends */

    /* The futex word on which this M sleeps.  0: awake, nothing pending.  1: wake-up pending.  -1: asleep.  See Note. */
    int32_t park GMP_ALIGNED;
    int32_t blocked;       /* owner: parked on the word above */

    /*
     * Preemption by signal, where there is no membarrier(2).  sysmon writes a request and sends SIGURG.  The handler, which runs
     * on this M's thread, carries the request out.  Several pending signals are delivered as one, so the request is a state: the
     * newest one counts.
     */
    uint32_t sigreq GMP_ALIGNED; /* sysmon, by release: GMP_SIG_*; the handler resets it to GMP_SIG_NONE by exchange */
    uint32_t sigtick;       /* sysmon, before sigreq: the p.schedtick that the request is about */
    uint64_t sigsent;       /* sysmon: signals sent */
    uint64_t sigpreempt;    /* handler: GMP_SIG_PREEMPT found the goroutine in its own code */
    uint64_t sighandoff;    /* handler: GMP_SIG_HANDOFF took the P */
    uint64_t sigidle;       /* handler: refused because there is no goroutine or no P */
    uint64_t siglocks;      /* handler: refused because code of the runtime runs */
    uint64_t siglate;       /* handler: refused because another goroutine runs by now, or the request was reset */
    uint64_t sigpc;         /* handler: the PC that it interrupted when it last carried a request out; for a debugger */
    int32_t taken;          /* the thread that takes the P: how often the P was taken without a signal */
};

/* Sysmon's record of a P from its last scan. */
struct sysmontick {
    uint32_t schedtick;
    uint32_t syscalltick;
    int64_t schedwhen;
    int64_t syscallwhen;
    uint64_t globaltick;   /* pstat.nglobal, when that last changed or the global queue was empty */
    uint64_t othertick;    /* the sum of nlocal, npolled and narrived at that time */
    int64_t globalwhen;    /* nanoTime of the last scan at which that sum was still the same */
};

/*
 * Counters of a P for org.gmp4j.metrics, besides those on the owner's lines below.  The owner writes all of them, as whole words and
 * opaquely.  Any thread reads each of them by itself, without stopping the writer.  They stay when GOMAXPROCS changes.
 */
struct pstat {
    uint64_t nlocal;       /* Gs run next that came from runnext or the ring */
    uint64_t nstealok;     /* victims from which Gs were stolen */
    uint64_t nstealfail;   /* victims that had no G to steal */
    uint64_t stolenfrom;   /* procresize, world stopped: address of the counters of Gs stolen, one for each victim by id */
    uint64_t noverflow;    /* pushes into a full ring */
    uint64_t nglobal;      /* Gs run next that came from sched.runq or a node's list, or in the turn of these */
    uint64_t narrived;     /* other Gs run next that came from sched.arrived */
    uint64_t npolled;      /* Gs run next that the P's own poll of the network found ready */
    uint64_t nspin;        /* times an M began to search with this P */
    uint64_t nnap;         /* naps of spinners that were woken in vain */
    uint64_t npreempt;     /* yields of goroutines that were asked to yield */
    uint64_t npoint;       /* those of them at a preemption point in the goroutine's own code */
    uint64_t ntimer;       /* timers and sleeps that came due, run by this P's M */
    uint64_t mutexwait;    /* nanoseconds that goroutines waited for locks of org.gmp4j.sync */
    uint64_t latency[GMP_BUCKETS]; /* how long some goroutines were runnable before they ran */
    uint64_t wakeup[GMP_BUCKETS];  /* the time from the wake-up of an M until its thread ran */
};

/* A processor: the right to run goroutines, and the caches that belong to it. */
struct p {
    /* Owner's lines. */
    int32_t id;            /* procresize, once */
    uint32_t status;       /* by CAS: owner, and sysmon's retake and stopTheWorld on _Psyscall and _Pidle */
    puintptr link;         /* under sched.lock: pidle */
    muintptr m;            /* acquirep, releasep: the owner, 0 when idle */
    uint32_t schedtick;    /* owner: +1 when a time slice begins, or ends early */
    uint32_t syscalltick;  /* owner: +1 for each syscall; retake: +1 when it takes the P */
    uint64_t goidcache;    /* owner: next goid */
    uint64_t goidcacheend; /* owner: end of the range, exclusive */
    guintptr gfree;        /* owner: free Gs, by schedlink */
    int32_t gfreen;        /* owner */
    int32_t sudogn;        /* owner */
    sudoguintptr sudogcache; /* owner: free sudogs, by waitlink */
    uint32_t inherited;    /* owner: how often runnext has inherited the slice since that began, or since its turn was that of others */
    uint64_t nspawn;       /* owner, by release: goroutines created here */
    uint64_t nexit;        /* owner, by release: goroutines ended here */
    uint64_t nsteal;       /* owner: Gs stolen by this P */
    uint64_t nstealtry;    /* owner: victims searched */
    uint64_t nswitch;      /* owner: execute calls that switched stacks */
    uint64_t ninplace;     /* owner: execute calls that ran a fresh G in place */
    int64_t idlesince;     /* pidleput, under sched.lock */
    int64_t idletime;      /* pidleget, under sched.lock: nanoseconds spent idle */

    /* Written by sysmon. */
    struct sysmontick sysmontick GMP_ALIGNED;
    uint32_t globaldue;    /* sysmon: whether the P's next G is to come from runq, 0 or 1; the owner: 0 when it takes a G from there */
    uint32_t longcall;     /* sysmon, before it takes the P from a system call: whether the call lasted; read by the M after the
                              call */

    /* Timers.  Guarded by timersLock.  Other threads read the length and timer0When without the lock. */
    int32_t timersLock GMP_ALIGNED;
    int32_t timersLen;
    int32_t timersCap;
    uint64_t timers;       /* address of the heap: pairs of a time and a timer, 16 bytes each */
    int64_t timer0When;    /* under timersLock by release, read by acquire: the earliest time, 0 when the heap is empty */

    /* The run queue: three contended words, each on its own pair of lines. */
    uint32_t runqhead GMP_ALIGNED; /* any consumer, by CAS with release */
    uint32_t runqtail GMP_ALIGNED; /* owner only, the producer, with release (R2) */
    guintptr runnext GMP_ALIGNED;  /* by CAS: the owner sets it, the owner and thieves clear it */
    guintptr runq[GMP_RUNQ] GMP_ALIGNED; /* owner: writes a slot before it publishes the tail */

    struct pstat stat GMP_ALIGNED;
};

/*
 * An event that C code fires and for which a goroutine waits: NativeEvent in Java, gmp_ready in C.  C code may fire it before the
 * goroutine waits.  Several fires while no goroutine waits count as one.
 */
struct gmp_event {
    uint64_t word;         /* waiter and firer, by CAS and exchange: 0 not fired, 1 fired, else the struct g that waits */
    uint64_t sched;        /* the waiter, before word: its struct schedt */
};

/*
 * A descriptor in the network poller.  There are two kinds.
 *
 * The first is for the JDK's sockets: one struct for each descriptor number, in each scheduler whose goroutines have waited for it.
 * Each direction has a word, in which at most one goroutine waits.  The word is 0 without a waiter; 1 (pdReady) when the descriptor
 * was found ready and the goroutine has not seen that yet; else the address of the waiting struct g, with the registration's tag in
 * the upper 16 bits.
 *
 * The second is for org.gmp4j.net: one struct for each descriptor and poller, which stays registered until the descriptor is closed.
 * It has the same words, but without a tag, and the waiter may be a sudog.  The word is also 2 (pdWait) while the waiter is about to
 * park, and a thread that ends a wait early sets it to 0.  rseq is the tag of the registration, written by the thread that takes the
 * struct back for another descriptor.  wseq is 1 once an end, an error or urgent data was reported; a poller writes it before it
 * writes 1 to rg.
 */
struct pollDesc {
    uint64_t rg;           /* for reading; the waiter sets it, and resets it to 0; a thread that finds the descriptor ready sets
                              it to 1, by CAS */
    uint64_t wg;           /* for writing, in the same way */
    uint32_t rseq;         /* the waiter, before rg: how often it was registered for reading; the tag is the lower half */
    uint32_t wseq;         /* the waiter, before wg: how often it was registered for writing; the tag is the lower half */
};

/* A queue of Gs linked by schedlink. */
struct gqueue {
    guintptr head;
    guintptr tail;
};

/* Counters of a scheduler for org.gmp4j.metrics.  Each has one writer at a time.  Any thread reads them. */
struct schedstat {
    uint64_t nretaken;     /* sysmon: Ps taken back from system calls */
    uint64_t ntold;        /* sysmon: goroutines that were asked to yield because their quantum had ended */
    uint64_t nlate;        /* under sched.lock: Ms woken because an M that was woken before had not begun to run */
    uint64_t npoll;        /* the thread that has set pollingNet: polls of the network that do not block */
    uint64_t nready;       /* the thread that has set pollingNet: Gs found ready by these */
    uint64_t npollblock;   /* the thread that has taken lastpoll: polls of the network that block */
    uint64_t nreadyblock;  /* the thread that has taken lastpoll: Gs found ready by these */
    uint64_t stopping[GMP_BUCKETS]; /* the thread that stops the world: the time until all Ps had stopped */
    uint64_t stopped[GMP_BUCKETS];  /* the thread that stops the world: the time until the world started again, stopping included */
};

/* The scheduler.  One for each Gmp. */
struct schedt {
    /* The lock guards the fields up to nodeq, and the lists that they refer to. */
    int32_t lock GMP_ALIGNED;  /* futex word of RuntimeMutex */
    int32_t maxmcount;
    muintptr midle;        /* idle Ms, by schedlink */
    int32_t nmidle;
    int32_t nmidlelocked;
    int64_t mnext;         /* Ms made so far, and the next id */
    int64_t nmfreed;
    int32_t stopwait;      /* stopTheWorld: Ps still to stop */
    int32_t nahead;        /* woken Gs that stand one after the other up to lastahead, or were taken since another G of arrived was */
    puintptr pidle;        /* idle Ps, by link */
    struct gqueue runq;    /* the global queue, by schedlink: Gs that Ps have put off */
    struct gqueue arrived; /* likewise: Gs that threads without a P made runnable; its head is read without the lock as a hint */
    guintptr lastahead;    /* the G of arrived behind which the next woken G goes; 0 when that goes to the head */
    muintptr allm;         /* all Ms, by alllink; for a debugger, as Java uses Allm */
    guintptr gfree;        /* free Gs, by schedlink */
    int64_t procresizetime;
    int64_t totaltime;
    uint64_t nodeq;        /* address of the global queue's additional lists, one for each NUMA node; 0 without them */

    /* Read on hot paths without the lock.  Written rarely, or under the lock. */
    int32_t gomaxprocs GMP_ALIGNED; /* procresize */
    int32_t runqsize;      /* under lock: the Gs of runq, arrived and the nodes' lists; read without it as a hint */
    int32_t gcwaiting;     /* stopTheWorld, under lock; read with acquire at every schedule */
    int32_t sysmonwait;    /* sysmon, and startTheWorld under lock: which events wake sysmon, Schedt.SYSMON_RESTS (1), SYSMON_SLEEPS
                              (2) or SYSMON_HEARS (3); 0 for none */
    int32_t closing;       /* close, under lock */
    uint64_t allp;         /* procresize, world stopped: address of the array of P addresses */
    uint64_t idlepMask;    /* address of a bit array: 1 iff _Pidle (P6) */
    uint64_t timerpMask;   /* address of a bit array: 1 iff the P may have timers */

    int32_t npidle GMP_ALIGNED; /* atomic, under lock: length of pidle */
    int64_t nmspinning GMP_ALIGNED; /* atomic, seq-cst: the lower half counts Ms that search (M7), the upper half those of them
                            * that were woken and have not begun to run */
    int64_t wokenat;       /* atomic: nanoTime when the last M in the upper half was woken, stored before nmspinning counts it; for
                            * a new thread a later time, stored when the thread is about to start */
    int32_t needspinning;  /* atomic: 1 when an M is to search as soon as a P is idle */

    uint64_t goidgen GMP_ALIGNED; /* atomic: goids handed out */
    int64_t gfreecount;    /* under lock: length of gfree above */
    int64_t njdkwait;      /* atomic, with deadlock detection only: the number of Gs that wait inside the JDK or for C code, and of
                            * Gs that a thread that is no M is starting */
    int64_t nspawnextern;  /* atomic: goroutines created by threads without a P */
    int64_t nexitextern;   /* atomic: goroutines that ended on an M without a P */

    guintptr inject GMP_ALIGNED; /* atomic: Gs readied by C code, by schedlink, newest first; a thread that drains the list takes all */

    int64_t lastpoll GMP_ALIGNED; /* atomic: nanoTime of the last network poll, 0 while an M polls and may block */
    int64_t pollUntil;     /* atomic: nanoTime until which an M sleeps in the poller; 0 without a limit, or when none sleeps there */
    int32_t pollBreak;     /* futex word on which the M sleeps in the poller before there is a socket */
    int32_t pollingNet;    /* atomic: 1 while a thread polls the network without blocking */
    int32_t netpollWaiters; /* atomic: registrations that were not found ready yet */
    int32_t netpollWakeSig; /* by CAS: 1 once the blocking poll was asked to end, until it has ended */

    int32_t sysmonnote GMP_ALIGNED; /* Note on which sysmon sleeps */
    int32_t stopnote;      /* Note of stopTheWorld */

    struct schedstat stat GMP_ALIGNED;
};

#endif
