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
import org.gmp4j.metrics.CpuProfiler;
import org.gmp4j.metrics.Dashboard;
import org.gmp4j.metrics.GoroutineProfile;
import org.gmp4j.metrics.LeakCheck;
import org.gmp4j.metrics.Metrics;
import org.gmp4j.metrics.MetricsServer;
import org.gmp4j.metrics.Profile;
import org.gmp4j.proc.GStack;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.report.Traceback;
import org.gmp4j.timer.RuntimeTimer;
import org.gmp4j.wait.Limits;
import org.jspecify.annotations.Nullable;

/**
 * One scheduler: goroutines (Gs) on threads (Ms) that hold processors (Ps). Several may live in one JVM; a goroutine stays
 * with its own. Thread-safe.
 *
 * <p>All methods may be called by any thread: goroutines, virtual threads, platform threads. {@link #main}, {@link #run} and
 * {@link #call} wait for what they started, {@link #close} for all goroutines, {@link #setProcs} for the world to stop; nothing else
 * waits. An interrupt does not end these waits, and the status is set afterwards, for what was started would go on without anybody to
 * know of it; it ends {@code close} alone. Code that may leave before the end calls {@link #runInterruptibly} and its like, or
 * {@link #submit}, whose task can be waited for until an interrupt, a context or a time. In a bubble of {@code Synctest} what is
 * started by these methods does not belong to it, and whoever waits for that holds its clock.
 *
 * <p>Source: the G-M-P scheduler of Go's runtime; {@code ARCHITECTURE.md} and {@code HACKING.md} say what differs on the JVM.
 */
public final class Gmp implements Executor, AutoCloseable {
    private static final long LEAST_INTERVAL = 100_000;

    final Scheduler s;
    private final Closer closer;

    /** @param diagnosis ends with it; null for none */
    Gmp(Scheduler s, @Nullable Diagnosis diagnosis) {
        this.s = s;
        closer = new Closer(s, diagnosis);
        s.setOwner(this);
    }

    /**
     * Program mode: runs {@code main} as goroutine 1 and returns when it returns, while other goroutines may be parked or
     * running; they do not keep the process alive. An uncaught exception in any goroutine, a deadlock, or misuse that is
     * fatal in Go ends the process with Go's text on stderr and exit code 2. In a virtual thread with an identity
     * ({@link #threadFactory}) an exception is not uncaught where the thread, or the process, has an
     * {@link Thread.UncaughtExceptionHandler}: that is told, and the program goes on. May be called again. A bad value of
     * GMPMAXPROCS or GMPDEBUG ends the process with one sentence on stderr and exit code 2.
     * <p>All goroutines asleep are a deadlock only while nothing else in the process could wake one: see {@link DeadlockDetection#ON}.
     * {@code GMPDEBUG=deadlock=show} says what holds the report off; {@code deadlock=strict} reports whatever other threads there are.
     * <p>Any thread may call it, and waits whatever interrupts come; in a bubble that holds the clock.
     *
     * @throws IllegalStateException when this JVM cannot run goroutines, with one sentence that says what to do
     */
    public static void main(Runnable main) {
        Objects.requireNonNull(main, "go of nil func value");
        Program.main(main);
    }

    /**
     * Makes every virtual thread of the JVM that names no scheduler of its own a goroutine of one default scheduler, as the option
     * {@code default} of the agent and the property {@code gmp.default=on} do without a line of code: threads of
     * {@code Thread.ofVirtual}, of {@code Executors.newVirtualThreadPerTaskExecutor}, of {@code StructuredTaskScope} and of what servers
     * and drivers make of them. They are what they were: threads with an identity, whose uncaught exceptions are printed as the JDK
     * prints them. {@link Go}, {@link Chan} and all else work in them. Threads that a goroutine of another {@code Gmp} starts stay with
     * that one.
     *
     * <p>Settings come from properties, and where those say nothing from variables: {@code gmp.default.procs} or
     * {@code GMP_DEFAULT_PROCS}, and in the same way {@code spin} (as {@link SpinPolicy#parse} reads it), {@code quantum}
     * ({@code 500us}, {@code 10ms}), {@code affinity} ({@link Affinity#parse}), {@code steal} ({@link StealOrder#parse}),
     * {@code realtime} (a priority), {@code hugepages} and {@code nodequeues} ({@code on}, {@code off}), {@code stalled}
     * ({@code on}, {@code off}, or how often at most a stall is printed with its stack: {@code 100ms}), {@code debug} (as GMPDEBUG),
     * {@code compilers} (C2 gives way at first: {@code auto}, {@code yield}, {@code equal}).
     *
     * <p>What it cannot take: threads made before, and those that such a thread starts, stay on the JDK's scheduler. So do, when some
     * hundreds of virtual threads have been started already, new ones of code that HotSpot has compiled meanwhile: it took the JDK's
     * scheduler for a constant. Call it first in {@code main}, or use the agent, which does it before. A
     * {@code VirtualThreadSchedulerMXBean} that was asked before goes on telling of the JDK's; else it tells of this one. The JDK's
     * socket pollers, which serve all schedulers, stay on the JDK's.
     *
     * <p>Its threads are daemons, and it ends with the JVM: {@link #close} is refused. Thread-safe; all calls but the first do nothing.
     *
     * @return the default scheduler
     * @throws IllegalArgumentException naming the bad setting
     * @throws IllegalStateException when this JVM cannot run goroutines, or another library has put a scheduler of its own in the
     *     JDK's place; with one sentence
     */
    public static Gmp makeDefault() {
        return DefaultGmp.make(true);
    }

    /** Returns whether goroutines can run in this JVM. Thread-safe. */
    public static boolean isSupported() {
        return unsupported() == null;
    }

    /** Returns in one sentence why goroutines cannot run in this JVM, and null when they can. Thread-safe. */
    public static @Nullable String unsupported() {
        return Support.problem();
    }

    /**
     * A builder for embedded mode, with the defaults of its methods. With the property {@code gmp.default=on}, or the variable
     * {@code GMP_DEFAULT}, the first call does {@link #makeDefault} if the agent has not.
     *
     * @throws IllegalArgumentException naming the bad setting of the default scheduler
     */
    public static Builder builder() {
        DefaultGmp.makeIfWanted();
        return new Settings();
    }

    /**
     * A goroutine kept a P from others: it blocked its thread, or ran past its quantum and reached no point.
     *
     * @param goid the goroutine
     * @param running true when it ran, false when its thread slept in the kernel
     * @param stack where it was, innermost frame first
     */
    public record Stall(long goid, boolean running, List<StackTraceElement> stack) {
    }

    /** Settings of a {@link Gmp}. Not thread-safe. Bad values are refused by {@link #build}. */
    public interface Builder {
        /**
         * The number of Ps: how many goroutines run at a time, 1 to 4096. Default: the variable GMPMAXPROCS, or the
         * CPUs that affinity mask and cgroup limits leave to this process, followed when those change until
         * {@link Gmp#setProcs} is called.
         */
        Builder procs(int n);

        /**
         * Where the threads run. Default {@link Affinity#none()}. Threads and processes that a goroutine starts in Java do not
         * inherit that; threads that native code creates do.
         */
        Builder affinity(Affinity a);

        /**
         * In which order threads without work look into the queues of other Ps. Default {@link StealOrder#UNIFORM};
         * {@link StealOrder#NEAREST} needs an affinity other than {@link Affinity#none()}.
         */
        Builder steal(StealOrder order);

        /**
         * Whether the queue that all Ps share has a list for each NUMA node besides: goroutines whose slice has ended, or for which a P's
         * own queue has no room, are taken by the Ps of the same node first, and by others now and then, and when those have nothing
         * else. Default false. Needs an affinity other than {@link Affinity#none()}; on a machine of one node it changes nothing.
         */
        Builder nodeQueues(boolean on);

        /**
         * The name of the scheduler, as it stands in the names of its threads, in reports and thread dumps. Not blank. Where several
         * schedulers have the same name, metrics, JMX and the names of trace files put a number after it. Default {@code gmp} and a
         * number. For names of the threads of its factory see {@link Gmp#threadFactory(String)}.
         */
        Builder name(String name);

        /**
         * Runs its threads under the kernel's real-time policy {@code SCHED_FIFO}: nothing of the usual policy has their CPUs while
         * goroutines run, the JIT and the collector included, so leave some to those by {@link Affinity#reserve}. Default 0: the usual
         * policy.
         * Where the process may not do that (no {@code CAP_SYS_NICE}, a small {@code ulimit -r}) a line on stderr says so, and they run as
         * others. What goroutines start does not inherit it. The scheduler's monitor has the next priority.
         *
         * @param priority 1 to 98, more before less; 0 for none
         */
        Builder realtime(int priority);

        /**
         * Whether memory for goroutines and the rest of the scheduler's structs is asked for in huge pages ({@code MADV_HUGEPAGE}): worth
         * it for millions of goroutines. Default false. As the structs of all schedulers share memory, it holds for the process from then
         * on.
         */
        Builder hugePages(boolean on);

        /** What a thread without work does before it sleeps. Default {@link SpinPolicy#go()}. */
        Builder spin(SpinPolicy p);

        /** After how long a goroutine is told to yield when others wait, 200 µs to 1 minute. Default 10 ms. */
        Builder quantum(Duration d);

        /**
         * The same, shorter the more wait: when n goroutines wait for its P, one is told to yield after {@code most / n}, but not
         * before {@code least}. So each has a turn within {@code most} while they are few, and no more switches are paid for than that
         * takes. Both 200 µs to 1 minute.
         */
        Builder quantum(Duration least, Duration most);

        /**
         * Most threads, at least 1. Default 10,000. When all of them are blocked, what is ready to run waits for the first that is
         * not, as it does when the system gives no more threads; a line on stderr says so, once a minute at most. (In program
         * mode both end the process with Go's text.)
         */
        Builder maxThreads(int n);

        /**
         * How long a thread that nobody wants sleeps before it ends, 1 ms to 1000 days. Default 10 s. As many as there are
         * Ps stay idle for ever, and those that goroutines are locked to. (Go keeps all threads that it ever made.)
         */
        Builder idleThreads(Duration keep);

        /**
         * Most bytes of a goroutine's stack, at least 64 KiB; about as many before it parks, and as many in all of one that
         * parks on its way down. Default 8 MiB, some 80,000 calls; Go's is 1 GB. Each thread of the scheduler reserves that
         * much address space and a quarter of a MiB; memory is used only where a stack has been, and given back when the thread
         * sleeps next. (But {@code mlockall} makes all of it resident, or with {@code MCL_ONFAULT} where a stack has been, and
         * nothing is given back.) More is a StackOverflowError in that goroutine; one that nobody catches is an uncaught
         * exception like others.
         */
        Builder maxStack(long bytes);

        /**
         * Told of an exception that ends a goroutine (goid, exception), on its stack and after its deferred work. Default: Go's
         * text on stderr. In a virtual thread with an identity ({@link Gmp#threadFactory}) the thread's own
         * {@link Thread.UncaughtExceptionHandler} comes first, then the process's default one, as for any thread; this handler is
         * told where there is neither. One that throws costs a line on stderr.
         */
        Builder uncaught(BiConsumer<Long, Throwable> handler);

        /**
         * Told of a goroutine that kept a P from others until it was taken; at most once a second, or as often as
         * {@code GMPDEBUG=stall=MILLIS} says. Runs on the scheduler's monitor thread: be quick. {@link Gmp#close} of it throws
         * there. One that throws is not told again.
         */
        Builder stalled(Consumer<Stall> told);

        /** {@link #deadlockDetection(DeadlockDetection)} with {@code ON} or {@code OFF}. */
        Builder deadlockDetection(boolean on);

        /**
         * Whether the process ends, with Go's text on stderr, when all goroutines are asleep and nothing outside can wake one; default
         * {@code OFF}. In {@linkplain Gmp#main program mode} it is {@code ON}, or {@code STRICT} with {@code GMPDEBUG=deadlock=strict}.
         */
        Builder deadlockDetection(DeadlockDetection rule);

        /**
         * Debug settings as in the property {@code gmp.debug}, or the variable GMPDEBUG, which are the default: {@code
         * schedtrace=1000,scheddetail=1}. {@code runtime/SEEING.md} has all keys.
         */
        Builder debug(String gmpdebug);

        /**
         * Serves the {@link Metrics} of all schedulers of this process by HTTP, for Prometheus, as long as this one lives: see {@link
         * MetricsServer}. Default: what {@code metrics=PORT} of {@link #debug} says, else nowhere. An address where another
         * scheduler of this process asked for it is shared.
         *
         * @param address a loopback address, {@code new InetSocketAddress(InetAddress.getLoopbackAddress(), 9464)}, unless others
         *     are to see it
         */
        Builder metrics(InetSocketAddress address);

        /**
         * Has a page for a browser that shows all schedulers of this process live, as long as this one lives: see {@link Dashboard}. A
         * line on stderr says where it is. It listens on the loopback address only; it needs the module {@code jdk.httpserver}, and no
         * other jar. Default: what {@code dashboard=PORT} of {@link #debug} says, or the property {@code gmp.dashboard=PORT}, else none.
         * A port that another scheduler of this process asked for is shared.
         *
         * @param port 0 to 65535; 0 is any that is free
         */
        Builder dashboard(int port);

        /**
         * Starts the scheduler.
         *
         * @throws IllegalArgumentException naming the bad setting
         * @throws IllegalStateException when this JVM cannot run goroutines, with one sentence that says what to do
         */
        Gmp build();
    }

    /**
     * Starts a goroutine; from any thread. All that was done before happens before {@code fn} runs.
     *
     * @throws NullPointerException "go of nil func value"
     * @throws IllegalStateException after {@link #close}
     */
    public void go(Runnable fn) {
        s.go(Objects.requireNonNull(fn, "go of nil func value"));
    }

    /**
     * The same as an {@link Executor}: {@code CompletableFuture.supplyAsync(f, gmp)}.
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
     * Starts a goroutine with a result; from any thread.
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
     * Runs {@code fn} as a goroutine, waits until it and its deferred work have ended, and rethrows what it threw. Returns
     * normally when it called {@link Go#goexit}. From any thread or goroutine; interrupts do not end the wait.
     *
     * <p>Any thread may wait. An interrupt does not end the wait and is still there afterwards; in a bubble the wait
     * holds the clock.
     *
     * @throws IllegalStateException after {@link #close}
     */
    public void run(Runnable fn) {
        Objects.requireNonNull(fn, "go of nil func value");
        Void _ = outcome(new Outcome<>(new Program.Body(fn)));
    }

    /**
     * Like {@link #run}, with a result; null when {@code fn} called {@link Go#goexit}. For a wait that may end early take {@link #submit}
     * and {@link Task#get() get}, {@code get(time)} or {@link Task#joinUnless joinUnless}.
     *
     * <p>For threads, interrupts and bubbles see {@link #run}.
     *
     * @throws Exception what {@code fn} threw
     * @throws IllegalStateException after {@link #close}
     */
    public <T> @Nullable T call(Callable<T> fn) throws Exception {
        Objects.requireNonNull(fn, "go of nil func value");
        return outcome(new Outcome<>(fn));
    }

    /**
     * As {@link #run}, until an interrupt of the calling thread ends the wait; so do its like below by a context and by a time. The
     * goroutine is cancelled then, as by {@link Task#cancel()}, and goes on until it ends by itself.
     *
     * @throws InterruptedException when the caller was interrupted before or while it waits; the interrupt status is cleared
     * @throws IllegalStateException after {@link #close}
     */
    public void runInterruptibly(Runnable fn) throws InterruptedException {
        Limits.INTERRUPTIBLY.check();
        Task<Void> t = start(fn);
        boolean _ = t.waitOrCancel(Limits.INTERRUPTIBLY);
        Void _ = t.rethrown();
    }

    /**
     * As {@link #run}, until {@code ctx} is cancelled; see {@link #runInterruptibly}.
     *
     * @throws RuntimeException {@code ctx.err()} when it is cancelled before or while this waits
     * @throws IllegalStateException after {@link #close}
     */
    public void runUnless(Cancelable ctx, Runnable fn) {
        Limits l = Limits.until(ctx).uninterruptibly();
        l.check();
        Task<Void> t = start(fn);
        boolean _ = t.waitOrCancel(l);
        Void _ = t.rethrown();
    }

    /**
     * As {@link #run}, for {@code d} at most; see {@link #runInterruptibly}.
     *
     * @return false when the time was up
     * @throws IllegalStateException after {@link #close}
     */
    public boolean runWithin(Runnable fn, Duration d) {
        Task<Void> t = start(fn);
        boolean done = t.waitOrCancel(Limits.within(d).uninterruptibly());
        if (done) {
            Void _ = t.rethrown();
        }
        return done;
    }

    private Task<Void> start(Runnable fn) {
        GStack.checkAll(); // Once started it must be waited for.
        return submit(new Program.Body(Objects.requireNonNull(fn, "go of nil func value")));
    }

    private <T> @Nullable T outcome(Outcome<T> o) {
        GStack.checkAll(); // Once started it must be waited for.
        s.go(o);
        return o.get();
    }

    /**
     * Makes virtual threads with an identity of their own that this scheduler runs: for servers and drivers that want
     * threads. They are goroutines too: {@code Go} and {@code Chan} work in them, {@link #numGoroutine} counts them,
     * {@link #close} waits for them. Starting one after close throws
     * {@link java.util.concurrent.RejectedExecutionException}.
     *
     * <p>They end as goroutines do, and so do virtual threads that a goroutine starts by {@code Thread.ofVirtual} and the like: on
     * the thread deferred work runs, then an exception is reported ({@link Builder#uncaught}); after that the thread has
     * terminated for those who join it. {@link Go#goexit} is no exception. Code that catches every {@code Throwable} of a task,
     * as {@code FutureTask} and {@code StructuredTaskScope} do, sees it all the same, keeps it as the task's outcome, and has
     * that outcome before deferred work runs; {@link #newThreadPerTaskExecutor} knows better.
     *
     * <p>An interrupt ends what they wait for in the JDK as on any thread, and what they wait for here by a
     * {@link WaitInterruptedException}, locks excepted.
     */
    public ThreadFactory threadFactory() {
        return new Program.Threads(s, null, null);
    }

    /**
     * The same, of threads with a name: {@code prefix} and a number, from 0 on. Those of {@link #threadFactory()} have none, like the
     * JDK's virtual threads.
     */
    public ThreadFactory threadFactory(String prefix) {
        Objects.requireNonNull(prefix, "prefix");
        return new Program.Threads(s, prefix, new AtomicLong());
    }

    /**
     * An executor that runs each task in a new thread of {@link #threadFactory}. Deferred work is part of its task: a future is
     * done, and an executor that was closed terminated, only after it, and what it throws is what the task threw. The result of a
     * task that called {@link Go#goexit} is null.
     */
    public ExecutorService newThreadPerTaskExecutor() {
        return new TaskExecutor(this);
    }

    /** The name of the scheduler: see {@link Builder#name}. */
    public String name() {
        return s.name();
    }

    /** The number of Ps. */
    public int procs() {
        return s.gomaxprocs();
    }

    /**
     * Changes the number of Ps: stops the world and resizes.
     *
     * @param n 1 to 4096
     * @return the old number
     * @throws IllegalArgumentException when {@code n} is out of range
     */
    public int setProcs(int n) {
        return s.setProcs(Procs.check(n));
    }

    /** How many goroutines live. */
    public int numGoroutine() {
        return s.gcount();
    }

    /** What the scheduler counts; reading it stops nothing. */
    public Metrics metrics() {
        return new Metrics(s);
    }

    /** All goroutines by what they do, with how many do it. */
    public GoroutineProfile goroutines() {
        GStack.checkAll(); // As in dump.
        return new GoroutineProfile(s, false);
    }

    /**
     * Has waits of goroutines for channels, selects, locks, groups and conditions profiled: all that last so long, and of shorter ones a
     * share that stands for the others. Zero turns it off, as it is at first; what was found stays. On, each wait costs two looks at the
     * clock, and one that is taken a look at the stack, some µs. Waits in the JDK's own locks are not there. Go's
     * {@code SetBlockProfileRate}.
     *
     * @throws IllegalArgumentException when it is negative
     */
    public void setBlockProfileRate(Duration rate) {
        s.blockProfile.setRate(RuntimeTimer.nanos(rate), "the rate of the block profile is " + rate);
    }

    /** Where goroutines waited while {@link #setBlockProfileRate} had it profiled, and how long. */
    public Profile blockProfile() {
        return new Profile("block", s.blockProfile);
    }

    /**
     * Has it profiled what held a {@code Mutex} or {@code RWMutex} of {@code org.gmp4j.sync} while a goroutine waited for it: of so many
     * that give such a lock back one. 0 turns it off, as it is at first; what was found stays. Go's {@code SetMutexProfileFraction}.
     *
     * @throws IllegalArgumentException when it is negative
     */
    public void setMutexProfileFraction(int oneIn) {
        s.mutexProfile.setRate(oneIn, "the fraction of the mutex profile is one in " + oneIn);
    }

    /** Where goroutines gave locks back while {@link #setMutexProfileFraction} had it profiled, and how long one they woke had waited. */
    public Profile mutexProfile() {
        return new Profile("mutex", s.mutexProfile);
    }

    /**
     * Begins to look at an interval which goroutines run, where, and with which {@link org.gmp4j.metrics.Labels}; until it is stopped.
     * Several may run at a time. {@link CpuProfiler} says what to make of it.
     *
     * @param interval Go's is 10 ms; a look costs some 50 µs for each P
     * @throws IllegalArgumentException when it is shorter than 0.1 ms
     */
    public CpuProfiler startCpuProfile(Duration interval) {
        long nanos = RuntimeTimer.nanos(interval);
        if (nanos < LEAST_INTERVAL) {
            throw new IllegalArgumentException("the interval of a CPU profile is " + interval + ": use 0.1 ms or more");
        }
        return new CpuProfiler(s, nanos);
    }

    /**
     * The goroutines that wait for something that nothing alive can reach, so that they will wait for ever: Go's {@code goroutineleak}
     * profile. By reachability: what is alive is not in it. What may be missing, and two exceptions, stand in SEEING.md. Stops all
     * goroutines for a full collection of the heap, {@code System.gc()}.
     *
     * <p>Weak references to what only leaked goroutines can reach may be cleared by it, and finalizers of such objects run, as if those
     * goroutines were gone; they stay.
     *
     * @throws IllegalStateException after {@link #close}, or when this JVM cannot tell: {@code System.gc()} does nothing, or the
     *     collector is ZGC or Shenandoah
     */
    public GoroutineProfile leaks() {
        return new GoroutineProfile(s, true);
    }

    /**
     * Passes unless there are {@link #leaks()}.
     *
     * @throws AssertionError with their states and stacks when there are
     * @throws IllegalStateException as {@link #leaks()}
     */
    public void assertNoLeaks() {
        GoroutineProfile leaks = leaks();
        if (leaks.total() != 0) {
            throw new AssertionError("goroutines that nothing can wake\n" + leaks);
        }
    }

    /** The goroutines that there are now, for a test to see whether it leaves others: {@link LeakCheck#assertNoLeaks}. */
    public LeakCheck leakCheck() {
        return new LeakCheck(s);
    }

    /** Every goroutine in Go's traceback form. */
    public String dump() {
        GStack.checkAll(); // The JDK holds a goroutine while it looks at its stack.
        return Traceback.all(s);
    }

    /**
     * Refuses new goroutines from outside, waits until all have ended, and gives threads and memory back. Harmless when
     * repeated. When the caller is interrupted it returns early with its interrupt status set, and a thread of the scheduler's own
     * waits in its place; without memory or a thread for that, the next close has to end the scheduler.
     *
     * <p>Called when the JVM shuts down, from a shutdown hook that is, it does not wait for goroutines that called
     * {@code System.exit}, which never returns, and returns when only these are left. Goroutines that wait for such a one, or
     * serve for ever, do not end either: {@link #close(Duration)} is what a hook wants.
     *
     * <p>Any thread may close, in a bubble too, where the wait holds the clock.
     *
     * @throws IllegalStateException from a goroutine of this scheduler or from what {@link Builder#stalled} told, which would wait for
     *     itself; and of the {@link #makeDefault default} one, which all virtual threads need
     * @throws OutOfMemoryError when there is too little memory for its end: the next close goes on with that
     */
    @Override
    public void close() {
        boolean _ = closer.close(-1);
    }

    /**
     * Like {@link #close()} but returns after {@code d}, as it does when interrupted; up to 0.2 s later when a socket poller of the JDK
     * is just at work.
     *
     * @return empty when all have ended, else {@link #dump} of those that are left
     */
    public String close(Duration d) {
        return closer.close(Math.max(0, RuntimeTimer.nanos(d))) ? "" : dump();
    }
}
