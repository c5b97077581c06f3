// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.boot;

import org.gmp4j.ffi.Epoll;
import org.gmp4j.ffi.Futex;
import org.gmp4j.ffi.Membarrier;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.StackSpace;
import org.gmp4j.lock.HeapMutex;
import org.gmp4j.lock.LockRank;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.RuntimeMutex;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.Newm;
import org.gmp4j.sched.Threads;
import org.gmp4j.sched.base.UnfinishedSwitches;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.IntField;
import org.gmp4j.struct.LongField;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;

/**
 * Runs code that the scheduler seldom needs, before the first goroutine, so that the JVM links it. The first use of a class, of a string,
 * or of a {@code VarHandle} at a call site allocates. So does the 128th call of a method handle by code that is not fully compiled. With a
 * full heap such an allocation could fail between any two steps of a protocol.
 *
 * <p>{@code Rehearsal} runs the code that goroutines and Ms need often, on a scheduler of its own. Both run once in a process.
 */
public final class Warm {
    /** Names below {@code org.gmp4j} of classes that an M, sysmon, or a goroutine in the runtime may first need when no memory is left. */
    private static final String[] CLASSES = {"sched.Threads", "sched.Threads$Exit", "sched.Newm", "sched.Shortage",
        "sched.jdk.JdkReady", "sched.jdk.JdkReady$Wakeup", "sched.Syscall", "sched.StopTheWorld", "sched.StopTheWorld$Procs",
        "sched.Inject", "sched.Mcall", "sched.base.Collected", "sched.Preempt", "sched.base.PreemptSignal", "sched.Wakep",
        "sched.Park", "sched.base.Outside", "sched.base.Checkdead", "sched.Newproc", "sched.base.Gcount", "sched.Goexit0",
        "sched.FindRunnable", "sched.base.TraceEvents", "sched.Tracing", "sched.base.Recorder", "sched.base.Recorder$Taken",
        "sched.jdk.NamedPools", "policy.Pacing", "policy.Slice", "policy.Spin", "policy.Steal", "policy.Turns"};

    private static final IntField INT = Struct.P.intField("id");
    private static final LongField LONG = Struct.P.longField("link");
    private static final int GS = 8;

    /** Guarded by the monitor of {@code Rehearsal}, the only caller. */
    private static boolean done;

    private Warm() {
    }

    /** Runs all this code, unless this process has run it. Called by one thread at a time. */
    public static void once() {
        if (done) {
            return;
        }
        long line = Mem.alloc(Struct.P, 1);
        fields(line);
        words(line);
        calls(line);
        for (int i = 0; i <= JdkThreads.CUSTOMIZED_AFTER; i++) { // All calls of C code go through these two handles.
            long _ = Futex.wake(line, 1) + StackSpace.left();
        }
        Mem.recycle(Struct.P, line);
        states();
        locks();
        queues();
        load();
        done = true;
    }

    private static void load() {
        UnfinishedSwitches.rehearse();
        boolean _ = Newm.rehearse();
        for (String name : CLASSES) {
            try {
                Class<?> _ = Class.forName("org.gmp4j." + name);
            } catch (ClassNotFoundException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Makes each kind of access to fields of structs. */
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

    /** Runs the calls of C code, and the reads of what such code has written. */
    private static void calls(long addr) {
        int _ = Futex.await(addr, 1) + Futex.await(addr, 1, 0) + Futex.wake(addr, 1);
        if (Membarrier.isAvailable()) {
            Membarrier.run();
        }
        Threads.trimStack();
        int tid = OsThread.gettid();
        long _ = Epoll.eventsAt(addr, 0) + Epoll.dataAt(addr, 0);
        long l = StackSpace.left() + OsThread.cpuNanos(tid) + OsThread.state(tid);
    }

    private static void states() {
        long gp = Mem.alloc(Struct.G, 1);
        GStatus.casgstatus(gp, GStatus.GIDLE, GStatus.GDEAD);
        GStatus.casgstatus(gp, GStatus.GDEAD, GStatus.GRUNNABLE);
        boolean _ = GStatus.trycasgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE); // Fails on purpose, to run the code of a failure.
        int status = GStatus.readgstatus(gp);
        Mem.recycle(Struct.G, gp);
        long pp = Mem.alloc(Struct.P, 1);
        PStatus.set(pp, PStatus.PIDLE);
        PStatus.setVolatile(pp, PStatus.PSYSCALL);
        var _ = PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PIDLE);
        status = PStatus.get(pp);
        Mem.recycle(Struct.P, pp);
    }

    /** Runs all operations of the queues and idle lists, on structs that belong to no scheduler. */
    private static void queues() {
        long sched = Mem.alloc(Struct.SCHEDT, 1);
        long mine = Mem.alloc(Struct.P, 1);
        long other = Mem.alloc(Struct.P, 1);
        long mp = Mem.alloc(Struct.M, 1);
        long words = P.timersLockAddress(other); // A word that serves as both masks.
        long[] gs = new long[GS];
        for (int i = 0; i < GS; i++) {
            gs[i] = Mem.alloc(Struct.G, 1);
        }
        Schedt.GOMAXPROCS.setOpaque(sched, 1);
        Schedt.IDLEPMASK.setRelease(sched, words);
        Schedt.TIMERPMASK.setRelease(sched, words);
        SchedLock.lock(sched);
        GlobalRunq.globrunqputhead(sched, gs[0]);
        GlobalRunq.globrunqputahead(sched, gs[2]);
        var _ = GlobalRunq.pop(sched);
        GlobalRunq.globrunqput(sched, gs[1]);
        long _ = GlobalRunq.globrunqget(sched, mine);
        GlobalRunq.globrunqput(sched, gs[0]);
        var _ = GlobalRunq.pop(sched);
        GlobalRunq.globrunqputarrived(sched, gs[0]);
        var _ = GlobalRunq.globrunqgetarrived(sched, mine);
        GlobalRunq.globrunqput(sched, gs[0]);
        var _ = GlobalRunq.globrunqturn(sched, mine);
        SchedLock.unlock(sched);
        Runq.runqput(sched, mine, gs[2], false);
        Runq.runqput(sched, mine, gs[3], true);
        boolean empty = Runq.runqempty(mine);
        var _ = Runq.runqsteal(other, mine, false, 0);
        drain(sched, mine);
        drain(sched, other);
        Runq.runqput(sched, mine, gs[0], true);
        var _ = Runq.runqsteal(other, mine, true, 0);
        G.SCHEDLINK.set(gs[0], gs[1]);
        G.SCHEDLINK.set(gs[1], 0);
        Runq.runqputbatch(sched, mine, gs[0], 2);
        for (int i = 0; i < GS; i++) { // If rings are short, this overflows into the global queue.
            Runq.runqput(sched, other, gs[i], i % 2 == 0);
        }
        drain(sched, mine);
        drain(sched, other);
        SchedLock.lock(sched);
        Idle.mput(sched, mp);
        var _ = Idle.mget(sched);
        Idle.mput(sched, mp);
        empty = Idle.mremove(sched, mp);
        Idle.pidleput(sched, mine, 0);
        var _ = Idle.pidlegetSpinning(sched, 0);
        SchedLock.unlock(sched);
        for (long gp : gs) {
            Mem.recycle(Struct.G, gp);
        }
        Mem.recycle(Struct.M, mp);
        Mem.recycle(Struct.P, mine);
        Mem.recycle(Struct.P, other);
        Mem.recycle(Struct.SCHEDT, sched);
    }

    private static void drain(long sched, long pp) {
        while (Runq.runqget(pp) != 0) {
            Thread.onSpinWait();
        }
        SchedLock.lock(sched);
        while (GlobalRunq.pop(sched) != 0) {
            Thread.onSpinWait();
        }
        SchedLock.unlock(sched);
    }

    private static void locks() {
        long pp = Mem.alloc(Struct.P, 1);
        long word = P.timersLockAddress(pp);
        HeapMutex.rehearse();
        RuntimeMutex.rehearse(word);
        boolean _ = RuntimeMutex.tryLock(word, LockRank.SUDOG);
        RuntimeMutex.unlock(word, LockRank.SUDOG);
        var _ = RuntimeMutex.isLocked(word);
        var _ = Note.sleep(word, 1);
        Note.ring(word);
        var _ = Note.woken(word);
        Note.clear(word);
        Note.wakeup(word);
        Note.sleep(word);
        Note.clear(word);
        Idle.maskSet(word, 0);
        Idle.maskClear(word, 0);
        var _ = Idle.maskRead(word, 0);
        Mem.recycle(Struct.P, pp);
    }
}
