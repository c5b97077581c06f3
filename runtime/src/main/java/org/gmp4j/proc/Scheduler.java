// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.proc;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntSupplier;

import org.gmp4j.config.Config;
import org.gmp4j.config.Placement;
import org.gmp4j.config.Quantum;
import org.gmp4j.events.Names;
import org.gmp4j.events.Tracer;
import org.gmp4j.events.WaitProfile;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.gmp.m;
import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.policy.PollerAbsence;
import org.gmp4j.policy.Spin;
import org.gmp4j.print.Stderr;
import org.gmp4j.print.ThrowableText;
import org.gmp4j.queue.VictimOrder;
import org.gmp4j.stack.JdkContainer;
import org.gmp4j.struct.G;
import org.gmp4j.struct.GSlots;
import org.gmp4j.struct.M;
import org.gmp4j.struct.Mem;
import org.gmp4j.struct.P;
import org.gmp4j.struct.RetiredSched;
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Throw;
import org.jspecify.annotations.Nullable;

/**
 * One scheduler: its {@code struct schedt} and its objects on the heap. It is made by {@link #schedinit} and ended by {@link #close}.
 */
public final class Scheduler {
    /** A value of {@code sched.closing}: goroutines run to their ends. */
    static final int DRAINING = 1;
    /** A value of {@code sched.closing}: Ms end. */
    static final int STOPPED = 2;

    private static final AtomicInteger NAMES = new AtomicInteger();
    /** Whether {@link Warm#up} was called in this process. Guarded by the monitor of {@code Rehearsal}, which alone calls. */
    private static boolean warm;

    /** The struct schedt. */
    public final long sched;
    /** The settings. */
    public final Config config;
    /** The present quantum, at first that of the settings. Any thread may replace it; sysmon and Ms may see the old one for a moment. */
    public volatile Quantum quantum;
    /** The slots of its Gs. */
    public final GSlots slots = new GSlots(this);
    final Allp allp;
    final Allm allm = new Allm(this);
    /** The prefix of its threads' names. */
    final String name;
    /** Written once, by {@link LiveSchedulers}, before other threads see the scheduler. */
    @SuppressWarnings("NullAway.Init")
    String label;
    final Timers timers;
    final JdkContainer goroutines;
    Netpoll netpoll; // Not final: tests replace it.

    /** The order in which Ms search other Ps. Written by procresize, first before any M runs. */
    @SuppressWarnings("NullAway.Init")
    volatile VictimOrder victimOrder;
    /** The CPUs of its Ps. Replaced with the world stopped. */
    volatile Placement placement;
    /** The object of the API that stands for this scheduler; null in program mode. Written once. */
    private volatile @Nullable Object owner;
    /** The tracer; null when it is off. Set with the world stopped, by {@link Tracing}. */
    volatile @Nullable Tracer tracer;
    /** The names of the places at which goroutines are started, for {@code createsites=1}; else null. */
    final @Nullable Names places;
    /** A profile of the places at which goroutines waited. */
    public final WaitProfile blockProfile = new WaitProfile();
    /** A profile of the places at which goroutines held locks that others waited for. */
    public final WaitProfile mutexProfile = new WaitProfile();
    /** Not null while a search for leaks is under way. Set and cleared with the world stopped. */
    volatile @Nullable HiddenStacks hidden;
    private volatile @Nullable BooleanSupplier idleHook;
    private volatile boolean mainExited;
    /** Whether an M found all goroutines asleep. Set by Ms before they ring sysmon, which clears it and then checks ({@link Checkdead}). */
    volatile boolean mayBeDead;
    /** Before this time, by nanoTime, sysmon checks for no deadlock, as something held its last report off. Written by sysmon. */
    volatile long heldUntil = System.nanoTime();
    private volatile boolean procsByHand;
    private volatile boolean mainReturned;
    /** Whether this scheduler runs all virtual threads that name none. Set before the first of them runs, by {@link DefaultPool}. */
    volatile boolean inPlaceOfJdk;
    /** Program mode, {@link GoroutineExit}: the number of goroutines whose deferred work runs after an exception. */
    final AtomicInteger panicDefers = new AtomicInteger();
    /** Program mode: whether an exception that ends the program, or a fatal error, is being reported. */
    volatile boolean panicking;
    /** For {@link StopTheWorld}: when the stop began, how long it took, its event. Written by the thread that stops the world. */
    long stopBegan;
    long stopTook;
    @Nullable Object stopEvent;
    final Realtime realtime;
    /** The reason why no M could be made; null when the last attempt succeeded. Set by the thread that tried, cleared by sysmon only. */
    volatile @Nullable String shortage;
    final SpareThreads spare;
    final UnfinishedSwitches leftovers = new UnfinishedSwitches();
    final Collected collected = new Collected(this);
    final PollerAbsence pollerAbsence = new PollerAbsence();
    private final Monitor monitor;
    final Reports reports;
    /** Notes for the thread that closes the scheduler. */
    final ClosingNotes closing = new Closing();
    /**
     * The time, by nanoTime, from which sysmon has paid for its last use of the CPU, so that the kernel runs it as soon as it is woken
     * from its light sleep. Sysmon writes it before the volatile store of sysmonwait that says that it sleeps lightly. {@link
     * Wakep#wakep} reads it after an acquire of sysmonwait. A late reader may see the time of a later sleep: then sysmon has scanned the
     * Ps since, and the wake-up is not needed.
     */
    public long monitorPaidAt;
    /** Whether spinners are of use, for a latency policy. */
    final Spin spin = new Spin();
    /** Set while a thread takes a P by its {@link Gate}, which at most one thread does at a time. */
    final AtomicBoolean taker = new AtomicBoolean();

    private Scheduler(String name, Config config, Timers timers, Netpoll netpoll, Function<Scheduler, Monitor> monitor, Reports reports) {
        this.reports = reports;
        this.config = config;
        this.quantum = new Quantum(config.leastQuantumNanos(), config.quantumNanos());
        this.places = config.debug().createsites() ? new Names() : null;
        this.netpoll = netpoll;
        this.name = name;
        this.realtime = new Realtime(config.realtime(), name);
        this.timers = timers;
        RetiredSched.recycle();
        Preempt.install();
        CleanStart.hook(!config.placement().sets().isEmpty());
        placement = config.placement();
        this.monitor = monitor.apply(this);
        this.sched = Mem.alloc(schedt.layout(), 1);
        boolean made = false;
        try {
            this.allp = new Allp(sched, timers, this.monitor);
            this.spare = new SpareThreads(sched, name);
            this.goroutines = reports.container(name, slots);
            made = true;
        } finally {
            if (!made) {
                Mem.recycle(schedt.layout(), sched);
            }
        }
    }

    /**
     * {@code schedinit}: makes a scheduler whose Ps are idle and which has no M yet.
     *
     * @param monitor makes the scheduler's monitor; called before the scheduler is complete
     * @throws OutOfMemoryError when there is no memory for the scheduler, or no thread for its sysmon; then all of it has been undone
     */
    public static Scheduler schedinit(Config config, Timers timers, Netpoll netpoll, Function<Scheduler, Monitor> monitor,
            Reports reports) {
        return schedinit("gmp" + NAMES.getAndIncrement(), config, timers, netpoll, monitor, reports);
    }

    /** Makes a scheduler that runs none of the user's code, before one that does is made. Called by one thread at a time. */
    public static Scheduler rehearsal(Config config, Timers timers, Netpoll netpoll, Function<Scheduler, Monitor> monitor,
            Reports reports) {
        reports.prepare();
        if (!warm) {
            Warm.up();
            warm = true;
        }
        return schedinit("gmp-rehearsal", config, timers, netpoll, monitor, reports);
    }

    /** {@link #schedinit(Config, Timers, Netpoll, Function, Reports) schedinit} with a name for the scheduler. */
    public static Scheduler schedinit(String name, Config config, Timers timers, Netpoll netpoll,
            Function<Scheduler, Monitor> monitor, Reports reports) {
        reports.prepare();
        Scheduler s = new Scheduler(name, config, timers, netpoll, monitor, reports);
        boolean started = false;
        try {
            s.begin();
            started = true;
            return s;
        } finally {
            if (!started) {
                s.undo();
            }
        }
    }

    private void begin() {
        Schedt.MAXMCOUNT.set(sched, config.maxThreads());
        Schedt.LASTPOLL.setVolatile(sched, System.nanoTime());
        StopTheWorld.Procs procs = new StopTheWorld.Procs(this, config.procs(), config.placement());
        SchedLock.lock(sched);
        long runnable = StopTheWorld.procresize(this, procs, null);
        SchedLock.unlock(sched);
        assert runnable == 0;
        LiveSchedulers.add(this);
        monitor.start();
    }

    /**
     * Undoes a failed construction, as far as there is memory for the undoing: when the heap is full to the last byte, a struct or two
     * may leak.
     */
    private void undo() {
        LiveSchedulers.remove(this);
        try {
            goroutines.deregister();
            allp.release();
            RetiredSched.add(this, sched); // A thread that has read the list of live schedulers may still use it.
        } catch (OutOfMemoryError e) {
            return; // The caller throws its own error.
        }
    }

    /** Sets the object of the API that stands for this scheduler. */
    public void setOwner(Object o) {
        owner = o;
    }

    /** Returns the object of the API that stands for this scheduler; null in program mode. */
    public @Nullable Object owner() {
        return owner;
    }

    /** Returns all schedulers that are not closed. */
    public static List<Scheduler> all() {
        return List.of(LiveSchedulers.all());
    }

    /** Returns all schedulers that are not closed, without an allocation, for callers that hold a lock. The array must not be changed. */
    public static Scheduler[] live() {
        return LiveSchedulers.all();
    }

    /** Records an event of a goroutine. Called by a thread that has no P of this scheduler. */
    void traceOutside(int kind, int argument, long gp) {
        Tracer t = tracer;
        if (t != null) {
            t.outside(kind, argument, G.GOID.get(gp), 0);
        }
    }

    // Ps

    /** Returns the Java sides of all Ps that ever existed, by id. */
    public Processor[] procs() {
        return allp.procs();
    }

    /** Returns the Java side of a P. */
    Processor proc(long pp) {
        return allp.procs()[P.ID.get(pp)];
    }

    /** {@code GOMAXPROCS(0)}: returns the number of Ps. */
    public int gomaxprocs() {
        return Schedt.GOMAXPROCS.getOpaque(sched);
    }

    /** {@code GOMAXPROCS(n)}: stops the world, sets the number of Ps, which sysmon changes no more, and returns the old number. */
    public int setProcs(int n) {
        procsByHand = true; // Before the wait for other stops, and even if resize fails: sysmon changes the number no more.
        return StopTheWorld.resize(this, n);
    }

    boolean procsByHand() {
        return procsByHand;
    }

    /** Returns the present CPUs of its Ps. */
    public Placement placement() {
        return placement;
    }

    /** Follows the CPUs of the process, and its limits unless the number of Ps was set by hand. Called by sysmon. */
    void updateProcs() {
        // Without signals a goroutine that does not yield could hold sysmon up here.
        if (!Preempt.possible() || Schedt.CLOSING.getAcquire(sched) != 0) {
            return;
        }
        Placement changed;
        boolean byHand;
        int n;
        try {
            changed = placement.dealer().again();
            IntSupplier auto = config.autoProcs();
            byHand = procsByHand || auto == null;
            n = byHand || auto == null ? gomaxprocs() : Math.min(auto.getAsInt(), (changed == null ? placement : changed).mostProcs());
        } catch (NativeException refused) {
            return; // The kernel refuses the information. The next round asks again.
        }
        if (n != gomaxprocs() || changed != null) {
            try {
                boolean _ = StopTheWorld.tryResize(this, n, changed, byHand); // If it fails, the next round tries again.
            } catch (IllegalStateException closed) {
                // The scheduler was closed after the check, and sysmon ends.
            }
        }
    }

    /** Runs {@code body} while no goroutine runs. Called from any thread. The body must not wait for a goroutine. */
    public void withWorldStopped(Runnable body) {
        StopTheWorld.withWorldStopped(this, body);
    }

    // Ms

    /** Returns the Java side of an M. */
    public Machine machine(long mp) {
        return allm.machine(mp);
    }

    /** Returns the Java sides of all Ms. */
    public Machine[] machines() {
        return allm.machines();
    }

    /**
     * Counts of preemption's signals by their outcomes, summed over all Ms since the scheduler was made. Each number may lag a little.
     *
     * @param sent signals sent
     * @param marked the goroutine ran its own code and was marked to yield at its next point
     * @param taken the goroutine lost its P at once, by a signal or without one
     * @param idle refused: the M ran no goroutine, or had no P
     * @param locks refused: the goroutine was inside the runtime, and yields by itself when it leaves
     * @param late refused: another goroutine ran by then
     */
    public record Signals(long sent, long marked, long taken, long idle, long locks, long late) {
        private static Signals of(Machine[] machines) {
            long[] n = new long[6];
            for (Machine m : machines) {
                n[0] += M.SIGSENT.getOpaque(m.mp);
                n[1] += M.SIGPREEMPT.getOpaque(m.mp);
                n[2] += M.SIGHANDOFF.getOpaque(m.mp) + M.TAKEN.getOpaque(m.mp);
                n[3] += M.SIGIDLE.getOpaque(m.mp);
                n[4] += M.SIGLOCKS.getOpaque(m.mp);
                n[5] += M.SIGLATE.getOpaque(m.mp);
            }
            return new Signals(n[0], n[1], n[2], n[3], n[4], n[5]);
        }
    }

    /** Returns the counts of preemption by signal. Called from any thread. */
    public Signals signals() {
        return Signals.of(allm.machines());
    }

    /** Returns the number of Ms, asleep or not. */
    public int mcount() {
        return allm.mcount();
    }

    /** Notes that the calling thread of an M is about to end. */
    void mexited(Machine m) {
        closing.mexited(m);
    }

    // Gs

    /** {@code go fn()}. Called from any thread. */
    public void go(Runnable fn) {
        Newproc.newproc(this, fn);
    }

    /** {@code go fn()} for a timer that fired. Returns false, and starts nothing, when the scheduler is closing. */
    public boolean goFromTimer(Runnable fn) {
        return Newproc.newprocTimer(this, fn);
    }

    /** Returns its monitor, sysmon. */
    public Monitor monitor() {
        return monitor;
    }

    /** Returns the prefix of its threads' names. */
    public String name() {
        return name;
    }

    /** Returns the name, followed by a number if a scheduler that was live when this one was made had that label already. */
    public String label() {
        return label;
    }

    /** Returns the network poller it was made with. */
    public Netpoll netpoll() {
        return netpoll;
    }

    /** Returns the timers it was made with. */
    public Timers timers() {
        return timers;
    }

    /** Returns a virtual thread, not started, that will run on this scheduler's Ps. */
    public Thread newThread(Runnable task) {
        return Stacks.ofTask(this, task).thread;
    }

    /** Counts a goroutine that begins (1) or ends (-1) a wait that something outside of the scheduler ends. */
    public void waitsForOutside(int change) {
        if (config.deadlockDetection()) {
            long _ = Schedt.addNjdkwait(sched, change);
        }
    }

    /** {@code NumGoroutine}: returns the number of goroutines; 0 once the scheduler has ended. */
    public int gcount() {
        return isStopped() ? 0 : (int) Math.min(Integer.MAX_VALUE, Gcount.gcount(this));
    }

    /** Program mode: notes that main called goexit, so it will not return. */
    public void setMainExited() {
        mainExited = true;
    }

    /** Program mode, on main's stack: notes that main returned. The goroutines that are left cause no report of a deadlock or panic. */
    public void setMainReturned() {
        GoroutineExit.letPanicsEnd(GStack.mine());
        mainReturned = true;
    }

    /** Program mode: notes that an exception that ends the program, or a fatal error, is being reported. Main returns no more. */
    public void setPanicking() {
        panicking = true;
    }

    /** Returns whether this scheduler runs all virtual threads of the JVM that name none. */
    public boolean isInPlaceOfJdk() {
        return inPlaceOfJdk;
    }

    /** Begins a search for leaks, or ends it if {@code stacks} is null. Called with the world stopped. */
    public void hide(@Nullable HiddenStacks stacks) {
        hidden = stacks;
    }

    /** Returns whether a search for leaks is under way, so that stacks may lack their frames. */
    public boolean hidesStacks() {
        return hidden != null;
    }

    /** Returns whether main has returned: see {@link #setMainReturned}. */
    public boolean mainReturned() {
        return mainReturned;
    }

    boolean mainExited() {
        return mainExited;
    }

    /** Ensures that an M runs the timer that was added and is due at {@code when}: the M that watches the timers must not sleep longer. */
    public void wakeNetPoller(long when) {
        Threads.wakeNetPoller(this, when);
    }

    /**
     * Does {@link #wakeNetPoller} for a timer of a goroutine that has just parked on {@code m}, but not before the M has found a G to run
     * ({@link Machine#untold}). Called on g0, with the timer on the M's P. Go wakes another M at once. That M sleeps in the poller, and
     * the first finds nothing to run and sleeps too.
     */
    public void wakeNetPollerLater(Machine m, long when) {
        if (M.LOCKEDG.get(m.mp) != 0) {
            wakeNetPoller(when); // The M parks, and its P goes to an M that does not know of this timer.
        } else {
            m.untold = FindRunnable.earlier(m.untold, when);
        }
    }

    // Idle-time work

    /**
     * Sets the hook that an M without work calls before it sleeps; null for none. The hook returns whether there may be a G to run now.
     * Deadlock detection does not wait for it, as the M may be spinning. It must be short, as this may be the M that watches the timers.
     */
    public void setIdleHook(@Nullable BooleanSupplier hook) {
        idleHook = hook;
    }

    /**
     * Calls the idle hook, if there is one, on an M that has a P and no work. Go runs its GC mark workers here.
     *
     * @return whether the hook says that there may be a G to run
     */
    boolean idleWork(Machine m) {
        BooleanSupplier hook = idleHook;
        if (hook == null) {
            return false;
        }
        boolean _ = Thread.interrupted(); // The interrupt was for a goroutine that ran on this thread: see JdkThreads.
        try {
            return hook.getAsBoolean();
        } catch (Throw t) {
            throw t; // A call of the runtime found the scheduler corrupt.
        } catch (Throwable t) {
            idleHook = null; // Otherwise it would be called, and fail, again at once.
            idleHookThrew(t);
            return false;
        }
    }

    /** Reports that the idle hook threw. Lack of memory for the text must not end the M. */
    private static void idleHookThrew(Throwable t) {
        try {
            Stderr.tryPrint("gmp4j: the idle hook threw ", ThrowableText.line(t), " and is off");
        } catch (OutOfMemoryError e) {
            return;
        }
    }

    // Watching

    /**
     * Begins to read the structs, which are not recycled until {@link #endReading}. Called from any thread.
     *
     * @return false when the scheduler has ended; then the caller must neither read nor call endReading
     */
    public boolean beginReading() {
        return closing.beginReading(this);
    }

    /** Ends {@link #beginReading}. */
    public void endReading() {
        closing.endReading();
    }

    /** Registers a thread that reads the structs. It is interrupted, and waited for, before they are recycled. */
    public void endFirst(Thread t) {
        closing.endFirst(t);
    }

    private volatile @Nullable Runnable everySecond;
    private volatile @Nullable Runnable atStop;

    /** Sets the hook that sysmon calls about once a second; null for none. It must be quick, and take no lock that user code may hold. */
    public void setEverySecond(@Nullable Runnable hook) {
        everySecond = hook;
    }

    @Nullable Runnable everySecond() {
        return everySecond;
    }

    /** Sets the hook that is called whenever the world has been stopped, by the thread that stopped it; null for none. */
    public void setAtStop(@Nullable Runnable hook) {
        atStop = hook;
    }

    @Nullable Runnable atStop() {
        return atStop;
    }

    /** Returns whether {@link #close} was called, so that the scheduler is about to end or has ended. */
    public boolean isClosing() {
        return Schedt.CLOSING.getAcquire(sched) != 0;
    }

    // Closing

    /** Notes that a goroutine has ended while the scheduler is closing, as it may have been the last. Called by goexit0. */
    void exitedWhileClosing() {
        closing.exitedWhileClosing(this);
    }

    /** Returns whether there may be no goroutine left, so that a thread that may block has to call {@link #signalDrained}. */
    boolean mayBeDrained() {
        return closing.mayBeDrained();
    }

    /** Wakes the threads that wait in {@link #close}. Called by sysmon. */
    void signalDrained() {
        closing.signalDrained();
    }

    /**
     * Refuses new goroutines from outside, waits until the living ones have ended, and then ends the Ms.
     *
     * @param nanos how long to wait; negative for no limit
     * @return false when goroutines are left and the time is up, or the JVM shuts down and all goroutines that are left have called exit;
     *     the scheduler then goes on draining
     * @throws IllegalStateException on sysmon
     * @throws OutOfMemoryError when there is no memory for a step of the end; the next close goes on with that step
     */
    public boolean close(long nanos) throws InterruptedException {
        return Closing.close(this, nanos);
    }

    /** Waits until none of its Ms runs any more. Called from any thread once {@link #isStopped} returns true. */
    public void awaitMs() {
        Closing.awaitMs(this);
    }

    /** Returns whether no goroutine is left and none can be started, as {@link #close} has ended or is about to. */
    public boolean isStopped() {
        return Schedt.CLOSING.getAcquire(sched) == STOPPED;
    }
}
