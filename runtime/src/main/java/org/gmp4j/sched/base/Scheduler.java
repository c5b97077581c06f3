// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sched.base;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import org.gmp4j.config.Config;
import org.gmp4j.config.Placement;
import org.gmp4j.config.Quantum;
import org.gmp4j.events.Names;
import org.gmp4j.events.Tracer;
import org.gmp4j.events.WaitProfile;
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
import org.gmp4j.struct.Schedt;
import org.gmp4j.struct.Struct;
import org.gmp4j.struct.Throw;
import org.jspecify.annotations.Nullable;

/**
 * One scheduler: its {@code struct schedt} and its objects on the heap. {@code Schedinit} makes it and {@code Closing} ends it.
 */
public final class Scheduler {
    /** A value of {@code sched.closing}: goroutines run to their ends. */
    public static final int DRAINING = 1;
    /** A value of {@code sched.closing}: Ms end. */
    public static final int STOPPED = 2;

    /** The schedulers that are not closed. Replaced by {@code LiveSchedulers}, under its monitor; read by any thread. */
    private static volatile Scheduler[] live = {};

    /** The struct schedt. */
    public final long sched;
    /** The settings. */
    public final Config config;
    /**
     * The present quantum, at first the quantum of the settings. Any thread may replace it; sysmon and Ms may see the old one for a moment.
     */
    public volatile Quantum quantum;
    /** The slots of its Gs. */
    public final GSlots slots = new GSlots(this);
    public final Allp allp;
    public final Allm allm = new Allm(this);
    /** The prefix of its threads' names. */
    public final String name;
    /** See {@link #label()}. Written once, by {@code LiveSchedulers}, before other threads see the scheduler. */
    @SuppressWarnings("NullAway.Init")
    public String label;
    public final Timers timers;
    /** Makes new stacks. */
    public final StackMaker stacks;
    public final JdkContainer goroutines;
    public Netpoll netpoll; // Not final: tests replace it.

    /** The order in which Ms search other Ps. Written by procresize, for the first time before any M runs. */
    @SuppressWarnings("NullAway.Init")
    public volatile VictimOrder victimOrder;
    /** The CPUs of its Ps. Replaced with the world stopped. */
    public volatile Placement placement;
    /** The object of the API that stands for this scheduler; null in program mode. Written once. */
    private volatile @Nullable Object owner;
    /** The tracer; null when it is off. Set with the world stopped, by {@code Tracing}. */
    public volatile @Nullable Tracer tracer;
    /** The names of the places at which goroutines are started, for {@code createsites=1}; else null. */
    public final @Nullable Names places;
    /** A profile of the places at which goroutines waited. */
    public final WaitProfile blockProfile = new WaitProfile();
    /** A profile of the places at which goroutines held locks that others waited for. */
    public final WaitProfile mutexProfile = new WaitProfile();
    /** Not null while a search for leaks is under way. Set and cleared with the world stopped. */
    public volatile @Nullable HiddenStacks hidden;
    /** The number of searches for leaks that have begun. Written with the world stopped. */
    private volatile int leakSearches;
    private volatile @Nullable BooleanSupplier idleHook;
    private volatile boolean mainExited;
    /**
     * Whether an M found all goroutines asleep. Set by Ms before they wake sysmon. Sysmon clears it and then checks for a deadlock
     * ({@link Checkdead}).
     */
    public volatile boolean mayBeDead;
    /**
     * Until this time, by nanoTime, sysmon does not check for a deadlock, because something held its last report off. Written by sysmon.
     */
    public volatile long heldUntil = System.nanoTime();
    private volatile boolean procsByHand;
    private volatile boolean mainReturned;
    /**
     * Whether this scheduler replaces the JDK's, as the default scheduler of virtual threads or as the scheduler of a named pool.
     * {@code DefaultPool} and {@code NamedPools} set it before the first virtual thread runs on this scheduler.
     */
    public volatile boolean inPlaceOfJdk;
    /** In program mode, the number of goroutines whose deferred work runs after an exception: see {@code GoroutineExit}. */
    public final AtomicInteger panicDefers = new AtomicInteger();
    /** Whether, in program mode, an exception that ends the program, or a fatal error, is being reported. */
    public volatile boolean panicking;
    /** When the stop of the world began, how long it took, and its event. Written by the thread that stops the world. */
    public long stopBegan;
    public long stopTook;
    public @Nullable Object stopEvent;
    public final Realtime realtime;
    /** The reason why no M could be made; null when the last attempt succeeded. Set by the thread that tried, cleared by sysmon only. */
    public volatile @Nullable String shortage;
    public final SpareThreads spare;
    public final UnfinishedSwitches leftovers = new UnfinishedSwitches();
    public final Collected collected = new Collected(this);
    public final PollerAbsence pollerAbsence = new PollerAbsence();
    private final Monitor monitor;
    public final Reports reports;
    /** Notes for the thread that closes the scheduler. */
    public final ClosingNotes closing;
    /** Records whether stand-ins ({@link Machine#hasStandIn}) find work, for a latency policy. */
    public final Spin spin = new Spin();
    /** Set while a thread takes a P by a {@link Gate}, which only one thread at a time may do. */
    final AtomicBoolean taker = new AtomicBoolean();

    public Scheduler(String name, Config config, Timers timers, Netpoll netpoll, Function<Scheduler, Monitor> monitor, Reports reports,
            StackMaker stacks, ClosingNotes closing) {
        this.stacks = stacks;
        this.closing = closing;
        this.reports = reports;
        this.config = config;
        this.quantum = new Quantum(config.leastQuantumNanos(), config.quantumNanos());
        this.places = config.debug().createsites() ? new Names() : null;
        this.netpoll = netpoll;
        this.name = name;
        this.realtime = new Realtime(config.realtime(), name);
        this.timers = timers;
        placement = config.placement();
        this.monitor = monitor.apply(this);
        this.sched = Mem.alloc(Struct.SCHEDT, 1);
        boolean made = false;
        try {
            this.allp = new Allp(sched, timers, this.monitor);
            this.spare = new SpareThreads(sched, name);
            this.goroutines = reports.container(name, slots);
            made = true;
        } finally {
            if (!made) {
                Mem.recycle(Struct.SCHEDT, sched);
            }
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
        return List.of(live);
    }

    /**
     * Returns all schedulers that are not closed, in the order in which they were made. A scheduler is in the array twice if there was no
     * memory for a shorter array when another scheduler ended. Allocates nothing, for callers that hold a lock. A caller must not change
     * the array.
     */
    public static Scheduler[] live() {
        return live;
    }

    /** Sets the schedulers that are not closed. */
    public static void setLive(Scheduler[] all) {
        live = all;
    }

    /** Records an event of a goroutine. Called by a thread that has no P of this scheduler. */
    public void traceOutside(int kind, int argument, long gp) {
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
    public Processor proc(long pp) {
        return allp.procs()[P.ID.get(pp)];
    }

    /** {@code GOMAXPROCS(0)}: returns the number of Ps. */
    public int gomaxprocs() {
        return Schedt.GOMAXPROCS.getOpaque(sched);
    }

    /** Returns whether the number of Ps was set by hand. */
    public boolean procsByHand() {
        return procsByHand;
    }

    /** Records that the number of Ps is set by hand, so that sysmon no longer changes it. */
    public void setProcsByHand() {
        procsByHand = true;
    }

    /** Returns the present CPUs of its Ps. */
    public Placement placement() {
        return placement;
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
     * @param marked the goroutine ran its own code and was marked to yield at its next preemption point
     * @param taken the goroutine lost its P at once, by a signal or without one
     * @param idle refused: the M ran no goroutine, or had no P
     * @param locks refused: the goroutine was inside the runtime, and yields by itself when it leaves
     * @param late refused: another goroutine ran on the P by then
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

    /** Records that the calling thread of an M is about to end. */
    public void mexited(Machine m) {
        closing.mexited(m);
    }

    // Parts

    /** Returns its monitor, sysmon. */
    public Monitor monitor() {
        return monitor;
    }

    /** Returns the prefix of its threads' names. */
    public String name() {
        return name;
    }

    /** Returns the name, with a number if another living scheduler had this label when this one was made. */
    public String label() {
        return label;
    }

    /** Returns the network poller. */
    public Netpoll netpoll() {
        return netpoll;
    }

    /** Returns the timers. */
    public Timers timers() {
        return timers;
    }

    // Gs

    /** Counts a goroutine that begins ({@code change} is 1) or ends (-1) a wait that something outside of the scheduler ends. */
    public void waitsForOutside(int change) {
        if (config.deadlockDetection()) {
            long _ = Schedt.addNjdkwait(sched, change);
        }
    }

    /** {@code NumGoroutine}: returns the number of goroutines; 0 once the scheduler has ended. */
    public int gcount() {
        return isStopped() ? 0 : (int) Math.min(Integer.MAX_VALUE, Gcount.gcount(this));
    }

    /** Records, in program mode, that main called goexit and will not return. */
    public void setMainExited() {
        mainExited = true;
    }

    /** Records, in program mode, that main returned. From then on goroutines cause no report of a deadlock or panic. */
    public void setMainReturned() {
        mainReturned = true;
    }

    /** Records, in program mode, that an exception that ends the program, or a fatal error, is being reported. Main no longer returns. */
    public void setPanicking() {
        panicking = true;
    }

    /** Begins a search for leaks, or ends it if {@code stacks} is null. Called with the world stopped. */
    public void hide(@Nullable HiddenStacks stacks) {
        hidden = stacks;
        if (stacks != null) {
            leakSearches++; // After hidden: see leakSearches().
        }
    }

    /** Returns whether a search for leaks is under way, so that stacks may lack their frames. */
    public boolean hidesStacks() {
        return hidden != null;
    }

    /**
     * Returns the number of searches for leaks that have begun. Suppose a thread reads this number, then finds that stacks are not hidden,
     * then reads stacks, and then reads the same number. Then no stack lacked its frames when the thread read it.
     */
    public int leakSearches() {
        return leakSearches;
    }

    /** Returns whether main has returned: see {@link #setMainReturned}. */
    public boolean mainReturned() {
        return mainReturned;
    }

    public boolean mainExited() {
        return mainExited;
    }

    // Idle-time work

    /**
     * Sets the hook that an M without work calls before it sleeps; null for none. The hook returns whether there may be a G to run now.
     * A deadlock may be reported while the hook runs, because the M may be spinning, and sysmon's check ignores Ms that spin. The hook must
     * be short, because the M may have to watch the timers.
     */
    public void setIdleHook(@Nullable BooleanSupplier hook) {
        idleHook = hook;
    }

    /**
     * Calls the idle hook, if there is one, on an M that has a P and no work. Go runs its GC mark workers here.
     *
     * @return whether the hook says that there may be a G to run
     */
    public boolean idleWork() {
        BooleanSupplier hook = idleHook;
        if (hook == null) {
            return false;
        }
        boolean _ = Thread.interrupted(); // Clears an interrupt of a goroutine that ran on this thread: see JdkThreads.
        try {
            return hook.getAsBoolean();
        } catch (Throw t) {
            throw t; // The hook called the runtime, which found the scheduler corrupt.
        } catch (Throwable t) {
            idleHook = null; // Otherwise it would be called at once, and fail again.
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

    /**
     * Registers a thread that reads the structs. The closing thread interrupts it, and waits for its end, before the structs are recycled.
     */
    public void endFirst(Thread t) {
        closing.endFirst(t);
    }

    private volatile @Nullable Runnable everySecond;
    private volatile @Nullable Runnable atStop;

    /** Sets the hook that sysmon calls about once a second; null for none. It must be quick, and take no lock that user code may hold. */
    public void setEverySecond(@Nullable Runnable hook) {
        everySecond = hook;
    }

    public @Nullable Runnable everySecond() {
        return everySecond;
    }

    /** Sets the hook that is called whenever the world has been stopped, by the thread that stopped it; null for none. */
    public void setAtStop(@Nullable Runnable hook) {
        atStop = hook;
    }

    public @Nullable Runnable atStop() {
        return atStop;
    }

    // Closing

    /** Returns whether a close was called, so that the scheduler is about to end or has ended. */
    public boolean isClosing() {
        return Schedt.CLOSING.getAcquire(sched) != 0;
    }

    /** Records that a goroutine, perhaps the last, has ended while the scheduler is closing. Called by goexit0. */
    public void exitedWhileClosing() {
        closing.exitedWhileClosing(this);
    }

    /** Returns whether the last goroutine may have ended. If so, a thread that may block has to call {@link #signalDrained}. */
    public boolean mayBeDrained() {
        return closing.mayBeDrained();
    }

    /** Wakes the threads that close the scheduler. Called by sysmon. */
    public void signalDrained() {
        closing.signalDrained();
    }

    /** Returns whether no goroutine is left and none can be started, because the close has ended the scheduler or is about to. */
    public boolean isStopped() {
        return Schedt.CLOSING.getAcquire(sched) == STOPPED;
    }
}
