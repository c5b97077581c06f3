// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.boot;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Membarrier;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.StackSpace;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newm;
import org.gmp4j.sched.Threads;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.IntField;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.Struct;
import org.jspecify.annotations.Nullable;

/**
 * Initialises classes before the first goroutine, and makes the calls that the JVM links at their first use. An initialiser takes memory
 * and stack, and a class whose initialiser has failed stays unusable for ever. The first use of a class of the JDK by the runtime's classes
 * takes memory even if that class is loaded, because the JVM asks their class loader for it. So does the first use of a string constant,
 * of a lambda, or of a {@code VarHandle} at a call site, and the 128th call of a method handle by code that is not fully compiled. In a
 * running scheduler each of them could fail between two steps of a protocol, with a lock held, on an M or in the middle of a user's call.
 */
public final class Prelink {
    /**
     * Classes that an M, sysmon or a virtual thread needs: in each line a package, of the JDK or below {@code org.gmp4j}, and classes of
     * it. Classes that the making of a scheduler initialises are left out.
     */
    private static final String OF_THREADS = """
            java.lang.ref Reference
            java.util.concurrent ThreadLocalRandom TimeUnit
            jdk.internal.event VirtualThreadEndEvent
            jdk.internal.misc CarrierThread
            ffi CompilerThreads
            lock HeapMutex LockRank Note ProcessEnd RuntimeMutex SchedLock
            policy Pacing Slice Spin Steal Turns
            queue GFree GlobalRunq Idle Runq SudogCache
            sched Bubble Bubble$1 FindRunnable Goexit0 GoroutineExit Inject Mcall Newm Newm$Mstart Newproc Park Preempt Schedule Shortage
            sched StopTheWorld StopTheWorld$Procs Syscall Threads Threads$Exit Tracing Wakep
            sched.base Checkdead Collected Gate Gcount Outside PreemptSignal Recorder Recorder$Taken TraceEvents
            sched.base UnfinishedSwitches
            sched.jdk JdkReady JdkReady$Wakeup NamedPools Stacks
            sched.upkeep ProcsUpdate
            stack EndLatch JdkState JdkState$Wait StackRef
            struct G GStatus JdkWait Latency M PStatus SchedStat Schedt WaitReason
            sysmon ArmPoints$Overrun GlobalTurn Strays$Stray ThreadState$Seen WatchedM
            timer Alarm ParkTimer RuntimeTimer TimeBubble
            """;
    /** Classes that a program needs if it calls the runtime itself. */
    private static final String OF_API = """
            . Chan ChanClosedException Go LongChan Program$Body Program$Threads Select Select$1 WaitInterruptedException
            java.time Clock Duration Instant Instant$1
            java.time.temporal ChronoField ChronoUnit
            chan ChanCancellation ChanTimer ChanTimer$Maker Hchan Hchan$1 LongBlock LongBlock$Freeing Scase Scase$Kind SelectCancellation
            chan SelectLocks SelectLocks$1 Selectgo
            context Cancellation Cancellation$AfterFunc Cancellation$Expiry Cancellation$Make Cancellation$Told Child Context
            context ContextException$Canceled ContextException$DeadlineExceeded
            ffi Memory$Allocator
            queue SemaRoot SemaRoot$Key WaitQ
            sched Awaited Bubble$Member GStack$Nothing Labelled
            sched.jdk InterruptHook InterruptHook$Late InterruptHook$Told ThreadTask
            stack HiddenExecutor
            struct Sudog SudogSlots
            sync Cond Mutex Pool Pool$Dropping Pool$Slot Pool$Slots RWMutex Semaphore Semaphore$GivingUp WaitGroup WaitGroup$Counted
            sync WaitGroup$LettingGo
            time Time Timer
            timer FuncTimer FuncTimer$FromOutside TickTimer TickTimer$Maker
            wait DoneChans DoneChans$Operations Limits Limits$Interrupts NotifyList NotifyList$Dropped NotifyList$OfTicket
            wait Outcome Sema Sema$1 Sema$OfSema WaitCancellation WaitCancellation$Limit WaitCancellation$OfQueue Waiting Waiting$1
            """;

    /**
     * {@link #room} allocates this many arrays of {@link #PIECE} bytes: in sum several times the heap memory that the first scheduler
     * needs. No collector treats such an array as a large object.
     */
    private static final int ROOM_PIECES = 32;
    private static final int PIECE = 64 << 10;

    private static final IntField INT = Struct.P.intField("id");
    private static final LongField LONG = Struct.P.longField("link");

    /** Whether the classes that virtual threads need are initialised. The class's monitor guards this field and the next. */
    private static boolean ofThreads;
    private static boolean ofApi;

    private Prelink() {
    }

    /**
     * Initialises the classes, unless this process has done that. If it fails, for lack of memory or stack or threads, the caller may try
     * again.
     *
     * @param program whether this is program mode, in which the process ends if the system refuses a thread; in other modes the system must
     *     have enough threads for a first scheduler
     * @param api whether the program calls the runtime itself; if only its virtual threads use it, fewer classes are initialised
     * @throws OutOfMemoryError when there is too little memory, or the system does not give enough threads
     */
    public static synchronized void once(boolean program, boolean api) {
        if (ofThreads && (ofApi || !api)) {
            return;
        }
        GStack.checkAll();
        int _ = room();
        if (!ofThreads) {
            if (!program) {
                FirstThreads.check();
            }
            calls();
            atomics();
            boolean _ = Newm.rehearse();
            initialize(OF_THREADS);
            ofThreads = true;
        }
        if (api) {
            // The first thread of Gmp.threadFactory then needs no memory for this. This thread is never started, so any Runnable will do.
            JdkThreads.rehearseThreadOf(Thread.ofVirtual().inheritInheritableThreadLocals(false).unstarted(Thread.currentThread()));
            initialize(OF_API);
            ofApi = true;
        }
    }

    /** Throws an OutOfMemoryError if there is little memory, because a class whose initialiser then failed would stay unusable. */
    private static int room() {
        return new byte[ROOM_PIECES][PIECE].length;
    }

    private static void initialize(String classes) {
        for (String line : classes.split("\n")) {
            String[] names = line.split(" ");
            String of = names[0].equals(".") ? "" : names[0] + ".";
            boolean jdk = of.startsWith("java.") || of.startsWith("jdk.");
            for (int i = 1; i < names.length; i++) {
                try {
                    Class<?> _ = Class.forName((jdk ? "" : "org.gmp4j.") + of + names[i]);
                } catch (ClassNotFoundException e) {
                    if (!jdk) { // Another version of the JDK may do without the class.
                        throw new AssertionError(e);
                    }
                }
            }
        }
    }

    /** Makes each kind of access to off-heap memory, and each kind of call of C code. */
    private static void calls() {
        long line = Mem.alloc(Struct.P, 1);
        fields(line);
        words(line);
        int _ = Futex.await(line, 1) + Futex.await(line, 1, 0) + Futex.wake(line, 1);
        if (Membarrier.isAvailable()) {
            Membarrier.run();
        }
        Threads.trimStack();
        int tid = OsThread.gettid();
        long _ = Epoll.eventsAt(line, 0) + Epoll.dataAt(line, 0);
        long l = StackSpace.left() + OsThread.cpuNanos(tid) + OsThread.state(tid);
        for (int i = 0; i <= JdkThreads.CUSTOMIZED_AFTER; i++) { // All calls of C code go through these two handles.
            long _ = Futex.wake(line, 1) + StackSpace.left();
        }
        Mem.recycle(Struct.P, line);
    }

    /** Calls the methods of the JDK's atomics that link a {@code VarHandle}, and that are called under locks or at the end of waits. */
    private static void atomics() {
        AtomicBoolean b = new AtomicBoolean();
        AtomicReference<@Nullable Object> r = new AtomicReference<>();
        boolean _ = b.compareAndSet(false, true) & b.getAndSet(false) & r.compareAndSet(null, b);
        Object o = r.getAndSet(null);
    }

    private static void fields(long pp) {
        INT.set(pp, INT.get(pp));
        INT.setOpaque(pp, INT.getOpaque(pp));
        INT.setRelease(pp, INT.getAcquire(pp));
        INT.setVolatile(pp, INT.getVolatile(pp));
        boolean _ = INT.compareAndSet(pp, 0, 0);
        var _ = INT.weakCompareAndSetRelease(pp, 0, 0);
        int i = INT.getAndAdd(pp, 0) + INT.getAndSet(pp, 0);
        LONG.set(pp, LONG.get(pp));
        LONG.setOpaque(pp, LONG.getOpaque(pp));
        LONG.setRelease(pp, LONG.getAcquire(pp));
        LONG.setVolatile(pp, LONG.getVolatile(pp));
        var _ = LONG.compareAndSet(pp, 0, 0);
        long l = LONG.getAndAdd(pp, 0) + LONG.getAndSet(pp, 0);
    }

    /** Makes each kind of access to words outside of structs. */
    private static void words(long addr) {
        Mem.INT.set(addr, Mem.INT.get(addr));
        int i = Mem.INT.getAndBitwiseOr(addr, 0) + Mem.INT.getAndBitwiseAnd(addr, 0);
        i = Mem.INT.getOpaque(addr) + Mem.INT.getAcquire(addr);
        Mem.INT.setVolatile(addr, Mem.INT.getVolatile(addr));
        boolean _ = Mem.INT.compareAndSet(addr, 0, 0);
        i = Mem.INT.getAndAdd(addr, 0) + Mem.INT.getAndSet(addr, 0);
        Mem.LONG.set(addr, Mem.LONG.get(addr));
    }
}
