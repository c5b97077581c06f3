// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.lang.invoke.VarHandle;
import java.util.function.Function;

import org.gmp4j.ffi.OsThread;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.proc.Monitor;
import org.gmp4j.proc.Processor;
import org.gmp4j.proc.Scheduler;
import org.gmp4j.proc.Upkeep;
import org.gmp4j.report.Fatal;
import org.gmp4j.report.SchedTrace;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * {@code sysmon}: a thread without a P that looks after the others. How long it sleeps between two looks:
 *
 * <pre>
 *  while                                           it sleeps                          and is woken by
 *  a P is in a system call, or the start of a      20 µs, doubling to 10 ms; with a   a system call: see below
 *    time slice is not known                         system call doubling only after
 *                                                    50 rounds without work
 *  a P runs a goroutine, its slice is timed        until the quantum ends             the same
 *    ({@link SliceClock}: where slices are few)
 *  a P runs a goroutine, not timed                 half a quantum while work waits,   the same
 *                                                    else a quarter
 *  a P is idle, no M is in the poller              half a millisecond                 the same
 *  a goroutine has had its quantum                 a quarter of a quantum, or 0.25 ms the same
 *                                                    if that is longer
 *  the same, nobody waits and a P is idle, and     a quantum, 0.5 to 1 ms, if that    the same
 *    no thread fell asleep with a P in a second      is longer
 *  a goroutine was told to yield                   as little as these two allow,      the same
 *                                                    for half a millisecond at most;
 *                                                    0.25 ms if the M's last one came
 *                                                    to a point by itself
 *  a thread was seen asleep with a P               100 µs at most, once               the same
 *  a thread may fall asleep with a P               as in a rest; half a millisecond,  the same
 *                                                    if one did within a second, and work
 *                                                    waits or no P is idle
 *  all Ps are idle, or a deep sleep was ended:     a quantum, 0.5 to 5 ms             a system call; when it has paid for
 *    it rests                                                                           its last look, work that is
 *                                                                                       queued while no P is idle
 *  all Ps were idle for a rest, or the world is    60 ms; each time that nothing woke anything that runs, or that leaves
 *    stopped: it sleeps deeply                       it twice as long, up to 10 s;      work to sysmon
 *                                                    or until a duty is due
 * </pre>
 *
 * The shortest that applies counts, but it never sleeps less than {@link #fairSleep} asks after a look, nor, unless a CPU is free ({@link
 * #urgent}), than {@link LookBudget} asks: some 1.25 ms while the quantum is 10 ms, once what it saved is used up. A goroutine that
 * enters a system call wakes it from a rest always; from other sleeps only if they are not shorter than 100 µs, and
 * within 20 ms after a P was taken from a system call.
 *
 * <p>Go's sysmon sleeps deeply as soon as all Ps are idle. Where goroutines run now and then, as in a service at low load, waking it for
 * each took as much time as the goroutines. So it sleeps deeply when nothing ran for a rest, and rests when something ended a deep sleep:
 * never much more often than once a rest, and seldom rung.
 *
 * <p>In a deep sleep each duty that must not wait has a thread that rings: an M that takes a P, startTheWorld, C code with a goroutine
 * to ready, {@code Deferred}, {@code Leftovers}, {@code Shortage}, and a scheduler that ends. Each of them changes its word and then
 * rings the note; sysmon clears the note and then reads the words ({@link #round}, {@link #rested}). So a ring either ends the next sleep,
 * or came before the clear, and then the word is seen. Duties with a time limit the sleep ({@link #untilDue}). The others can wait for
 * something to run, or for the growing sleep to end: sockets that only plain threads use, caches that a collection should empty, slots
 * of threads that a collection has taken, points to disarm, a user of JMX.
 *
 * <p>Each look costs some 30 µs of CPU time where all threads share one CPU: two switches, and cache misses after them; while the program
 * is young, and a look is interpreted, 100. These rules avoid looks: 3,700 of them a second took 13 % of a CPU beside a service.
 *
 * <p>Its duties:
 *
 * <ul>
 * <li>{@link Retake}, with {@link Strays}, and {@link GcWatch}.
 * <li>While a P is idle, a wake-up for an M that goes to the poller when none is there; and a poll of the network when none was made for
 * 10 ms or a quantum, whichever is shorter; while work waits, for two of these, since Ms then poll between slices. Sysmon looks at that
 * only when it wakes up anyway, so a poll may be late by one of its sleeps.
 * <li>Whether sockets are about to be used ({@link JdkPollers}).
 * <li>What the loop leaves to it ({@link Upkeep}): deadlocks, since when each goroutine has waited, goroutines that C code readied,
 * schedtrace, and what could not be done for want of memory or threads; once a second the machine's CPU limits, and whether the signal
 * handler is still ours.
 * </ul>
 *
 * <p>A duty for which there is no memory waits for the next look: only a bug ends sysmon.
 */
public final class Sysmon implements Monitor {
    /** The kernel's time slices for it, of which it never needs a whole one. */
    static final long SLICE = 100_000;
    private static final long MIN_SLEEP = 20_000;
    /** What the kernel counts for a look, ns, beside the time that sysmon measures itself: two switches, the futex, a timer. */
    static final long SWITCHES = 20_000;
    static final long MAX_FAIR_SLEEP = 200_000;
    /** How many threads are assumed to want sysmon's CPU: a goroutine that does not yield, compiler threads. */
    static final int OTHERS = 3;
    private static final long MAX_SLEEP = 10_000_000;
    private static final int BUSY_ROUNDS = 50;
    /** So often it looks in a quantum: while a P has work waiting and it is not known when it ends; and while nothing waits. */
    private static final int QUANTUM_LOOKS = 2;
    static final int BUSY_LOOKS = 4;
    /** At most so many nanoseconds are between two looks while work waits, or no P is idle, if threads fall asleep. */
    static final long WORK_SLEEP = 500_000;
    /** System calls wake it from sleeps that are not shorter than this, ns. */
    private static final long HEARD_SLEEP = 100_000;
    /** And between the two looks at a thread that seems to sleep in the kernel. */
    private static final long SUSPECT_SLEEP = 100_000;
    private static final long MAX_REST = 5_000_000;
    /** The first deep sleep, and the longest. */
    private static final long DEEP_SLEEP = 6 * MAX_SLEEP;
    private static final long DEEPEST_SLEEP = 1_000 * MAX_SLEEP;
    /** A sleep that began without a ring for many seconds: of a process that is idle. */
    static final long LONG_SLEEP = DEEPEST_SLEEP / 2;
    /** The longest deep sleep while nothing would ring for a stray that comes to a point, or for the end of what holds a deadlock back. */
    private static final long UNRUNG_SLEEP = 100 * MAX_SLEEP;
    /** When the network was not polled for this long, ns, or for a quantum if that is less, sysmon polls it. */
    private static final long POLL_AFTER = 10_000_000;
    /** While a P is idle, and no M is in the poller, for so long, ns, an M is woken to go there. */
    private static final long UNWATCHED = 500_000;
    private static final long PROCS_EVERY = 1_000_000_000;
    /** How often, at most, the lengths of the queues are written to a trace, ns. */
    private static final long QUEUES_EVERY = 1_000_000;

    // Its duties.
    private static final int BEGIN = 0;
    private static final int LEFTOVERS = 1;
    private static final int SHORTAGE = 2;
    private static final int CHECKDEAD = 3;
    private static final int WATCH_GC = 4;
    private static final int TIME_WAITS = 5;
    private static final int STRAYS = 6;
    private static final int RETAKE = 7;
    private static final int POLL = 8;
    private static final int FOLLOW = 9;
    private static final int TRACE = 10;
    private static final int SOCKETS = 11;
    private static final int SECOND = 12;
    private static final int COLLECTED = 13;

    private final Scheduler s;
    private final Thread thread;
    final Retake retake;
    private final Runnable end;
    private final Upkeep upkeep;
    private final WaitTimes waitTimes;
    final Stalls stalls;
    /** How long it rests, and for how long nobody has polled the network before it does; how often schedtrace prints, 0 for never. */
    private final long restNanos;
    private final long pollAfter;
    private final long trace;
    private final long began = System.nanoTime();
    /** Rounds without work, and how long it sleeps before the next. */
    int idle;
    long sleep = MIN_SLEEP;
    /** How long its next deep sleep lasts, if no duty is due earlier; and the one under way. Its own; tests write and read them. */
    long deepSleep = DEEP_SLEEP;
    long sleeps;
    /** How many of the longest sleeps nothing ended; for readers of a heap dump, and tests. */
    int unrung;
    private final LookBudget budget;
    /** Its thread's CPU time when it last woke up. */
    private long wokenCpu;
    private long lastTrace = began;
    private long lastProcs = began;
    private long lastSecond = began;
    private long lastQueues = began;
    /** How often there was no memory for a duty; for readers of a heap dump. */
    private int noMemory;

    /** Makes that of a scheduler. */
    public static final Function<Scheduler, Monitor> MAKER = new Maker();

    /** Not a lambda, like those below: the JVM would have to generate a class for each at its start. */
    private record Maker() implements Function<Scheduler, Monitor> {
        @Override
        public Monitor apply(Scheduler s) {
            return new Sysmon(s);
        }
    }

    /** What its thread does; {@code last}: what it does at its end. */
    private record Step(Sysmon of, boolean last) implements Runnable {
        @Override
        public void run() {
            if (last) {
                of.retake.close();
            } else {
                of.run();
            }
        }
    }

    /** Of a scheduler that is being made. */
    public Sysmon(Scheduler s) {
        this.s = s;
        GcWatch.look(); // Loaded now: later there may be no memory for that.
        Demand.begin();
        stalls = new Stalls(s.config.debug());
        retake = new Retake(s, stalls);
        end = new Step(this, true);
        upkeep = new Upkeep(s);
        waitTimes = new WaitTimes(upkeep, began);
        restNanos = Math.clamp(s.config.quantumNanos(), WORK_SLEEP, MAX_REST);
        pollAfter = Math.min(s.config.leastQuantumNanos(), POLL_AFTER);
        budget = new LookBudget(s.config.leastQuantumNanos(), began);
        trace = s.config.debug().schedtrace() * 1_000_000L;
        thread = new OwnThread(new Step(this, false), s.name() + "-sysmon");
    }

    /** Has the JVM load, while there is memory, what sysmon does seldom. Once a process, before there are goroutines. */
    public static void rehearse() {
        ArmPoints.rehearse();
    }

    @Override
    public Watched ofM() {
        return new WatchedM();
    }

    @Override
    public Watched ofP() {
        return new Request();
    }

    @Override
    public void start() {
        thread.start();
    }

    @Override
    public Thread stop() {
        Note.ring(Schedt.sysmonnoteAddress(s.sched));
        return thread;
    }

    @Override
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    private void run() {
        try {
            duty(BEGIN, began);
            upkeep.open();
            wokenCpu = OsThread.cpuNanos(0); // Not what its start took: its first sleep would be a long one.
            while (!upkeep.isOver()) {
                round(); // A method that is called is compiled after some seconds, a loop after half a minute.
            }
            upkeep.close();
            untilDone(end, Schedt.sysmonnoteAddress(s.sched));
        } catch (Throwable t) {
            Fatal.broken(s, t);
        }
    }

    /** Does it, again and again while there is no memory for it. */
    static void untilDone(Runnable step, long note) {
        for (;;) {
            try {
                step.run();
                return;
            } catch (OutOfMemoryError e) {
                Note.clear(note); // It was rung for the end: there would be no sleep.
                boolean _ = Note.sleep(note, MAX_SLEEP);
            }
        }
    }

    private void round() {
        long sched = s.sched;
        long note = Schedt.sysmonnoteAddress(sched);
        if (idle == 0) {
            sleep = MIN_SLEEP;
        } else if (idle > BUSY_ROUNDS || !retake.inSyscall()) {
            sleep = Math.min(sleep * 2, MAX_SLEEP);
        }
        if (trace > 0 || Schedt.CLOSING.getAcquire(sched) != 0 || upkeep.shortageLasts() || !allIdle()) {
            long now = System.nanoTime();
            sleep(note, Math.max(sleepFor(now), leastSleep(now, urgent())));
        } else {
            idle = rest(note) ? 0 : BUSY_ROUNDS;
            sleep = MIN_SLEEP;
        }
        Note.clear(note);
        VarHandle.fullFence(); // Before all that a thread which rings may have changed. Its side: the exchange in Note.ring.
        upkeep.drain();
        long now = System.nanoTime();
        wokenCpu = OsThread.cpuNanos(0);
        duty(SOCKETS, now);
        duty(LEFTOVERS, now);
        duty(COLLECTED, now);
        if (now - lastQueues >= QUEUES_EVERY) {
            lastQueues = now;
            upkeep.traceQueues();
        }
        duty(SHORTAGE, now);
        duty(CHECKDEAD, now);
        duty(WATCH_GC, now);
        duty(TIME_WAITS, now);
        if (now - lastSecond >= PROCS_EVERY) {
            lastSecond = now;
            duty(SECOND, now);
        }
        if (trace == 0 && Schedt.CLOSING.getAcquire(sched) == 0 && allIdle()) {
            duty(STRAYS, now);
            return; // Nothing to retake, and what follows may wait for a stopped world or for a lock that it holds.
        }
        idle++;
        duty(POLL, now); // Before the look at Ps: time slices may have to end for the goroutines that it finds.
        duty(RETAKE, now);
        if (now - lastProcs >= PROCS_EVERY) {
            lastProcs = now;
            duty(FOLLOW, now);
        }
        if (trace > 0 && now - lastTrace >= trace) {
            lastTrace = now;
            duty(TRACE, now);
        }
    }

    /** One of its duties; when there is no memory for it, or for a part of it, that is left for the next look. */
    private void duty(int which, long now) {
        try {
            switch (which) {
                case BEGIN -> {
                    upkeep.beginThread();
                    boolean _ = OsThread.setSlice(0, SLICE); // Or its look comes late where others want the CPU too.
                }
                case SOCKETS -> JdkPollers.look();
                case LEFTOVERS -> upkeep.leftovers();
                case COLLECTED -> upkeep.collected();
                case SHORTAGE -> upkeep.shortage(now);
                case CHECKDEAD -> upkeep.checkdead(now);
                case WATCH_GC -> GcWatch.look();
                case TIME_WAITS -> waitTimes.look(now);
                case STRAYS -> retake.lookForStrays(now);
                case RETAKE -> idle = retake.look(now) ? 0 : idle;
                case POLL -> pollNetwork(now);
                case FOLLOW -> upkeep.follow();
                case SECOND -> {
                    Demand.begin();
                    upkeep.everySecond();
                }
                default -> SchedTrace.print(s, now - began);
            }
        } catch (OutOfMemoryError e) {
            noMemory++;
        }
    }

    /**
     * While a goroutine runs, not so long that the beginning of its time slice would be off by much; and while no P is idle,
     * not so long that what comes next would wait long behind a thread that fell asleep.
     */
    long sleepFor(long now) {
        boolean soon = idle == 0 || retake.inSyscall() || retake.suspected() || !retake.exact();
        long usual = soon || !retake.busy() ? sleep : MAX_SLEEP;
        usual = retake.callsStray() ? Math.min(usual, WORK_SLEEP) : usual;
        if (retake.workWaits()) {
            long most = Math.min(seldom(), Math.max(MIN_SLEEP, retake.untilOver(now)));
            most = retake.exact() ? most : Math.min(most, Math.max(retake.shortestSlice() / QUANTUM_LOOKS, MIN_SLEEP));
            return Math.min(usual, retake.suspected() ? Math.min(most, SUSPECT_SLEEP) : most);
        }
        if (!retake.busy()) {
            return usual;
        }
        long most = retake.exact() ? retake.untilOver(now) : s.config.quantumNanos() / BUSY_LOOKS;
        most = Math.max(most, MIN_SLEEP);
        return Math.min(usual, Math.min(most, Schedt.NPIDLE.getVolatile(s.sched) == 0 ? seldom() : unwatched() ? UNWATCHED : restNanos));
    }

    /** Whether a P is idle, and no M sleeps in the network poller though goroutines wait for what would be found there. */
    private boolean unwatched() {
        return Schedt.NPIDLE.getVolatile(s.sched) != 0 && Schedt.LASTPOLL.getVolatile(s.sched) != 0 && s.netpoll().anyWaiters(s);
    }

    /** How long it sleeps at least after the look that ends. */
    private long leastSleep(long now, boolean urgent) {
        long awake = OsThread.cpuNanos(0) - wokenCpu;
        long fair = fairSleep(awake, urgent);
        return urgent ? fair : Math.max(fair, budget.owes(awake + SWITCHES, now));
    }

    /** Whether a P lies idle, or with a thread that blocks, while something might run on it. */
    private boolean urgent() {
        return retake.inSyscall() || retake.suspected() || unwatched();
    }

    /** How long a thread that falls asleep with a P may keep it before the first look. */
    private long seldom() {
        return retake.tookFromSleeper() ? WORK_SLEEP : restNanos;
    }

    /**
     * Sleeps while something runs. If the sleep is long, a goroutine that enters a system call ends it: one look then notes the call,
     * and the next, soon after, takes its P. A call that was noted already, and whose P is not needed, does not shorten the sleep.
     */
    private void sleep(long note, long nanos) {
        if (nanos < HEARD_SLEEP || !retake.tookFromSyscall()) {
            boolean _ = Note.sleep(note, nanos);
            return;
        }
        Schedt.SYSMONWAIT.setVolatile(s.sched, Schedt.SYSMON_HEARS);
        VarHandle.fullFence(); // As in rested.
        if (retake.newSyscall() || Note.sleep(note, nanos)) {
            idle = 0;
            sleep = MIN_SLEEP;
        }
        Schedt.SYSMONWAIT.setVolatile(s.sched, 0);
    }

    /**
     * How many nanoseconds it sleeps at least after it had a CPU for {@code awake}, so that the kernel gives it the CPU at once when it
     * wakes up. Linux does that for a thread with short slices unless it is ahead of its fair share; then it decides again at the next
     * tick, which may be 4 ms away. Beside n threads that want the same CPU sysmon is ahead until each of them has run as long as it has.
     * Without this, sleeps of 20 µs after looks of 40 made sysmon wait for 2 to 4 ms beside every second goroutine that ran for 5 ms. A
     * thread that wakes it before that does harm: it waits for the tick all the same, and the timer that would have woken it in time is
     * gone ({@link Scheduler#monitorPaidAt}).
     *
     * @param urgent whether a CPU is free, such as that of a thread that blocks
     */
    static long fairSleep(long awake, boolean urgent) {
        return Math.min((awake + SWITCHES) * (urgent ? 1 : OTHERS), MAX_FAIR_SLEEP);
    }

    private boolean anyInSyscall() {
        for (Processor pr : s.procs()) {
            if (PStatus.get(pr.pp) == PStatus.PSYSCALL) {
                return true;
            }
        }
        return false;
    }

    private boolean allIdle() {
        long sched = s.sched;
        return Schedt.GCWAITING.getAcquire(sched) != 0
                || Schedt.NPIDLE.getVolatile(sched) == Schedt.GOMAXPROCS.getOpaque(sched);
    }

    /**
     * Nothing runs. Rests, or sleeps deeply when nothing has run for a rest, and rests when that ends. An M that takes an idle P takes
     * sched.lock for it, and so sees which of the two it is.
     *
     * @return whether a rest was ended by a ring; or something runs already
     */
    private boolean rest(long note) {
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.CLOSING.getAcquire(sched) != 0 || upkeep.shortageLasts() || !allIdle()) {
            SchedLock.unlock(sched);
            return true; // A shortage that began since lasts() was asked found sysmonwait 0, and did not ring.
        }
        boolean stopped = Schedt.GCWAITING.getAcquire(sched) != 0;
        long since = idleSince();
        long now = System.nanoTime();
        boolean deep = stopped || now - since >= restNanos && !retake.callsStray();
        if (deep && !stopped) {
            waitTimes.allIdle(since, now);
        }
        sleeps = deep ? Math.min(deepSleep, untilDue(now)) : restNanos;
        s.monitorPaidAt = retake.tookFromSleeper() ? now : now + leastSleep(now, false); // One that blocks wants no CPU.
        Schedt.SYSMONWAIT.setVolatile(sched, deep ? Schedt.SYSMON_SLEEPS : Schedt.SYSMON_RESTS);
        SchedLock.unlock(sched);
        boolean rung = Note.sleep(note, sleeps);
        deepSleep = deep && !rung ? Math.min(2 * deepSleep, DEEPEST_SLEEP) : DEEP_SLEEP;
        unrung += deep && !rung && sleeps >= LONG_SLEEP ? 1 : 0;
        boolean woken = rung && !(deep && rested(note));
        SchedLock.lock(sched);
        Schedt.SYSMONWAIT.setVolatile(sched, 0);
        SchedLock.unlock(sched);
        return woken;
    }

    /** Nanoseconds from {@code now} until a duty is due for which nothing rings. While nothing runs, nothing new becomes due. */
    private long untilDue(long now) {
        if (waitTimes.goOn() || upkeep.anyLeftovers() || upkeep.anyCollected()) {
            return DEEP_SLEEP; // It goes on with these at each look.
        }
        long due = Math.max(MIN_SLEEP, waitTimes.untilDue(now));
        boolean heldBack = upkeep.deadlockIsHeldBack();
        if (heldBack || retake.anyStray()) {
            due = Math.min(due, UNRUNG_SLEEP);
        }
        long look = upkeep.bystanderLookIn(now);
        return heldBack && look > 0 ? Math.min(due, Math.max(MIN_SLEEP, look)) : due;
    }

    /** Since when all Ps have been idle, while they are; under the lock. */
    private long idleSince() {
        long since = began;
        for (Processor pr : s.procs()) {
            since = Math.max(since, P.IDLESINCE.get(pr.pp));
        }
        return since;
    }

    /**
     * Something took a P, or wants sysmon: rests first, unless there is something to do. What rang before the clear
     * is seen below, but for a shortage, which is in no hurry; what rings later ends this. sysmonwait is not 0 meanwhile,
     * or startTheWorld has made it so, and rung after the clear.
     *
     * @return whether it slept as long as it meant to
     */
    private boolean rested(long note) {
        long sched = s.sched;
        Note.clear(note);
        s.monitorPaidAt = System.nanoTime() + fairSleep(0, false);
        Schedt.SYSMONWAIT.setVolatile(sched, Schedt.SYSMON_RESTS);
        VarHandle.fullFence(); // The other side's is between what is read below and the ring.
        if (Schedt.CLOSING.getAcquire(sched) != 0 || upkeep.pending() || anyInSyscall()) {
            return false;
        }
        return !Note.sleep(note, restNanos);
    }

    /**
     * Sees that what comes from the network is not left until a goroutine has had its quantum. The M that left the poller with a goroutine
     * runs that; while a P is idle another M is woken to go to the poller. (That M could wake the other itself, as it leaves: then a
     * request that needs 50 µs would cost a wake-up of 10.) With no P idle sysmon polls; while work waits, Ms poll as each slice ends
     * ({@code FindRunnable.pollDue}), unless none ends.
     */
    private void pollNetwork(long now) {
        long last = Schedt.LASTPOLL.getVolatile(s.sched);
        if (last != 0 && now - last > UNWATCHED / 2 && Schedt.NPIDLE.getVolatile(s.sched) != 0) {
            upkeep.watchPoller();
        }
        long after = retake.workWaits() ? 2 * pollAfter : pollAfter;
        if (last != 0 && now - last > after && s.netpoll().anyWaiters(s) && Schedt.LASTPOLL.compareAndSet(s.sched, last, now)) {
            upkeep.pollNetwork();
        }
    }
}
