package org.gmp4j.proc;

import java.lang.foreign.GroupLayout;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.ffi.gmp.g;
import org.gmp4j.ffi.gmp.m;
import org.gmp4j.ffi.gmp.p;
import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.ffi.gmp.sudog;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.RuntimeMutex;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.queue.Idle;
import org.gmp4j.queue.Runq;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GStatus;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Sudog;

/**
 * Has the JVM link, while there is memory, what the scheduler does seldom. The first use of a {@code VarHandle} at a place, or
 * of a class, takes memory, and a method handle does once more when it was called 127 times by code that is not yet
 * compiled to the end. If the heap is full just then, that may fail between any two steps of a protocol.
 *
 * <p>A thread of its own does it, once a process, when a scheduler has lived for a while: it takes some tenths of a second of
 * CPU time, which a program that soon ends had better save. What an M does with a full heap before that may still fail.
 */
final class Warm {
    /** How old a scheduler is by then. */
    static final long AFTER_NANOS = 10_000_000_000L;
    /** Between two of the few hundred things that it does, not to be in anybody's way. */
    private static final long PAUSE_NANOS = 1_000_000;

    /** What an M, sysmon, or a goroutine inside the runtime, first needs at a bad moment. */
    private static final String[] CLASSES = {"Threads", "Threads$Exit", "Syscall", "StopTheWorld", "StopTheWorld$Procs", "Inject",
        "Mcall", "Preempt", "Wakep", "Park", "Waiting", "Checkdead", "Stderr", "GcWatch", "Newproc", "FindRunnable", "Invariants"};

    private static final int GS = 8;
    private static final long RETRY_NANOS = 1_000_000_000;
    private static final AtomicBoolean STARTED = new AtomicBoolean();

    private Warm() {
    }

    /** From sysmon. */
    static void start() {
        if (STARTED.compareAndSet(false, true)) {
            try {
                Thread t = new Thread(null, Warm::run, "gmp4j-warm", 0, false);
                t.setDaemon(true);
                t.start();
            } catch (OutOfMemoryError e) {
                STARTED.set(false); // Sysmon comes again.
                throw e;
            }
        }
    }

    private static void run() {
        for (;;) {
            try {
                up(PAUSE_NANOS);
                return;
            } catch (OutOfMemoryError e) {
                LockSupport.parkNanos(RETRY_NANOS); // For the rest; what is done is done.
            }
        }
    }

    static void up(long pause) {
        JdkThreads.warm();
        accessors(G.class, g.layout(), pause);
        accessors(M.class, m.layout(), pause);
        accessors(P.class, p.layout(), pause);
        accessors(Schedt.class, schedt.layout(), pause);
        accessors(Sudog.class, sudog.layout(), pause);
        for (int i = 0; i <= JdkThreads.CUSTOMIZED_AFTER; i++) {
            states();
            locks();
            queues();
        }
        for (String name : CLASSES) {
            try {
                Class<?> unused = Class.forName("org.gmp4j.proc." + name);
            } catch (ClassNotFoundException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Calls all that read and write the fields of a struct, on one of that kind. */
    private static void accessors(Class<?> of, GroupLayout layout, long pause) {
        long struct = Mem.alloc(layout, 1);
        for (Method a : of.getDeclaredMethods()) {
            Object[] args = Modifier.isPublic(a.getModifiers()) ? arguments(a.getParameterTypes(), struct) : null;
            if (args != null) {
                LockSupport.parkNanos(pause);
                try {
                    for (int i = 0; i <= JdkThreads.CUSTOMIZED_AFTER; i++) {
                        Object unused = a.invoke(null, args);
                    }
                } catch (IllegalAccessException e) {
                    throw new AssertionError(e);
                } catch (InvocationTargetException e) {
                    if (e.getCause() instanceof OutOfMemoryError noMemory) {
                        throw noMemory;
                    }
                    throw new AssertionError(e);
                }
            }
        }
        Mem.recycle(layout, struct);
    }

    /** The struct, and zeros; null for a method that takes anything else. */
    private static Object[] arguments(Class<?>[] types, long struct) {
        if (types.length == 0 || types[0] != long.class) {
            return null;
        }
        Object[] args = new Object[types.length];
        args[0] = struct;
        for (int i = 1; i < types.length; i++) {
            if (types[i] == long.class) {
                args[i] = 0L;
            } else if (types[i] == int.class) {
                args[i] = 0;
            } else {
                return null;
            }
        }
        return args;
    }

    private static void states() {
        long gp = Mem.alloc(g.layout(), 1); // Of which there is one after the first time.
        GStatus.casgstatus(gp, GStatus.GIDLE, GStatus.GDEAD);
        GStatus.casgstatus(gp, GStatus.GDEAD, GStatus.GRUNNABLE);
        boolean unused = GStatus.trycasgstatus(gp, GStatus.GWAITING, GStatus.GRUNNABLE); // Fails, and looks why.
        int status = GStatus.readgstatus(gp);
        Mem.recycle(g.layout(), gp);
        long pp = Mem.alloc(p.layout(), 1);
        PStatus.set(pp, PStatus.PIDLE);
        PStatus.setVolatile(pp, PStatus.PSYSCALL);
        unused = PStatus.cas(pp, PStatus.PSYSCALL, PStatus.PIDLE);
        status = PStatus.get(pp);
        Mem.recycle(p.layout(), pp);
    }

    /** Everything that the queues and idle lists do, on structs of nobody's. */
    private static void queues() {
        long sched = Mem.alloc(schedt.layout(), 1);
        long mine = Mem.alloc(p.layout(), 1);
        long other = Mem.alloc(p.layout(), 1);
        long mp = Mem.alloc(m.layout(), 1);
        long words = P.timersLockAddress(other); // A word of each mask.
        long[] gs = new long[GS];
        for (int i = 0; i < GS; i++) {
            gs[i] = Mem.alloc(g.layout(), 1);
        }
        Schedt.setGomaxprocsOpaque(sched, 1);
        Schedt.setIdlepMaskRelease(sched, words);
        Schedt.setTimerpMaskRelease(sched, words);
        GlobalRunq.lock(sched);
        GlobalRunq.globrunqputhead(sched, gs[0]);
        GlobalRunq.globrunqput(sched, gs[1]);
        long unused = GlobalRunq.globrunqget(sched, mine, 0);
        GlobalRunq.globrunqput(sched, gs[0]);
        unused = GlobalRunq.pop(sched);
        GlobalRunq.unlock(sched);
        Runq.runqput(sched, mine, gs[2], false);
        Runq.runqputAndFence(sched, mine, gs[3], true);
        boolean empty = Runq.runqempty(mine);
        unused = Runq.runqsteal(other, mine, false, 0);
        drain(sched, mine);
        drain(sched, other);
        Runq.runqputAndFence(sched, mine, gs[0], true);
        unused = Runq.runqsteal(other, mine, true, 0);
        G.setSchedlink(gs[0], gs[1]);
        G.setSchedlink(gs[1], 0);
        Runq.runqputbatch(sched, mine, gs[0], 2);
        for (int i = 0; i < GS; i++) { // Where rings are short this runs over, to the global queue.
            Runq.runqput(sched, other, gs[i], i % 2 == 0);
        }
        drain(sched, mine);
        drain(sched, other);
        GlobalRunq.lock(sched);
        Idle.mput(sched, mp);
        unused = Idle.mget(sched);
        Idle.mput(sched, mp);
        empty = Idle.mremove(sched, mp);
        Idle.pidleput(sched, mine, 0);
        unused = Idle.pidlegetSpinning(sched, 0);
        GlobalRunq.unlock(sched);
        for (long gp : gs) {
            Mem.recycle(g.layout(), gp);
        }
        Mem.recycle(m.layout(), mp);
        Mem.recycle(p.layout(), mine);
        Mem.recycle(p.layout(), other);
        Mem.recycle(schedt.layout(), sched);
    }

    private static void drain(long sched, long pp) {
        while (Runq.runqget(pp) != 0) {
            Thread.onSpinWait();
        }
        GlobalRunq.lock(sched);
        while (GlobalRunq.pop(sched) != 0) {
            Thread.onSpinWait();
        }
        GlobalRunq.unlock(sched);
    }

    private static void locks() {
        long pp = Mem.alloc(p.layout(), 1);
        long word = P.timersLockAddress(pp);
        boolean unused = RuntimeMutex.tryLock(word, org.gmp4j.lock.LockRank.SUDOG);
        RuntimeMutex.unlock(word, org.gmp4j.lock.LockRank.SUDOG);
        unused = RuntimeMutex.isLocked(word);
        unused = Note.sleep(word, 1);
        Note.ring(word);
        unused = Note.woken(word);
        Note.clear(word);
        Note.wakeup(word);
        Note.sleep(word);
        Note.clear(word);
        Idle.maskSet(word, 0);
        Idle.maskClear(word, 0);
        unused = Idle.maskRead(word, 0);
        Mem.recycle(p.layout(), pp);
    }
}
