// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.jdk;

import java.lang.invoke.MethodHandles;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.gmp4j.config.Config;
import org.gmp4j.queue.Runq;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Machine;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.stack.HiddenExecutor;
import org.gmp4j.stack.JdkScheduler;
import org.gmp4j.stack.JdkState;
import org.gmp4j.stack.JdkThreads;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Schedt;

/**
 * The pool that takes the place of the JDK's scheduler of virtual threads. A thread becomes a goroutine when it is started, like a thread
 * that a goroutine starts ({@link GStack#execute}). Then a {@link GStack} of its own replaces the pool in the thread's field {@code
 * scheduler}. So the JDK calls the pool once for each thread. It is a {@link ForkJoinPool} because that is the type of the JDK's field. The
 * pool itself has no thread. It answers the queries of the JDK's tools ({@code VirtualThreadSchedulerMXBean}, {@code jcmd PID
 * Thread.vthread_scheduler}) with the numbers of its {@link Scheduler}: Ps, Ms and goroutines.
 *
 * <p>A thread may belong to this pool and yet begin on the JDK's pool. This happens when a platform thread makes the thread after this pool
 * has taken the JDK's place, and a virtual thread that still runs on the JDK's pool starts it. The JDK then puts the thread into the queues
 * of its own pool ({@code VirtualThread.externalSubmitRunContinuationOrThrow}). When the thread next becomes runnable, the JDK calls this
 * pool, which leaves the thread to the JDK's pool.
 */
public abstract class DefaultPool extends ForkJoinPool {
    /** The scheduler of the pool that is being made. */
    @SuppressWarnings("NullAway.Init")
    private static Scheduler scheduler;
    /** The pool. Written by the initialiser of the hidden subclass: see {@link #become}. */
    @SuppressWarnings("NullAway.Init")
    static DefaultPool made;

    private final Scheduler s;
    /**
     * The pool starts each virtual thread through this stack, as a goroutine starts threads through its own stack. The thread of this stack
     * is never started.
     */
    private final GStack starter;

    /** Makes the pool, as an instance of the hidden subclass: see {@link #become}. */
    DefaultPool() {
        super(1);
        s = scheduler;
        starter = Stacks.ofTask(s, () -> { });
        s.collected.rehearse(starter);
        JdkThreads.rehearseThreadOf(starter.thread);
        JdkThreads.rehearseAdapted();
    }

    /**
     * Makes {@code s}, which must never close, the default scheduler of virtual threads.
     *
     * @throws IllegalStateException when that is not possible; its message is one sentence
     */
    public static void become(Scheduler s) {
        s.inPlaceOfJdk = true;
        scheduler = s;
        new HiddenExecutor(DefaultPool.class).override("submit", "submittedAdapted", ForkJoinTask.class, ForkJoinTask.class)
                .define(MethodHandles.lookup());
        JdkScheduler.replace(made);
    }

    /** Does the work of {@code execute}. */
    final void submitted(Runnable given) {
        Runnable task = JdkThreads.unwrapped(given);
        Thread vt = JdkThreads.threadOf(task);
        if (vt != null && !JdkState.isNew(vt)) {
            JdkThreads.leaveToJdk(vt, task);
        } else {
            starter.execute(task);
        }
    }

    /** Does the work of {@code submit}, which the JDK calls from version 26 on to give a thread to a pool. */
    final ForkJoinTask<?> submittedAdapted(ForkJoinTask<?> wrapper) {
        Runnable task = JdkThreads.adapted(wrapper);
        if (task == null) {
            throw new IllegalArgumentException(wrapper + " is no virtual thread's");
        }
        submitted(task);
        return wrapper;
    }

    /** Schedules the timer of a wait, for a thread that began on the JDK's scheduler. */
    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        return ((ForkJoinPool) JdkThreads.jdkScheduler()).schedule(task, delay, unit); // JdkScheduler.replace has checked the type.
    }

    /** Returns the number of Ps. */
    @Override
    public int getParallelism() {
        return s.gomaxprocs();
    }

    /** Sets the number of Ps, and returns the old one: {@code GOMAXPROCS(n)}. */
    @Override
    public int setParallelism(int n) {
        if (n < 1 || n > Config.MOST_PROCS) {
            throw new IllegalArgumentException("parallelism is " + n + ": use 1 to " + Config.MOST_PROCS);
        }
        return StopTheWorld.setProcs(s, n);
    }

    /** Returns the number of Ms. */
    @Override
    public int getPoolSize() {
        return s.mcount();
    }

    /** Returns the number of Ms that run a goroutine. */
    @Override
    public int getActiveThreadCount() {
        int n = 0;
        for (Machine m : s.machines()) {
            n += M.CURG.getOpaque(m.mp) == 0 ? 0 : 1;
        }
        return n;
    }

    /** Returns the number of goroutines in the queues of Ps. */
    @Override
    public long getQueuedTaskCount() {
        long n = 0;
        for (Processor pr : s.procs()) {
            n += Runq.size(pr.pp) + (Runq.runnext(pr.pp) == 0 ? 0 : 1);
        }
        return n;
    }

    /** Returns the number of goroutines in the global queue. */
    @Override
    public int getQueuedSubmissionCount() {
        return Schedt.RUNQSIZE.getOpaque(s.sched);
    }

    @Override
    public String toString() {
        return "gmp4j " + s.name + "[procs = " + getParallelism() + ", threads = " + getPoolSize() + ", running = "
                + getActiveThreadCount() + ", queued = " + getQueuedTaskCount() + ", submitted = " + getQueuedSubmissionCount()
                + ", goroutines = " + s.gcount() + "]";
    }
}
