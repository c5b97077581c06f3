/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler's structs, declared once.  jextract turns this file into the Java layouts, C code includes it
 * as it is, and a test compares sizeof and offsetof of both sides.
 *
 * Rules that hold for every struct here
 *  - A pointer is a 64-bit address, 0 is nil.  Structs are recycled, never unmapped: a stale pointer is never a fault.
 *  - No Java reference is ever stored here.  What belongs to a G, M or P on the heap stands in a side table under its index.
 *  - Fields are grouped by their writers, contended words are 128 bytes apart (two lines: the adjacent-line prefetcher).
 *    Structs of which there are millions (g, sudog) are whole 64-byte lines instead: one writer at a time owns each.
 *  - The comment of a field names its writer.  "owner" is the M that holds the P (struct p), the thread itself (struct m),
 *    the M that runs the G (struct g).
 *  - Flags are 32 bits wide because the JVM has compare-and-set for 32 and 64 bits only.
 */
#ifndef GMP_H
#define GMP_H

#include <stdint.h>

#define GMP_ABI_VERSION 7

/* Go's names for an address that is not a reference. */
typedef uint64_t guintptr;
typedef uint64_t muintptr;
typedef uint64_t puintptr;
typedef uint64_t sudoguintptr;

#define GMP_LINE 128
#define GMP_ALIGNED __attribute__((aligned(GMP_LINE)))

/* g.atomicstatus.  Legal edges: org.gmp4j.struct.GStatus. */
#define GMP_GIDLE 0
#define GMP_GRUNNABLE 1
#define GMP_GRUNNING 2
#define GMP_GSYSCALL 3
#define GMP_GWAITING 4
#define GMP_GDEAD 6
#define GMP_GCOPYSTACK 8
#define GMP_GPREEMPTED 9
#define GMP_GSCAN 0x1000

/* p.status */
#define GMP_PIDLE 0
#define GMP_PRUNNING 1
#define GMP_PSYSCALL 2
#define GMP_PGCSTOP 3
#define GMP_PDEAD 4

/* m.sigreq: what sysmon wants of the goroutine that the M runs. */
#define GMP_SIG_NONE 0
#define GMP_SIG_PREEMPT 1 /* note where it is; g.preempt is set already */
#define GMP_SIG_HANDOFF 2 /* give the P up, as entersyscall would */

/*
 * m.gate, between user code and the P.  Whoever raises m.locks from 0 looks at it next.  The protocol: org.gmp4j.proc.Gate.
 */
#define GMP_GATE_SHUT 0   /* no P */
#define GMP_GATE_OPEN 1   /* m.p is the thread's to use while m.locks is raised */
#define GMP_GATE_ASKED 2  /* somebody would like to take it; the thread may still refuse, by CAS to GMP_GATE_OPEN */
#define GMP_GATE_TAKING 3 /* it is being taken; the thread waits */

/* Slots of p.runq; the runtime may use fewer of them (tests shrink the ring to 4). */
#define GMP_RUNQ 256

/*
 * Buckets of a histogram of durations, in nanoseconds: one for each of 0 to 3, then four for each power of two, and the last for
 * all that is longer than half an hour.  org.gmp4j.struct.Buckets.
 */
#define GMP_BUCKETS 160

/* A goroutine waiting on something: an element of a wait queue.  Its element value stands in a side table under `index`. */
struct sudog {
    guintptr g;          /* the G that waits; 0 when a thread that is not an M waits, in a select the sudog that stands for it */
    sudoguintptr next;   /* wait queue links, or the children in a semaphore's treap: under the lock of the thing waited for;
                            then the list of those that a close wakes, and in a thread's select the winner */
    sudoguintptr prev;
    sudoguintptr waitlink; /* g.waiting list, the ring of a semaphore's waiters, or the free list of a P or of sched; on a
                              channel of longs the element, of a Semaphore the weight */
    int64_t releasetime; /* of one in a semaphore's treap the semaphore's id */
    uint32_t index;      /* slot, set once */
    uint32_t ticket;     /* in the treap its random key, then whether it was handed the unit; of a Cond the ticket; of one that
                            stands for a selecting thread what g.selectDone is to a goroutine */
    int32_t isSelect;    /* takes part in a select, 2 of a thread's: racing wakers must win g.selectDone */
    int32_t success;     /* woken by a value, not by a close */
    int32_t caseIndex;   /* of one that waits for a lock since when, in us, while that is profiled; else 0 */
    int32_t thread;      /* futex word of a waiting thread that is not an M: 0 waiting, 1 woken */
};

/* A goroutine. */
struct g {
    /* Hot: every switch touches this line. */
    uint32_t atomicstatus; /* any thread, by CAS only, along the edges of GStatus */
    uint32_t index;        /* slot in the side tables; set once when the slot is made */
    muintptr m;            /* owner; 0 when not running */
    guintptr schedlink;    /* whoever holds the G: next in a queue or free list */
    uint64_t goid;         /* newproc */
    uint32_t preempt;      /* sysmon and stopTheWorld set, its M clears: yield at the next point; globrunqgetahead on one in no queue */
    uint32_t waitreason;   /* owner, before _Gwaiting */
    uint32_t selectDone;   /* wakers of a select, by CAS: 0 open, 1 won */
    uint32_t hasstack;     /* owner: 0 fresh (no stack yet), 1 has one in the side table */
    int64_t waitsince;     /* nanoTime since when it waits, or 0: see Traceback.timeWaits */
    int64_t runnabletime;  /* what makes it runnable: nanoTime of that, if this is one to be timed; else, not above 0, minus how often
                              it was not since.  Its M, when it runs, back to 0 or less: see Latency */
    sudoguintptr param;    /* waker, before ready: the sudog that fired */
    muintptr lockedm;      /* owner: LockOSThread partner, or the M whose stack pins it */
    int64_t sleepWhen;     /* owner, before it parks: nanoTime when its sleep ends */

    /* Cold. */
    uint64_t parentGoid;   /* newproc */
    uint32_t sig;          /* C handler: the preemption signal last taken; for a debugger */
    uint32_t sigcode0;     /* C handler: the request, GMP_SIG_*; for a debugger */
    uint64_t allocseq;     /* newproc: how often the slot was used; tells a recycled G from the old one */
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
    int32_t incgo;         /* owner, in Syscall: gave its P up for a call that may last; not when the handler took it */
    int32_t gate;          /* GMP_GATE_*; owner, with locks raised, and the one that takes its P: see Gate */
    uint32_t lockedExt;    /* owner: LockOSThread depth by users */
    uint32_t lockedInt;    /* owner: the same by the runtime */
    uint64_t fastrand;     /* owner: xorshift state */
    uint32_t index;        /* slot in the side table; set once */
    uint64_t nsleep;       /* owner: times it slept for want of a P, not counting those in the network poller; outlives the thread */
    uint64_t nsleeppoll;   /* owner: times it slept in the network poller */

    /* Written by other threads. */
    puintptr nextp GMP_ALIGNED; /* the waker, before the wake-up; the owner takes it after */
    muintptr schedlink;    /* under sched.lock: midle */
    muintptr alllink;      /* under sched.lock, once: allm */
    int64_t id;            /* newm, once */
    uint64_t procid;       /* mstart, once: the kernel's thread id */
    int32_t cpu;           /* mstart: the CPU it is pinned to, -1 when free to roam */
    int32_t exited;        /* mexit, once, before the thread ends */

    /* The futex word this M sleeps on.  0 awake or nothing pending, 1 wake-up pending, -1 asleep: see Note. */
    int32_t park GMP_ALIGNED;
    int32_t blocked;       /* owner: parked on the word above */

    /*
     * Preemption by signal, where there is no membarrier(2).  sysmon writes a request and sends SIGURG; the handler, which runs on this very thread,
     * answers.  Signals merge, so the request is a state: the newest one counts.
     */
    uint32_t sigreq GMP_ALIGNED; /* sysmon, by release: GMP_SIG_*; the handler back to GMP_SIG_NONE by exchange */
    uint32_t sigtick;       /* sysmon, before sigreq: the p.schedtick that the request is about */
    uint64_t sigsent;       /* sysmon: signals sent */
    uint64_t sigpreempt;    /* handler: GMP_SIG_PREEMPT found the goroutine in its own code */
    uint64_t sighandoff;    /* handler: GMP_SIG_HANDOFF took the P */
    uint64_t sigidle;       /* handler: refused, no goroutine or no P */
    uint64_t siglocks;      /* handler: refused, the runtime is at work */
    uint64_t siglate;       /* handler: refused, another goroutine runs by now, or the request was gone */
    uint64_t sigpc;         /* handler: the PC that it interrupted when it last did something; for a debugger */
    int32_t taken;          /* whoever is the taker: times the P was taken without a signal */
};

/* What sysmon saw of a P the last time. */
struct sysmontick {
    uint32_t schedtick;
    uint32_t syscalltick;
    int64_t schedwhen;
    int64_t syscallwhen;
    uint64_t globaltick;   /* pstat.nglobal without what was taken ahead, when that last changed or the global queue was empty */
    uint64_t othertick;    /* the sum of nlocal, npolled and what was taken ahead then */
    int64_t globalwhen;    /* the last look at which that sum was still the same */
};

/*
 * Counters of a P for org.gmp4j.metrics, besides those on the owner's lines below.  All are the owner's, whole words that it stores
 * opaquely; whoever reads them reads each by itself, without stopping anybody.  They outlive GOMAXPROCS.
 */
struct pstat {
    uint64_t nlocal;       /* Gs run next that came from runnext or the ring */
    uint64_t nstealok;     /* victims that had something */
    uint64_t nstealfail;   /* victims that had nothing */
    uint64_t stolenfrom;   /* address of the counters of Gs stolen, one for each victim by id; procresize, world stopped */
    uint64_t noverflow;    /* pushes into a full ring */
    uint64_t nglobal;      /* Gs run next that came from the global queue, but for those that the poller found */
    uint64_t npolled;      /* Gs run next that the network poller found ready */
    uint64_t nspin;        /* times an M began to search with this P */
    uint64_t nnap;         /* naps of spinners that were woken in vain */
    uint64_t npreempt;     /* goroutines that yielded because they were told to */
    uint64_t npoint;       /* those of them that noticed it at a preemption point of their own code */
    uint64_t ntimer;       /* timers and sleeps that came due, run by this P's M */
    uint64_t mutexwait;    /* nanoseconds that goroutines waited for locks of org.gmp4j.sync */
    uint64_t latency[GMP_BUCKETS]; /* of some goroutines, how long they were runnable before they ran */
    uint64_t wakeup[GMP_BUCKETS];  /* of Ms, how long it was from the wake-up to the thread */
};

/* A processor: the right to run goroutines, and the caches that go with it. */
struct p {
    /* Owner's lines. */
    int32_t id;            /* procresize, once */
    uint32_t status;       /* by CAS: owner, and sysmon's retake and stopTheWorld on _Psyscall and _Pidle */
    puintptr link;         /* under sched.lock: pidle */
    muintptr m;            /* acquirep, releasep: back to the owner, 0 when idle */
    uint32_t schedtick;    /* owner: +1 when a time slice begins, or ends early */
    uint32_t syscalltick;  /* owner: +1 a syscall; retake: +1 when it takes the P */
    uint64_t goidcache;    /* owner: next goid */
    uint64_t goidcacheend; /* owner: end of the range, exclusive */
    guintptr gfree;        /* owner: free Gs, by schedlink */
    int32_t gfreen;        /* owner */
    int32_t sudogn;        /* owner */
    sudoguintptr sudogcache; /* owner: free sudogs, by waitlink */
    uint32_t node;         /* procresize: NUMA node, 0 when unknown */
    uint64_t nspawn;       /* owner, by release: goroutines created here */
    uint64_t nexit;        /* owner, by release: goroutines ended here */
    uint64_t nsteal;       /* owner: Gs stolen by this P */
    uint64_t nstealtry;    /* owner: victims looked at */
    uint64_t nswitch;      /* owner: execute calls that switched stacks */
    uint64_t ninplace;     /* owner: execute calls that ran a fresh G in place */
    int64_t idlesince;     /* pidleput, under sched.lock */
    int64_t idletime;      /* pidleget, under sched.lock: nanoseconds spent idle */

    /* Sysmon's. */
    struct sysmontick sysmontick GMP_ALIGNED;
    uint32_t globaldue;    /* sysmon: who of the global queue has the P's next turn, 0 for nobody (GlobalRunq.DUE, POLLED_DUE); the owner: 0 when it takes from there */
    uint32_t longcall;     /* sysmon, before it takes the P from a system call: whether the call lasted; the M that comes back reads it */

    /* Timers: under timersLock but for the two words that other Ps read. */
    int32_t timersLock GMP_ALIGNED;
    int32_t timersLen;
    int32_t timersCap;
    uint64_t timers;       /* address of the heap: (when, what) pairs, 16 bytes each */
    int64_t timer0When;    /* under timersLock by release, read by acquire: 0 when the heap is empty */

    /* The run queue: three contended words, each on its own pair of lines. */
    uint32_t runqhead GMP_ALIGNED; /* anyone, by CAS with release: consumers */
    uint32_t runqtail GMP_ALIGNED; /* owner only, with release: the producer (R2) */
    guintptr runnext GMP_ALIGNED;  /* by CAS: the owner sets, owner and thieves take */
    guintptr runq[GMP_RUNQ] GMP_ALIGNED; /* owner writes a slot before it publishes the tail */

    struct pstat stat GMP_ALIGNED; /* see there */
};

/*
 * An event that C code fires and a goroutine waits for: NativeEvent in Java, gmp_ready in C.  May fire before the
 * goroutine waits; fires that nobody waited for count as one.
 */
struct gmp_event {
    uint64_t word;         /* by CAS and exchange: 0 nothing, 1 fired, else the struct g that waits */
    uint64_t sched;        /* the waiter, before word: its struct schedt */
};

/*
 * A descriptor as the network poller knows it: one for each number, in each scheduler whose goroutines waited for it. Each
 * direction has a word, and one goroutine at most waits in it: 0 nobody, 1 (pdReady) it was found ready and the goroutine has
 * not noticed yet, else the waiting struct g with the registration's tag in the upper 16 bits.
 *
 * Those of org.gmp4j.net are registered for good, one for each descriptor and poller. They have the same words without a tag;
 * 2 (pdWait) is a goroutine that is about to park, and 0 comes also from whoever ends a wait early. What waits may be a sudog.
 * rseq is the tag of the registration, by whoever takes the struct back. wseq is 1 when an end, an error or urgent data was
 * reported, by a poller before it writes 1 to rg.
 */
struct pollDesc {
    uint64_t rg;           /* the waiter sets it, and back to 0; whoever finds the descriptor ready moves it to 1, by CAS */
    uint64_t wg;           /* the same for writing */
    uint32_t rseq;         /* the waiter, before rg: how often it was registered; the tag is its lower half */
    uint32_t wseq;
};

/* A queue of Gs linked by schedlink. */
struct gqueue {
    guintptr head;
    guintptr tail;
};

/* Counters of a scheduler for org.gmp4j.metrics.  Each has one writer at a time, and is read by anybody. */
struct schedstat {
    uint64_t nretaken;     /* sysmon: Ps taken back from system calls */
    uint64_t ntold;        /* sysmon: goroutines that were told to yield, as their quantum was over */
    uint64_t nlate;        /* under sched.lock: Ms woken because those woken before had not come to run */
    uint64_t npoll;        /* whoever has pollingNet: looks at the network */
    uint64_t nready;       /* whoever has pollingNet: Gs found ready by those */
    uint64_t npollblock;   /* whoever has lastpoll: sleeps in the poller */
    uint64_t nreadyblock;  /* whoever has lastpoll: Gs found ready by those */
    uint64_t stopping[GMP_BUCKETS]; /* whoever stops the world: how long it took until all Ps had stopped */
    uint64_t stopped[GMP_BUCKETS];  /* whoever stops the world: how long it was from then to the start, the stopping included */
};

/* The scheduler.  One for each Gmp. */
struct schedt {
    /* lock guards what stands on this line and the lists it names. */
    int32_t lock GMP_ALIGNED;  /* futex word of RuntimeMutex */
    int32_t maxmcount;
    muintptr midle;        /* idle Ms, by schedlink */
    int32_t nmidle;
    int32_t nmidlelocked;
    int64_t mnext;         /* Ms made so far, and the next id */
    int64_t nmfreed;
    int32_t stopwait;      /* stopTheWorld: Ps still to stop */
    puintptr pidle;        /* idle Ps, by link */
    struct gqueue runq;    /* the global queue, by schedlink */
    guintptr runqpolled;   /* the last of the Gs at its head that the poller found; 0 for none; read without the lock as a hint */
    muintptr allm;         /* all Ms, by alllink; for a debugger: Java has Allm */
    guintptr gfree;        /* free Gs, by schedlink */
    int64_t procresizetime;
    int64_t totaltime;
    uint64_t nodeq;        /* address of the lists that the global queue has besides, one for each NUMA node; 0 without */

    /* Read on hot paths without the lock, written rarely or under it. */
    int32_t gomaxprocs GMP_ALIGNED; /* procresize */
    int32_t runqsize;      /* under lock; read without it as a hint */
    int32_t gcwaiting;     /* stopTheWorld, under lock; read with acquire at every schedule */
    int32_t sysmonwait;    /* 1 sysmon rests, 2 sleeps deeply, 3 hears system calls; sysmon, and startTheWorld under lock */
    int32_t closing;       /* close, under lock */
    uint64_t allp;         /* address of the array of P addresses; procresize, world stopped */
    uint64_t idlepMask;    /* address of a bit array: 1 iff _Pidle (P6) */
    uint64_t timerpMask;   /* address of a bit array: 1 iff the P may have timers */

    int32_t npidle GMP_ALIGNED; /* atomic, under lock: length of pidle */
    int64_t nmspinning GMP_ALIGNED; /* atomic, seq-cst: lower half, Ms that search (M7); upper half, those of them that
                            * were woken and have not come to run */
    int64_t wokenat;       /* atomic: nanoTime when the last of these was woken, before nmspinning counts it; for a new
                            * thread a later time, stored when that is about to start */
    int32_t needspinning;  /* atomic: a spinner is wanted when a P is at hand */

    uint64_t goidgen GMP_ALIGNED; /* atomic: goids handed out */
    int64_t gfreecount;    /* under lock: length of gfree above */
    int64_t njdkwait;      /* atomic, with deadlock detection only: Gs that wait inside the JDK, or for C code,
                            * and those that a thread that is no M is starting */
    int64_t nspawnextern;  /* atomic: goroutines created by threads without a P */
    int64_t nexitextern;   /* atomic: goroutines that ended on an M without a P */

    guintptr inject GMP_ALIGNED; /* atomic: Gs readied by C code, by schedlink, newest first; whoever drains takes all */

    int64_t lastpoll GMP_ALIGNED; /* atomic: nanoTime of the last network poll, 0 while someone polls */
    int64_t pollUntil;     /* atomic: until when the poller sleeps, 0 when nobody does */
    int32_t pollBreak;     /* futex word: the sleeping poller, until the first socket */
    int32_t pollingNet;    /* atomic: 1 while somebody polls the network without blocking */
    int32_t netpollWaiters; /* atomic: registrations that were not found ready yet */
    int32_t netpollWakeSig; /* by CAS: 1 from when the blocking poll is to end until it has */

    int32_t sysmonnote GMP_ALIGNED; /* Note of sysmon's sleeps */
    int32_t stopnote;      /* Note of stopTheWorld */

    struct schedstat stat GMP_ALIGNED; /* see there */
};

#endif
