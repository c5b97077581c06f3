// SPDX-License-Identifier: Apache-2.0
package org.gmp4j;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.gmp4j.affinity.Affinity;
import org.gmp4j.affinity.StealOrder;
import org.gmp4j.boot.Support;
import org.gmp4j.config.Procs;
import org.gmp4j.management.Closer;
import org.gmp4j.metrics.CpuProfiler;
import org.gmp4j.metrics.Dashboard;
import org.gmp4j.metrics.GoroutineProfile;
import org.gmp4j.metrics.LeakCheck;
import org.gmp4j.metrics.Metrics;
import org.gmp4j.metrics.MetricsServer;
import org.gmp4j.metrics.Profile;
import org.gmp4j.report.Traceback;
import org.gmp4j.sched.GStack;
import org.gmp4j.sched.Newproc;
import org.gmp4j.sched.StopTheWorld;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.jdk.TaskExecutor;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.Limits;
import org.gmp4j.wait.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler: it runs goroutines (Gs) on threads (Ms) that hold processors (Ps). Several schedulers may live in one JVM. A goroutine
 * stays with its scheduler. Thread-safe.
 *
 * <p>Any thread may call all methods: goroutines, virtual threads and platform threads. {@link #main}, {@link #call} and the methods named
 * {@code run…} wait for the goroutine that they start. {@link #close} waits for all goroutines. {@link #setProcs} waits until the world has
 * stopped. An interrupt ends only the waits of {@code close} and {@link #runInterruptibly}. The other methods continue to wait, and set the
 * interrupt status before they return. If they returned early, the goroutine would go on unnoticed. A caller whose wait may end early uses
 * {@code runInterruptibly}, {@link #runUnless}, {@link #runWithin}, or {@link #submit} and a wait for the task. A goroutine that these
 * methods start in a bubble of {@code Synctest} does not belong to the bubble. A wait for it holds the bubble's clock.
 *
 * <p>Source: the G-M-P scheduler of Go's runtime. {@code ARCHITECTURE.md} and {@code HACKING.md} describe the differences on the JVM.
 */
public final class Gmp implements Executor, AutoCloseable {
    private static final long LEAST_INTERVAL = 100_000;

    final Scheduler s;
    private final Closer closer;

    Gmp(Scheduler s, Closer closer) {
        this.s = s;
        this.closer = closer;
        s.setOwner(this);
    }

    /**
     * Runs a program (program mode): starts {@code main} as goroutine 1 and returns when that returns. Other goroutines may still be parked
     * or running by then, and do not keep the process alive. An uncaught exception in any goroutine, a deadlock, or a misuse that is fatal
     * in Go ends the process with Go's text on stderr and exit code 2. If a virtual thread with an identity ({@link #threadFactory}) has an
     * {@link Thread.UncaughtExceptionHandler}, or the process has a default one, that handler gets the thread's exception, and the program
     * goes on. A bad value of GMPMAXPROCS or GMPDEBUG ends the process with one sentence on stderr and exit code 2.
     * <p>A deadlock means that all goroutines sleep and nothing else could wake one: see {@link DeadlockDetection#ON}. {@code
     * GMPDEBUG=deadlock=show} prints what delays the report. {@code deadlock=strict} ignores other threads.
     * <p>Any thread may call it, repeatedly. An interrupt does not end the wait, and in a bubble the wait holds the clock.
     *
     * @throws IllegalStateException when this JVM cannot run goroutines; the message is one sentence that says what to do
     */
    public static void main(Runnable main) {
        Objects.requireNonNull(main, "go of nil func value");
        Program.main(main);
    }

    /**
     * Makes a default scheduler: from now on each new virtual thread of the JVM is one of its goroutines, unless its creator chose another
     * scheduler. This includes the threads of {@code Thread.ofVirtual}, {@code Executors.newVirtualThreadPerTaskExecutor} and {@code
     * StructuredTaskScope}, also in servers and drivers. The option {@code default} of the agent and the property {@code gmp.default=on} do
     * the same without code. The threads keep their identity, and the JDK prints their uncaught exceptions as before. {@link Go}, {@link
     * Chan} and the other classes work in them. Threads that a goroutine of another {@code Gmp} starts belong to that {@code Gmp}.
     *
     * <p>A setting comes from a property or, where the property is not set, from a variable, such as {@code gmp.default.procs} and {@code
     * GMP_DEFAULT_PROCS}. The settings are {@code procs}, {@code spin} (as {@link SpinPolicy#parse} reads it), {@code quantum} ({@code
     * 500us}, {@code 10ms}), {@code affinity} ({@link Affinity#parse}), {@code steal} ({@link StealOrder#parse}), {@code realtime} (a
     * priority), {@code hugepages} and {@code nodequeues} ({@code on}, {@code off}), {@code stalled} ({@code on}, {@code off}, or the least
     * time between two stalls that are printed, such as {@code 100ms}), {@code debug} (as GMPDEBUG), {@code compilers} (whether C2 gives
     * way to the starting program: {@code auto}, {@code yield}, {@code equal}), and {@code pools} (schedulers for virtual threads with
     * certain names, such as {@code batch:match=batch-*:procs=1}).
     *
     * <p>Virtual threads that exist before the call stay on the JDK's scheduler, and so do the virtual threads that they start. After some
     * hundreds of starts HotSpot compiles the code that starts virtual threads, with the JDK's scheduler as a constant. A call after that
     * may leave new virtual threads on the JDK's scheduler as well. So call this first in {@code main}, or use the agent, which runs before
     * {@code main}. The {@code VirtualThreadSchedulerMXBean} shows this scheduler, unless the bean was used before the call. The JDK's
     * socket pollers, which serve all schedulers, stay on the JDK's scheduler.
     *
     * <p>The scheduler lives as long as the JVM, and its {@link #close} throws. Its threads are daemons. Thread-safe. Idempotent.
     *
     * @return the default scheduler
     * @throws IllegalArgumentException when a setting is bad; the message names it
     * @throws IllegalStateException when this JVM cannot run goroutines, or another library has replaced the JDK's scheduler by its own;
     *     the message is one sentence
     */
    public static Gmp makeDefault() {
        return DefaultGmp.make(true);
    }

    /** Returns whether goroutines can run in this JVM. Thread-safe. */
    public static boolean isSupported() {
        return unsupported() == null;
    }

    /** Returns in one sentence why goroutines cannot run in this JVM, or null when they can. Thread-safe. */
    public static @Nullable String unsupported() {
        return Support.problem();
    }

    /**
     * Returns a builder for embedded mode, with the defaults that its methods describe. If the property {@code gmp.default} or the variable
     * {@code GMP_DEFAULT} is {@code on}, the first call also does {@link #makeDefault}, unless the agent has.
     *
     * @throws IllegalArgumentException when a setting of the default scheduler is bad; the message names it
     */
    public static Builder builder() {
        DefaultGmp.makeIfWanted();
        return new Settings();
    }

    /**
     * A stall: a goroutine kept its P while other goroutines waited for that P. The goroutine blocked its thread, or exceeded its quantum
     * and reached no preemption point.
     *
     * @param goid the id of the goroutine
     * @param running true if the goroutine was running, false if its thread slept in the kernel
     * @param stack the goroutine's stack, innermost frame first
     */
    public record Stall(long goid, boolean running, List<StackTraceElement> stack) {
    }

    /** Settings of a {@link Gmp}. Not thread-safe. {@link #build} refuses bad values. */
    public interface Builder {
        /**
         * Sets the number of Ps, 1 to 4096. At most that many goroutines run at a time, not counting goroutines that block their threads or
         * lost their P while they ran. Default: the variable GMPMAXPROCS, or the number of CPUs that the affinity mask and the cgroup
         * limits leave to this process. The second default follows changes of mask and limits until {@link Gmp#setProcs} is called.
         */
        Builder procs(int n);

        /**
         * Sets the CPUs on which the threads run. Default {@link Affinity#none()}. Threads that native code creates inherit the CPUs of
         * their creator; threads and processes that a goroutine starts in Java do not.
         */
        Builder affinity(Affinity a);

        /**
         * Sets the order in which a thread without work steals from other Ps. Default {@link StealOrder#UNIFORM}; {@link
         * StealOrder#NEAREST} needs an affinity other than {@link Affinity#none()}.
         */
        Builder steal(StealOrder order);

        /**
         * Sets whether the global queue also has a list for each NUMA node, for goroutines whose slice has ended or for which a P's own
         * queue has no room. The Ps of a node take from its list first. Other Ps take from it now and then, and when they have no other
         * work. Default false. Needs an affinity other than {@link Affinity#none()}. On a machine with one node it changes nothing.
         */
        Builder nodeQueues(boolean on);

        /**
         * Sets the name of the scheduler, which is part of the names of its threads, of reports and of thread dumps. It must not be blank.
         * If several schedulers have the same name, a number is appended to it in metrics, JMX and names of trace files. Default {@code
         * gmp} and a number. For the names of its virtual threads see {@link Gmp#threadFactory(String)}.
         */
        Builder name(String name);

        /**
         * Makes the scheduler's threads run under the kernel's real-time policy {@code SCHED_FIFO}. While goroutines run, threads of the
         * usual policy get no time on the same CPUs, not even the threads of the JIT and the collector. So leave CPUs to those threads by
         * {@link Affinity#reserve}. Default 0: the usual policy. If the process may not use the real-time policy (no {@code CAP_SYS_NICE},
         * a small {@code ulimit -r}), a line on stderr says so, and the usual policy stays. Threads and processes that goroutines start do
         * not inherit the real-time policy. The thread that watches the scheduler has the next higher priority.
         *
         * @param priority 1 to 98, a higher one has precedence; 0 for none
         */
        Builder realtime(int priority);

        /**
         * Sets whether the memory of goroutines and the other structs of the scheduler uses huge pages ({@code MADV_HUGEPAGE}). That pays
         * off with millions of goroutines. Default false. All schedulers share this memory, so true holds for the whole process from then
         * on.
         */
        Builder hugePages(boolean on);

        /** Sets what a thread without work does before it sleeps. Default {@link SpinPolicy#go()}. */
        Builder spin(SpinPolicy p);

        /** Sets how much CPU time a goroutine may use before it must yield to waiting goroutines, 200 µs to 1 minute. Default 10 ms. */
        Builder quantum(Duration d);

        /**
         * Sets a quantum that is shorter the more goroutines wait: when n goroutines wait for a P, the running one must yield after {@code
         * most / n}, but not before {@code least}. So while at most {@code most / least} goroutines wait, each gets to run within about
         * {@code most}, with as few switches as possible. Both times are from 200 µs to 1 minute.
         */
        Builder quantum(Duration least, Duration most);

        /**
         * Sets the greatest number of threads, at least 1. Default 10,000. When all of them are blocked, or the system refuses another
         * thread, ready goroutines wait until a thread is no longer blocked, and a line on stderr says so, once a minute at most. (In
         * program mode both cases end the process with Go's text.)
         */
        Builder maxThreads(int n);

        /**
         * Sets how long an unused thread sleeps before it ends, 1 ms to 1000 days. Default 10 s. As many threads as there are Ps stay for
         * ever, and so do threads with a locked goroutine. (Go keeps all threads that it ever made.)
         */
        Builder idleThreads(Duration keep);

        /**
         * Sets the greatest size of a goroutine's stack in bytes, at least 64 KiB. A goroutine that needs more gets a StackOverflowError
         * when its thread's stack is full, or, if waits have moved frames to the heap, at a call of the runtime. Default 8 MiB, some 80,000
         * calls; Go's is 1 GB. Each thread of the scheduler reserves that much address space and a quarter of a MiB more. Only the parts
         * that a stack has reached use memory, which is released when the thread sleeps. (With {@code mlockall} no memory is released: the
         * whole stack is resident, or, with {@code MCL_ONFAULT}, the parts that it has reached.)
         */
        Builder maxStack(long bytes);

        /**
         * Sets the handler (goid, exception) of exceptions that end a goroutine. It runs on the goroutine's stack, after the deferred work.
         * Default: Go's text on stderr. In a virtual thread with an identity ({@link Gmp#threadFactory}) the thread's own {@link
         * Thread.UncaughtExceptionHandler} takes precedence, then the process's default one, as for any thread. The handler set here is
         * called if neither exists. If it throws, a line on stderr says so.
         */
        Builder uncaught(BiConsumer<Long, Throwable> handler);

        /**
         * Sets the callback for {@linkplain Stall stalls}, which is called at most once a second, or as often as {@code
         * GMPDEBUG=stall=MILLIS} allows. It runs on the thread that watches the scheduler, must be quick, and cannot call
         * {@link Gmp#close} of this scheduler. A callback that throws is not called again.
         */
        Builder stalled(Consumer<Stall> told);

        /** Calls {@link #deadlockDetection(DeadlockDetection)} with {@code ON} or {@code OFF}. */
        Builder deadlockDetection(boolean on);

        /**
         * Sets whether the process ends, with Go's text on stderr, when all goroutines are asleep and nothing outside can wake one. Default
         * {@code OFF}. In {@linkplain Gmp#main program mode} it is {@code ON}, or {@code STRICT} with {@code GMPDEBUG=deadlock=strict}.
         */
        Builder deadlockDetection(DeadlockDetection rule);

        /**
         * Sets debug settings, such as {@code schedtrace=1000,scheddetail=1}. Default: the property {@code gmp.debug}, or the variable
         * GMPDEBUG. {@code runtime/SEEING.md} has all keys.
         */
        Builder debug(String gmpdebug);

        /**
         * Serves the {@link Metrics} of all schedulers of this process by HTTP, for Prometheus, while this scheduler lives: see {@link
         * MetricsServer}. Default: the port that {@code metrics=PORT} of {@link #debug} sets, or no server. Schedulers of this process that
         * name the same address share one server.
         *
         * @param address a loopback address, {@code new InetSocketAddress(InetAddress.getLoopbackAddress(), 9464)}, unless other machines
         *     are to read the metrics
         */
        Builder metrics(InetSocketAddress address);

        /**
         * Serves a live page on all schedulers of this process for a browser, while this scheduler lives: see {@link Dashboard}. A line on
         * stderr has its address. The server listens on the loopback address only. It needs the module {@code jdk.httpserver}, and no other
         * jar. Default: the port that {@code dashboard=PORT} of {@link #debug} or the property {@code gmp.dashboard=PORT} sets, or no page.
         * Schedulers of this process that name the same port share one page.
         *
         * @param port 0 to 65535; 0 takes a free port
         */
        Builder dashboard(int port);

        /**
         * Starts the scheduler.
         *
         * @throws IllegalArgumentException when a setting is bad; the message names it
         * @throws IllegalStateException when this JVM cannot run goroutines; the message is one sentence that says what to do
         */
        Gmp build();
    }

    /**
     * Starts a goroutine, from any thread. The caller's earlier actions happen before {@code fn} runs.
     *
     * @throws NullPointerException "go of nil func value"
     * @throws IllegalStateException after {@link #close}
     */
    public void go(Runnable fn) {
        Newproc.newproc(s, Objects.requireNonNull(fn, "go of nil func value"));
    }

    /**
     * Starts a goroutine as {@link #go} does, for use as an {@link Executor}: {@code CompletableFuture.supplyAsync(f, gmp)}.
     *
     * @throws NullPointerException "go of nil func value"
     * @throws RejectedExecutionException after {@link #close}
     */
    @Override
    public void execute(Runnable fn) {
        try {
            go(fn);
        } catch (IllegalStateException closed) {
            throw new RejectedExecutionException(closed.getMessage(), closed);
        }
    }

    /**
     * Starts a goroutine with a result, from any thread.
     *
     * @throws NullPointerException "go of nil func value"
     * @throws IllegalStateException after {@link #close}
     */
    public <T> Task<T> submit(Callable<T> fn) {
        Task<T> t = new Task<>();
        go(t.running(Objects.requireNonNull(fn, "go of nil func value")));
        return t;
    }

    /**
     * Runs {@code fn} as a goroutine, waits until it and its deferred work have ended, and rethrows its exception. Returns normally when
     * {@code fn} called {@link Go#goexit}.
     *
     * <p>Any thread may wait. An interrupt does not end the wait, and only sets the interrupt status. In a bubble the wait holds the clock.
     *
     * @throws IllegalStateException after {@link #close}
     */
    public void run(Runnable fn) {
        Void _ = outcome(new Outcome<>(new Program.Body(Objects.requireNonNull(fn, "go of nil func value"))));
    }

    /**
     * Runs {@code fn} as {@link #run} does, and returns its result, or null when {@code fn} called {@link Go#goexit}. For a wait that may
     * end early use {@link #submit} and {@link Task#get() get}, {@code get(time)} or {@link Task#joinUnless joinUnless}.
     *
     * <p>For threads, interrupts and bubbles see {@link #run}.
     *
     * @throws Exception the exception of {@code fn}
     * @throws IllegalStateException after {@link #close}
     */
    public <T> @Nullable T call(Callable<T> fn) throws Exception {
        return outcome(new Outcome<>(Objects.requireNonNull(fn, "go of nil func value")));
    }

    /**
     * Like {@link #run}, this runs {@code fn} and waits, but an interrupt of the calling thread ends the wait. The goroutine is then
     * cancelled, as by {@link Task#cancel()}, and goes on until it ends by itself.
     *
     * @throws InterruptedException when the caller was interrupted before or while it waits; the interrupt status is cleared
     * @throws IllegalStateException after {@link #close}
     */
    public void runInterruptibly(Runnable fn) throws InterruptedException {
        runUntil(Limits.INTERRUPTIBLY, fn);
    }

    /**
     * Like {@link #run}, this runs {@code fn} and waits, but a cancel of {@code ctx} ends the wait, and cancels the goroutine as
     * {@link #runInterruptibly} does.
     *
     * @throws RuntimeException {@code ctx.err()} when {@code ctx} is cancelled before or while this waits
     * @throws IllegalStateException after {@link #close}
     */
    public void runUnless(Cancelable ctx, Runnable fn) {
        runUntil(Limits.until(ctx).uninterruptibly(), fn);
    }

    private void runUntil(Limits l, Runnable fn) {
        l.check();
        Task<Void> t = start(fn);
        boolean _ = t.waitOrCancel(l);
        Void _ = t.rethrown();
    }

    /**
     * Like {@link #run}, this runs {@code fn} and waits, but after {@code d} it ends the wait, and cancels the goroutine as
     * {@link #runInterruptibly} does.
     *
     * @return false when the time was up
     * @throws IllegalStateException after {@link #close}
     */
    public boolean runWithin(Runnable fn, Duration d) {
        Limits limits = Limits.within(d).uninterruptibly();
        Task<Void> t = start(fn);
        boolean done = t.waitOrCancel(limits);
        Void _ = done ? t.rethrown() : null;
        return done;
    }

    private Task<Void> start(Runnable fn) {
        GStack.checkAll(); // After the start a stack overflow would end the wait, and the goroutine would go on.
        return submit(new Program.Body(Objects.requireNonNull(fn, "go of nil func value")));
    }

    private <T> @Nullable T outcome(Outcome<T> o) {
        GStack.checkAll(); // After the start a stack overflow would end the wait, and the goroutine would go on.
        Newproc.newproc(s, o);
        return o.get();
    }

    /**
     * Returns a factory of virtual threads with an identity of their own, which this scheduler runs. The threads are also goroutines:
     * {@code Go} and {@code Chan} work in them, {@link #numGoroutine} counts them, {@link #close} waits for them. A start after close
     * throws {@link RejectedExecutionException}.
     *
     * <p>The threads end as goroutines do, and so do virtual threads that a goroutine starts by {@code Thread.ofVirtual} and the like.
     * First the thread runs its deferred work, then it reports an exception ({@link Builder#uncaught}), and only then a join of it returns.
     * {@link Go#goexit} counts as no exception. But code that catches each {@code Throwable} of a task, such as {@code FutureTask} and
     * {@code StructuredTaskScope}, treats a goexit as the task's exception, and reports a task's outcome before its deferred work runs.
     * {@link #newThreadPerTaskExecutor} avoids both problems.
     *
     * <p>An interrupt ends a wait in the JDK as on any thread. It ends a wait in this library by a {@link WaitInterruptedException}, but
     * does not end a wait for a lock.
     */
    public ThreadFactory threadFactory() {
        return new Program.Threads(s, null, null);
    }

    /** Returns a factory like {@link #threadFactory()} that also names its threads: {@code prefix} and a number that begins with 0. */
    public ThreadFactory threadFactory(String prefix) {
        Objects.requireNonNull(prefix, "prefix");
        return new Program.Threads(s, prefix, new AtomicLong());
    }

    /**
     * Returns an executor that runs each task in a new thread of {@link #threadFactory}. Deferred work is part of its task. So a future is
     * done, and a closed executor is terminated, only after that work. An exception of deferred work is the task's exception. The result of
     * a task that called {@link Go#goexit} is null.
     */
    public ExecutorService newThreadPerTaskExecutor() {
        return new TaskExecutor(threadFactory());
    }

    /** Returns the name of the scheduler: see {@link Builder#name}. */
    public String name() {
        return s.name();
    }

    /** Returns the number of Ps. */
    public int procs() {
        return s.gomaxprocs();
    }

    /**
     * Changes the number of Ps. This stops the world.
     *
     * @param n 1 to 4096
     * @return the old number
     * @throws IllegalArgumentException when {@code n} is out of range
     */
    public int setProcs(int n) {
        return StopTheWorld.setProcs(s, Procs.check(n));
    }

    /** Returns the number of live goroutines. */
    public int numGoroutine() {
        return s.gcount();
    }

    /** Returns the scheduler's metrics. Reading them stops no goroutine. */
    public Metrics metrics() {
        return new Metrics(s);
    }

    /** Returns a profile of all goroutines: their states and stacks, and the number of goroutines with each. */
    public GoroutineProfile goroutines() {
        GStack.checkAll(); // An overflow while the JDK reads a goroutine's stack could leave that goroutine suspended.
        return new GoroutineProfile(s, false);
    }

    /**
     * Turns on the profile of the waits of goroutines for channels, selects, locks, groups and conditions. It records each wait of at least
     * {@code rate}. It records a sample of the shorter waits, each with a probability in proportion to its duration, and weights this
     * sample so that it stands for all shorter waits. Zero, the default, turns the profile off; recorded waits stay. While it is on, each
     * wait reads the clock twice, and a recorded wait also reads the goroutine's stack, which takes some µs. Waits in the JDK are not
     * recorded; {@code gmp profile PID --kind block} shows them. This is Go's {@code SetBlockProfileRate}.
     *
     * @throws IllegalArgumentException when {@code rate} is negative
     */
    public void setBlockProfileRate(Duration rate) {
        s.blockProfile.setRate(RuntimeTimer.nanos(rate), "the rate of the block profile is " + rate);
    }

    /** Returns where goroutines waited while {@link #setBlockProfileRate} was on, and for how long. */
    public Profile blockProfile() {
        return new Profile("block", s.blockProfile);
    }

    /**
     * Turns on the profile of contended locks. It records, on average, one in {@code oneIn} unlocks of a {@code Mutex} or {@code RWMutex}
     * of {@code org.gmp4j.sync} for which a goroutine waited. 0, the default, turns it off; recorded unlocks stay. This is Go's {@code
     * SetMutexProfileFraction}.
     *
     * @throws IllegalArgumentException when {@code oneIn} is negative
     */
    public void setMutexProfileFraction(int oneIn) {
        s.mutexProfile.setRate(oneIn, "the fraction of the mutex profile is one in " + oneIn);
    }

    /** Returns the places of unlocks while {@link #setMutexProfileFraction} was on, and how long the woken goroutines had waited. */
    public Profile mutexProfile() {
        return new Profile("mutex", s.mutexProfile);
    }

    /**
     * Starts a CPU profile. At each interval, until it is stopped, it records the running goroutines with their stacks and {@link
     * org.gmp4j.metrics.Labels}. Several profiles may run at a time. {@link CpuProfiler} explains how to use it.
     *
     * @param interval the time between two samples; Go's is 10 ms. A sample costs some 50 µs for each P
     * @throws IllegalArgumentException when {@code interval} is shorter than 0.1 ms
     */
    public CpuProfiler startCpuProfile(Duration interval) {
        long nanos = RuntimeTimer.nanos(interval);
        if (nanos < LEAST_INTERVAL) {
            throw new IllegalArgumentException("the interval of a CPU profile is " + interval + ": use 0.1 ms or more");
        }
        return new CpuProfiler(s, nanos);
    }

    /**
     * Returns a profile of leaked goroutines: Go's {@code goroutineleak} profile. Leaked goroutines wait for ever, because no live object
     * reaches the object that they wait for. The profile may lack some leaked goroutines and, in two cases, have one that is not leaked;
     * SEEING.md lists these cases. This call stops all goroutines for a full collection of the heap, {@code System.gc()}.
     *
     * <p>The collection may clear weak references to objects that only leaked goroutines reach, and run the finalizers of such objects, as
     * if those goroutines had ended. The goroutines stay.
     *
     * @throws IllegalStateException after {@link #close}, or when this JVM cannot find leaks, because {@code System.gc()} does nothing or
     *     the collector is ZGC or Shenandoah
     */
    public GoroutineProfile leaks() {
        return new GoroutineProfile(s, true);
    }

    /**
     * Checks that there are no {@link #leaks()}.
     *
     * @throws AssertionError with the states and stacks of leaked goroutines if there are any
     * @throws IllegalStateException as {@link #leaks()}
     */
    public void assertNoLeaks() {
        GoroutineProfile leaks = leaks();
        if (leaks.total() != 0) {
            throw new AssertionError("goroutines that nothing can wake\n" + leaks);
        }
    }

    /** Records the present goroutines, so that a test can find goroutines that it leaves behind: {@link LeakCheck#assertNoLeaks}. */
    public LeakCheck leakCheck() {
        return new LeakCheck(s);
    }

    /** Returns the stacks of all goroutines in the form of Go's tracebacks. */
    public String dump() {
        GStack.checkAll(); // An overflow while the JDK reads a goroutine's stack could leave that goroutine suspended.
        return Traceback.all(s);
    }

    /**
     * Refuses new goroutines from outside, waits until all goroutines have ended, and releases threads and memory. A repeated call is
     * harmless. An interrupt of the caller ends the wait early, with the interrupt status set. Then a thread of the scheduler waits
     * instead. If there is no memory for that thread, the next call of close has to end the scheduler.
     *
     * <p>In a shutdown hook it does not wait for goroutines that called {@code System.exit}, which never returns. But any other goroutine
     * that never ends keeps it waiting, such as one that waits for a goroutine in {@code System.exit}. So a hook should use {@link
     * #close(Duration)}.
     *
     * <p>Any thread may close. In a bubble the wait holds the clock.
     *
     * @throws IllegalStateException for the {@link #makeDefault default} scheduler; and in a goroutine of this scheduler or in the callback
     *     of {@link Builder#stalled}, where close would wait for its own caller
     * @throws OutOfMemoryError when there is too little memory to end the scheduler: the next call of close continues
     */
    @Override
    public void close() {
        DefaultGmp.checkClose(this);
        boolean _ = closer.close(-1);
    }

    /**
     * Like {@link #close()}, this closes the scheduler and waits, but it returns after {@code d} at the latest, or up to 0.2 s later when a
     * socket poller of the JDK is at work. An interrupt ends the wait early. When the time is up, or after an interrupt, a thread of the
     * scheduler waits in the caller's place, as for {@link #close()}.
     *
     * @return empty when all goroutines have ended, or {@link #dump} with those that are left
     */
    public String close(Duration d) {
        DefaultGmp.checkClose(this);
        return closer.close(Math.max(0, RuntimeTimer.nanos(d))) ? "" : dump();
    }
}
