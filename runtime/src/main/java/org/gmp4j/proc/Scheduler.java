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
import org.gmp4j.events.Names;
import org.gmp4j.events.Tracer;
import org.gmp4j.events.WaitProfile;
import org.gmp4j.ffi.NativeException;
import org.gmp4j.ffi.gmp.m;
import org.gmp4j.ffi.gmp.schedt;
import org.gmp4j.lock.SchedLock;
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
 * One scheduler: {@code struct schedt} and what belongs to it on the heap. Life: {@link #schedinit}, work, {@link #close}.
 */
public final class Scheduler {
    /** closing: goroutines run to their end. */
    static final int DRAINING = 1;
    /** closing: Ms end. */
    static final int STOPPED = 2;

    private static final AtomicInteger NAMES = new AtomicInteger();
    /** Whether {@link Warm} was up in this process. */
    private static boolean warm;

    /** Its struct schedt. */
    public final long sched;
    /** Its settings. */
    public final Config config;
    /** Its Gs. */
    public final GSlots slots = new GSlots(this);
    final Allp allp;
    final Allm allm = new Allm(this);
    /** For thread names. */
    final String name;
    /** Written once, by {@link LiveSchedulers}, before others see the scheduler. */
    @SuppressWarnings("NullAway.Init")
    String label;
    final Timers timers;
    final JdkContainer goroutines;
    Netpoll netpoll; // Not final: tests replace it.

    /** Written by the first procresize. */
    @SuppressWarnings("NullAway.Init")
    volatile VictimOrder victimOrder;
    /** The CPUs of its Ps. Replaced with the world stopped. */
    volatile Placement placement;
    /** The object that users have for it; null in program mode. Written once. */
    private volatile @Nullable Object owner;
    /** The tracer; null when it is off. Set with the world stopped, by {@link Tracing}. */
    volatile @Nullable Tracer tracer;
    /** Where goroutines are started, by {@code createsites=1}; else null. */
    final @Nullable Names places;
    /** Where goroutines waited; and where they held locks that others waited for. */
    public final WaitProfile blockProfile = new WaitProfile();
    public final WaitProfile mutexProfile = new WaitProfile();
    /** While a search for leaks is under way, else null. Set and cleared with the world stopped. */
    volatile @Nullable HiddenStacks hidden;
    private volatile @Nullable BooleanSupplier idleHook;
    private volatile boolean mainExited;
    /** Whether an M found all goroutines asleep. Set by Ms before they ring sysmon, which clears it before it looks ({@link Checkdead}). */
    volatile boolean mayBeDead;
    /** Until when, by nanoTime, sysmon need not look for a deadlock: something held the last report off. Written by sysmon. */
    volatile long heldUntil = System.nanoTime();
    private volatile boolean procsByHand;
    private volatile boolean mainReturned;
    /** Whether it runs all virtual threads that name no scheduler: set before the first of them, by {@link DefaultPool}. */
    volatile boolean inPlaceOfJdk;
    /** Program mode, {@link Ends}: goroutines whose deferred work runs after an exception. */
    final AtomicInteger panicDefers = new AtomicInteger();
    /** Program mode: whether an exception that ends the program, or a fatal error, is being reported. */
    volatile boolean panicking;
    /** For {@link StopTheWorld}: when the stop began, how long it took, its event. Written by whoever stops the world. */
    long stopBegan;
    long stopTook;
    @Nullable Object stopEvent;
    final Realtime realtime;
    final Shortage shortage = new Shortage(this);
    final SpareThreads spare;
    final Leftovers leftovers = new Leftovers();
    final Collected collected = new Collected(this);
    private final Monitor monitor;
    final Reports reports;
    private final Closing closing = new Closing(this);
    /**
     * From when on the kernel runs sysmon as soon as it is woken from its rest, by nanoTime. Sysmon writes it before the
     * volatile store of sysmonwait that says that it rests; {@link Wakep#wakep} reads it after that, by acquire. A reader that is late may
     * see the time of a later rest: then sysmon has looked since.
     */
    public long monitorPaidAt;
    /** Under a latency policy: whether a spinner has found work beside an M at work, since one was last woken to stand in. A hint. */
    boolean spinnerFound;
    /** Under a latency policy: whether none had, when the last M that had a stand-in had nothing to do. A hint. */
    boolean spunInVain;
    /** Set while a thread takes a P by its {@link Gate}: one at a time. */
    final AtomicBoolean taker = new AtomicBoolean();

    private Scheduler(String name, Config config, Timers timers, Netpoll netpoll, Function<Scheduler, Monitor> monitor, Reports reports) {
        this.reports = reports;
        this.config = config;
        this.places = config.debug().createsites() ? new Names() : null;
        this.netpoll = netpoll;
        this.name = name;
        this.realtime = new Realtime(config.realtime(), name);
        this.timers = timers;
        RetiredSched.recycle();
        boolean _ = Preempt.install();
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
     * {@code schedinit}: a scheduler with its Ps idle and no M yet.
     *
     * @param monitor makes its monitor; called with the scheduler before that is complete
     * @throws OutOfMemoryError when there is no memory for it, or no thread for its sysmon; nothing is left of it then
     */
    public static Scheduler schedinit(Config config, Timers timers, Netpoll netpoll, Function<Scheduler, Monitor> monitor,
            Reports reports) {
        return schedinit("gmp" + NAMES.getAndIncrement(), config, timers, netpoll, monitor, reports);
    }

    /** A scheduler that runs none of the user's code, before one that does; one at a time. */
    public static Scheduler rehearsal(Config config, Timers timers, Netpoll netpoll, Function<Scheduler, Monitor> monitor,
            Reports reports) {
        reports.prepare();
        if (!warm) {
            Warm.up();
            warm = true;
        }
        return schedinit("gmp-rehearsal", config, timers, netpoll, monitor, reports);
    }

    /** The same with a name of its own. */
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
     * Undoes a failed construction, as far as there is memory for that: a struct or two may be lost when the heap is full to the last
     * byte.
     */
    private void undo() {
        LiveSchedulers.remove(this);
        try {
            goroutines.deregister();
            allp.release();
            RetiredSched.add(this, sched); // A thread that looked at all live schedulers may still have it.
        } catch (OutOfMemoryError e) {
            return; // The caller throws its own error.
        }
    }

    /** Sets the object that users have for it. */
    public void setOwner(Object o) {
        owner = o;
    }

    /** The object that users have for it; null in program mode. */
    public @Nullable Object owner() {
        return owner;
    }

    /** All schedulers that are not closed. */
    public static List<Scheduler> all() {
        return List.of(LiveSchedulers.all());
    }

    /** The same without allocating: for callers that hold a lock. */
    public static Scheduler[] live() {
        return LiveSchedulers.all();
    }

    /** An event of a goroutine, from a thread that has no P of this scheduler. */
    void traceOutside(int kind, int argument, long gp) {
        Tracer t = tracer;
        if (t != null) {
            t.outside(kind, argument, G.GOID.get(gp), 0);
        }
    }

    // Ps

    /** The Java sides of all Ps that ever were, by id. */
    public Processor[] procs() {
        return allp.procs();
    }

    /** The Java side of a P. */
    Processor proc(long pp) {
        return allp.procs()[P.ID.get(pp)];
    }

    /** {@code GOMAXPROCS(0)}. */
    public int gomaxprocs() {
        return Schedt.GOMAXPROCS.getOpaque(sched);
    }

    /** {@code GOMAXPROCS(n)}: stops the world and resizes; returns the old number. From here on it is set by hand. */
    public int setProcs(int n) {
        procsByHand = true; // Before it waits for a turn, and also if it fails: sysmon then leaves the number alone.
        return StopTheWorld.resize(this, n);
    }

    boolean procsByHand() {
        return procsByHand;
    }

    /** The CPUs of its Ps, as they are now. */
    public Placement placement() {
        return placement;
    }

    /** From sysmon: follows the CPUs of the process, and its limits unless the number of Ps was set by hand. */
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
            return; // The kernel does not tell: all stays as it is until it does.
        }
        if (n != gomaxprocs() || changed != null) {
            try {
                boolean _ = StopTheWorld.tryResize(this, n, changed, byHand); // If that fails, again at the next look.
            } catch (IllegalStateException closed) {
                // Closed since the check: sysmon ends.
            }
        }
    }

    /** Runs {@code body} while no goroutine runs; from any thread. Not for anything that needs one to run. */
    public void withWorldStopped(Runnable body) {
        StopTheWorld.withWorldStopped(this, body);
    }

    // Ms

    /** The Java side of an M. */
    public Machine machine(long mp) {
        return allm.machine(mp);
    }

    /** The Java sides of all Ms. */
    public Machine[] machines() {
        return allm.machines();
    }

    /**
     * What became of preemption's signals, summed over all Ms since the beginning; each number lags a little.
     *
     * @param sent signals sent
     * @param marked the goroutine ran its own code and was marked to yield at its next point
     * @param taken it lost its P on the spot, by a signal or without
     * @param idle refused: no goroutine, or it had no P
     * @param locks refused: inside the runtime, which yields by itself when it leaves
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

    /** The counters of preemption by signal. From any thread. */
    public Signals signals() {
        return Signals.of(allm.machines());
    }

    /** How many Ms there are, asleep or not. */
    public int mcount() {
        return allm.mcount();
    }

    /** An M's thread is about to end. */
    void mexited(Machine m) {
        closing.mexited(m);
    }

    // Gs

    /** {@code go fn()} from any thread. */
    public void go(Runnable fn) {
        Newproc.newproc(this, fn);
    }

    /** {@code go fn()} for a timer that fired; false, and nothing started, when the scheduler is closing. */
    public boolean goFromTimer(Runnable fn) {
        return Newproc.newprocTimer(this, fn);
    }

    /** Its monitor: sysmon. */
    public Monitor monitor() {
        return monitor;
    }

    /** For thread names. */
    public String name() {
        return name;
    }

    /** The name; with a number after it if a scheduler that was live when this was made has that label already. */
    public String label() {
        return label;
    }

    /** The network poller it was made with. */
    public Netpoll netpoll() {
        return netpoll;
    }

    /** The timers it was made with. */
    public Timers timers() {
        return timers;
    }

    /** A virtual thread, not started, that will run on this scheduler's Ps. */
    public Thread newThread(Runnable task) {
        return Stacks.ofTask(this, task).thread;
    }

    /** Counts a goroutine that begins (1) or ends (-1) a wait that something outside of the scheduler ends. */
    public void waitsForOutside(int change) {
        if (config.deadlockDetection()) {
            long _ = Schedt.addNjdkwait(sched, change);
        }
    }

    /** {@code NumGoroutine}. */
    public int gcount() {
        return isStopped() ? 0 : (int) Math.min(Integer.MAX_VALUE, Newproc.gcount(this));
    }

    /** Program mode: main called goexit, so it will not return. */
    public void setMainExited() {
        mainExited = true;
    }

    /** Program mode, on main's stack: main returned. The goroutines that are left count no more: neither a deadlock nor a panic. */
    public void setMainReturned() {
        Ends.letPanicsEnd(GStack.mine());
        mainReturned = true;
    }

    /** Program mode: an exception that ends the program, or a fatal error, is being reported; main does not return any more. */
    public void setPanicking() {
        panicking = true;
    }

    /** Whether it runs all virtual threads of the JVM that name no scheduler. */
    public boolean isInPlaceOfJdk() {
        return inPlaceOfJdk;
    }

    /** With the world stopped: a search for leaks begins, or with null ends. */
    public void hide(@Nullable HiddenStacks stacks) {
        hidden = stacks;
    }

    /** Whether it did. */
    public boolean mainReturned() {
        return mainReturned;
    }

    boolean mainExited() {
        return mainExited;
    }

    /** A timer due at {@code when} was added: the M that watches the timers must not sleep longer. */
    public void wakeNetPoller(long when) {
        Threads.wakeNetPoller(this, when);
    }

    /**
     * The same for a goroutine that has just parked on {@code m}, on g0, with the timer on its P: done only when the M has found
     * something else to run ({@link Machine#untold}). Go wakes another M at once, which sleeps in the poller, while the first finds
     * nothing to run and sleeps too.
     */
    public void wakeNetPollerLater(Machine m, long when) {
        if (M.LOCKEDG.get(m.mp) != 0) {
            wakeNetPoller(when); // The M parks, and its P goes to an M that knows nothing of this timer.
        } else {
            m.untold = FindRunnable.earlier(m.untold, when);
        }
    }

    // Idle-time work

    /**
     * Sets what an M without work calls before it sleeps; it returns whether it found something to run. Null for none. Deadlock
     * detection does not wait for it: the M may be spinning. It must be short: this may be the M that watches the timers.
     */
    public void setIdleHook(@Nullable BooleanSupplier hook) {
        idleHook = hook;
    }

    /** The place where Go runs its GC mark workers: the M has a P and nothing to do. */
    boolean idleWork(Machine m) {
        BooleanSupplier hook = idleHook;
        if (hook == null) {
            return false;
        }
        boolean _ = Thread.interrupted(); // Meant for a goroutine that was here: see JdkThreads.
        try {
            return hook.getAsBoolean();
        } catch (Throw t) {
            throw t; // A call of the runtime found the scheduler corrupt.
        } catch (Throwable t) {
            idleHook = null; // Once is enough: it would be called again at once.
            idleHookThrew(t);
            return false;
        }
    }

    /** The text itself may want memory that is not there, which must not end the M. */
    private static void idleHookThrew(Throwable t) {
        try {
            Stderr.tryPrint("gmp4j: the idle hook threw ", ThrowableText.line(t), " and is off");
        } catch (OutOfMemoryError e) {
            return;
        }
    }

    // Watching

    /**
     * Somebody begins to read the structs, from any thread: they are not recycled until {@link #endReading}.
     *
     * @return false when the scheduler has ended, and there is nothing to end
     */
    public boolean beginReading() {
        return closing.beginReading();
    }

    /** Ends that. */
    public void endReading() {
        closing.endReading();
    }

    /** A thread that looks at the structs: it is interrupted, and waited for, before they are recycled. */
    public void endFirst(Thread t) {
        closing.endFirst(t);
    }

    private volatile @Nullable Runnable everySecond;
    private volatile @Nullable Runnable atStop;

    /** Sets what sysmon calls once a second or so; to be quick, without a lock that user code may hold. Null for nothing. */
    public void setEverySecond(@Nullable Runnable hook) {
        everySecond = hook;
    }

    @Nullable Runnable everySecond() {
        return everySecond;
    }

    /** Sets what is called whenever the world has been stopped, by the thread that stopped it. Null for nothing. */
    public void setAtStop(@Nullable Runnable hook) {
        atStop = hook;
    }

    @Nullable Runnable atStop() {
        return atStop;
    }

    /** Whether it is about to end, or has: {@link #close} was called. */
    public boolean isClosing() {
        return Schedt.CLOSING.getAcquire(sched) != 0;
    }

    // Closing

    /** goexit0, while closing: may have been the last. */
    void exitedWhileClosing() {
        closing.exitedWhileClosing();
    }

    /** Whether there may be no goroutine left, and {@link #signalDrained} is to be called by a thread that may block. */
    boolean mayBeDrained() {
        return closing.mayBeDrained();
    }

    /** From sysmon: wakes whoever waits in {@link #close}. */
    void signalDrained() {
        closing.signalDrained();
    }

    /**
     * Refuses new goroutines from outside and waits for those that live; then ends the Ms.
     *
     * @param nanos how long to wait; negative without limit
     * @return false when goroutines are left and the time is up, or the JVM shuts down and all of them called exit; the
     *     scheduler then still drains
     * @throws IllegalStateException on sysmon
     * @throws OutOfMemoryError when there is no memory for a step of the end: the next close goes on with that
     */
    public boolean close(long nanos) throws InterruptedException {
        return closing.close(nanos);
    }

    /** When {@link #isStopped}: returns when no M of it runs any more. From any thread. */
    public void awaitMs() {
        closing.awaitMs();
    }

    /** Whether no goroutine is left and none can be started, as {@link #close} has ended or is about to. */
    public boolean isStopped() {
        return Schedt.CLOSING.getAcquire(sched) == STOPPED;
    }
}
