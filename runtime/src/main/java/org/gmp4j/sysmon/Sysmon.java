// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.lang.invoke.VarHandle;
import java.util.function.Function;

import org.gmp4j.config.Quantum;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.lock.Note;
import org.gmp4j.lock.SchedLock;
import org.gmp4j.policy.Pacing;
import org.gmp4j.policy.Scan;
import org.gmp4j.policy.ScanBudget;
import org.gmp4j.report.Fatal;
import org.gmp4j.report.SchedTrace;
import org.gmp4j.sched.base.Monitor;
import org.gmp4j.sched.base.Processor;
import org.gmp4j.sched.base.Scheduler;
import org.gmp4j.sched.upkeep.Upkeep;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.stack.OwnThread;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * {@code sysmon}: a thread without a P that watches the Ps and does the work for which no M has time. {@link Pacing} decides how long it
 * sleeps between two scans.
 *
 * <p>Some duties must not wait until a deep sleep ends. For these a thread wakes sysmon: an M that takes a P, startTheWorld, C code that
 * readies a goroutine, {@code Deferred}, {@code UnfinishedSwitches}, {@code Shortage}, and the end of a scheduler. Each of these threads
 * writes a word that sysmon reads for the duty, and then rings the note. Sysmon clears the note and then reads the words ({@link #round},
 * {@link #rested}). So a ring either ends the next sleep, or precedes the clear, and then sysmon sees the word. A duty that has a due time
 * limits the sleep ({@link #untilDue}). Other duties can wait until a P runs something or the sleep ends: sockets that only plain threads
 * use, caches that a collection should empty, slots of threads that a collection has taken, points to disarm, a user of JMX.
 *
 * <p>Its duties:
 *
 * <ul>
 * <li>{@link Retake}, with {@link Strays}, and {@link GcWatch}.
 * <li>When a P is idle and no M is in the poller, it wakes an M that goes to the poller. (Ms that often stay away from the poller for long
 * do that themselves: {@code PollerAbsence}.) It polls the network when no M has polled for 10 ms, or for a quantum if that is shorter.
 * While work waits, it polls only after twice that time, because Ms then poll between slices. A poll may be late by one sleep.
 * <li>It notices when virtual threads begin to wait for descriptors ({@link JdkPollers}).
 * <li>{@link Upkeep}: deadlocks, the times of waits, goroutines that C code readied, and work for which there was no memory or
 * thread. Once a second it also looks for changes of the CPU limits and of the signal handler.
 * <li>{@link SchedTrace} prints its lines.
 * </ul>
 *
 * <p>If there is no memory for a duty, the next scan does it, or, if it has an interval, the first scan after that. Only a bug ends sysmon.
 */
public final class Sysmon implements Monitor {
    /** The kernel time slice that sysmon requests, ns, which is longer than any scan. */
    static final long SLICE = 100_000;
    /** Sysmon polls the network when no M has polled for this long, ns, or for a quantum if that is shorter. */
    private static final long POLL_AFTER = 10_000_000;
    /** When a scan finds that a P is idle and no M has polled for this long, ns, sysmon wakes an M that goes to the poller. */
    private static final long UNWATCHED = 250_000;
    private static final long PROCS_EVERY = 1_000_000_000;
    /** The shortest time between two records of the queues' lengths in a trace, ns. */
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
    private final Scan seen;
    private final Runnable end;
    private final Upkeep upkeep;
    private final WaitTimes waitTimes;
    final Stalls stalls;
    /** The time, ns, without a poll after which sysmon polls. */
    private long pollAfter;
    /** The interval of schedtrace, ns; 0 for none. */
    private final long trace;
    /** The scheduler's quantum at the last scan. */
    private Quantum quantum;
    private final long began = System.nanoTime();
    /** The number of scans in a row that found no work, and the sleep before the next scan, ns. */
    int idle;
    long sleep = Pacing.MIN_SLEEP;
    /** The length, ns, of the present deep sleep, or of the next one, if no duty is due earlier. Sysmon and tests write it. */
    long deepSleep = Pacing.DEEP_SLEEP;
    /** The length of the present or last sleep while all Ps are idle, ns. */
    long sleeps;
    /** The number of sleeps of {@link Pacing#LONG_SLEEP} or longer that no thread has ended; for readers of a heap dump, and tests. */
    int unrung;
    private final ScanBudget budget;
    /** The CPU time of sysmon's thread when it last woke up, ns. */
    long wokenCpu;
    private long lastTrace = began;
    private long lastProcs = began;
    private long lastSecond = began;
    private long lastQueues = began;
    /** The number of times that there was no memory for a duty; for readers of a heap dump. */
    private int noMemory;

    /** Makes the sysmon of a scheduler. */
    public static final Function<Scheduler, Monitor> MAKER = new Maker();

    /** Like Step it is not a lambda, because the JVM would generate a class for each lambda at the start. */
    private record Maker() implements Function<Scheduler, Monitor> {
        @Override
        public Monitor apply(Scheduler s) {
            return new Sysmon(s);
        }
    }

    /** The task of sysmon's thread, or, if {@code last}, the last step of that thread. */
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

    /** Makes the sysmon of a scheduler that is being made. {@link #start} starts its thread. */
    public Sysmon(Scheduler s) {
        this.s = s;
        GcWatch.look(); // This loads the class now, because later there may be no memory for that.
        ArmPoints.rehearse();
        Demand.begin();
        stalls = new Stalls(s.config.debug());
        retake = new Retake(s, stalls);
        seen = retake.seen;
        end = new Step(this, true);
        upkeep = new Upkeep(s);
        waitTimes = new WaitTimes(upkeep, began);
        quantum = s.quantum;
        budget = new ScanBudget(quantum.least(), began);
        setQuantum(quantum);
        trace = s.config.debug().schedtrace() * 1_000_000L;
        thread = new OwnThread(new Step(this, false), s.name() + "-sysmon");
    }

    @Override
    public Watched ofM() {
        return new WatchedM();
    }

    @Override
    public Watched ofP() {
        return new WatchedP();
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

    private void setQuantum(Quantum q) {
        quantum = q;
        retake.setQuantum(q);
        budget.setQuantum(q.least());
        pollAfter = Math.min(q.least(), POLL_AFTER);
    }

    private void run() {
        try {
            duty(BEGIN, began);
            upkeep.open();
            wokenCpu = OsThread.cpuNanos(0); // Leaves out the CPU time of the start, which would lengthen the first sleep.
            while (!upkeep.isOver()) {
                round(); // It is a method, because the JVM compiles a frequently called method earlier than a loop.
            }
            upkeep.close();
            untilDone(end, Schedt.sysmonnoteAddress(s.sched));
        } catch (Throwable t) {
            Fatal.broken(s, t);
        }
    }

    /** Repeats a step until there is memory for it. */
    static void untilDone(Runnable step, long note) {
        for (;;) {
            try {
                step.run();
                return;
            } catch (OutOfMemoryError e) {
                Note.clear(note); // The end of the scheduler has rung the note, so a sleep would end at once.
                boolean _ = Note.sleep(note, Pacing.MAX_SLEEP);
            }
        }
    }

    private void round() {
        long sched = s.sched;
        long note = Schedt.sysmonnoteAddress(sched);
        sleep = Pacing.grown(sleep, idle, seen.inSyscall);
        if (Schedt.CLOSING.getAcquire(sched) != 0 || upkeep.shortageLasts() || !allIdle()) {
            long now = System.nanoTime();
            sleep(note, Math.max(sleepFor(now), leastSleep(now, urgent())));
        } else {
            idle = rest(note) ? 0 : Pacing.BUSY_SCANS;
            sleep = Pacing.MIN_SLEEP;
        }
        Note.clear(note);
        VarHandle.fullFence(); // Precedes the reads of words that threads change before they ring. Partner: the exchange in Note.ring.
        upkeep.drain();
        Quantum present = s.quantum;
        if (present != quantum) {
            setQuantum(present);
        }
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
        if (Schedt.CLOSING.getAcquire(sched) == 0 && allIdle()) {
            duty(STRAYS, now);
            traceWhenDue(now);
            return; // No P is to be retaken, and the other duties could block on a stopped world or its locks.
        }
        idle++;
        duty(POLL, now); // Precedes the scan of Ps, which ends slices for the goroutines that the poll has found.
        duty(RETAKE, now);
        if (now - lastProcs >= PROCS_EVERY) {
            lastProcs = now;
            duty(FOLLOW, now);
        }
        traceWhenDue(now);
    }

    /** Prints schedtrace's next line when it is due. It comes last in a scan, because stderr may be slow. */
    private void traceWhenDue(long now) {
        if (trace > 0 && now - lastTrace >= trace) {
            lastTrace = now;
            duty(TRACE, now);
        }
    }

    /** Does one duty. When there is no memory for a part of it, the next scan does that part. */
    private void duty(int which, long now) {
        try {
            switch (which) {
                case BEGIN -> {
                    upkeep.beginThread();
                    boolean _ = OsThread.setSlice(0, SLICE); // Otherwise sysmon's scans are late when other threads want the CPU.
                    if (trace > 0) { // This links the code now, because later there may be no memory for that.
                        String _ = SchedTrace.text(s, 0, s.config.debug().scheddetail());
                    }
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

    /** Returns the sleep after a scan while a P runs something, ns. The lower limits are not applied yet. */
    long sleepFor(long now) {
        boolean anyIdle = Schedt.NPIDLE.getVolatile(s.sched) != 0;
        return Pacing.sleep(seen, now, sleep, idle == 0, retake.callsStray(), quantum.least(), anyIdle);
    }

    /** Returns the least sleep, ns, after the scan that ends now. */
    long leastSleep(long now, boolean urgent) {
        long awake = OsThread.cpuNanos(0) - wokenCpu;
        long fair = Pacing.fairSleep(awake, urgent);
        if (urgent) {
            return fair;
        }
        if (seen.hasTakenFromSleeper()) {
            budget.renew(now);
        }
        return Math.max(fair, budget.owes(awake + Pacing.SWITCHES, seen.asked(), now));
    }

    /** Returns whether a thread that blocks may hold a P on which work could run. */
    private boolean urgent() {
        return seen.inSyscall || seen.suspected;
    }

    /**
     * Sleeps while a P runs something. A goroutine that enters a system call ends a long sleep. The next scan records the call, and the
     * scan after that takes the P. A recorded call whose P is not needed does not shorten the sleep.
     */
    private void sleep(long note, long nanos) {
        if (!Pacing.isEndedByCalls(nanos, seen.tookFromSyscall())) {
            boolean _ = Note.sleep(note, nanos);
            return;
        }
        Schedt.SYSMONWAIT.setVolatile(s.sched, Schedt.SYSMON_HEARS);
        VarHandle.fullFence(); // Precedes the reads of the statuses. Partner: the volatile store of the status in Syscall.enter.
        if (retake.newSyscall() || Note.sleep(note, nanos)) {
            idle = 0;
            sleep = Pacing.MIN_SLEEP;
        }
        Schedt.SYSMONWAIT.setVolatile(s.sched, 0);
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
     * Sleeps while all Ps are idle. The sleep is light until no P has run anything for the time of a light sleep, and then deep. When a
     * thread ends a deep sleep, a light one follows ({@link #rested}). An M that takes an idle P holds sched.lock, and so sees in
     * sysmonwait which kind of sleep it is.
     *
     * @return whether a thread ended a light sleep, or a P runs something already
     */
    private boolean rest(long note) {
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.CLOSING.getAcquire(sched) != 0 || upkeep.shortageLasts() || !allIdle()) {
            SchedLock.unlock(sched);
            return true; // A thread that reported a shortage since the last check saw sysmonwait 0, and did not ring.
        }
        boolean stopped = Schedt.GCWAITING.getAcquire(sched) != 0;
        long since = idleSince();
        long now = System.nanoTime();
        boolean deep = Pacing.isDeep(stopped, now - since, quantum.least(), retake.callsStray());
        if (deep && !stopped) {
            waitTimes.allIdle(since, now);
        }
        sleeps = deep ? Math.min(deepSleep, untilDue(now)) : Math.max(Pacing.blocked(seen, quantum.least()), leastSleep(now, false));
        Schedt.SYSMONWAIT.setVolatile(sched, deep ? Schedt.SYSMON_SLEEPS : Schedt.SYSMON_RESTS);
        SchedLock.unlock(sched);
        boolean rung = Note.sleep(note, sleeps);
        deepSleep = Pacing.deep(deepSleep, deep && !rung);
        unrung += deep && !rung && sleeps >= Pacing.LONG_SLEEP ? 1 : 0;
        boolean woken = rung && !(deep && rested(note));
        SchedLock.lock(sched);
        Schedt.SYSMONWAIT.setVolatile(sched, 0);
        SchedLock.unlock(sched);
        return woken;
    }

    /**
     * Returns the ns from {@code now} until the first of the duties for which no thread wakes sysmon is due. While all Ps are idle, no new
     * duty of this kind arises.
     */
    private long untilDue(long now) {
        boolean goesOn = waitTimes.goOn() || upkeep.anyLeftovers() || upkeep.anyCollected();
        boolean heldBack = upkeep.deadlockIsHeldBack();
        long nextTrace = trace == 0 ? Long.MAX_VALUE : lastTrace + trace - now;
        long due = Math.min(waitTimes.untilDue(now), nextTrace);
        return Pacing.untilDue(goesOn, due, heldBack, retake.anyStray(), upkeep.bystanderLookIn(now));
    }

    /** Returns the nanoTime from which all Ps have been idle. Called under sched.lock while they are idle. */
    private long idleSince() {
        long since = began;
        for (Processor pr : s.procs()) {
            since = Math.max(since, P.IDLESINCE.get(pr.pp));
        }
        return since;
    }

    /**
     * Sleeps lightly after a thread ended a deep sleep, unless sysmon has work. The thread took a P, or has left work to sysmon. If a
     * thread rang before the clear, the reads below find its work. They do not find a shortage or an unfinished switch, which can wait. If
     * a thread rings after the clear, it ends this sleep. During this sleep sysmonwait is not 0, except when startTheWorld has set it to 0
     * and then rung.
     *
     * @return whether no thread ended this sleep
     */
    boolean rested(long note) {
        long sched = s.sched;
        Note.clear(note);
        Schedt.SYSMONWAIT.setVolatile(sched, Schedt.SYSMON_RESTS);
        VarHandle.fullFence(); // Its partner is the exchange in Note.ring, which follows a thread's write of a word that is read below.
        if (Schedt.CLOSING.getAcquire(sched) != 0 || upkeep.pending() || anyInSyscall()) {
            return false;
        }
        sleeps = Pacing.blocked(seen, quantum.least());
        return !Note.sleep(note, sleeps);
    }

    /**
     * Ensures that the network is polled before a running goroutine has used up its quantum. While a P is idle sysmon wakes an M that goes
     * to the poller, because the M that left the poller runs a goroutine. While no P is idle sysmon polls itself. While work waits, Ms poll
     * at the end of each slice ({@code FindRunnable.pollDue}), and sysmon polls only if no slice ends.
     */
    private void pollNetwork(long now) {
        long last = Schedt.LASTPOLL.getVolatile(s.sched);
        if (last != 0 && now - last > UNWATCHED && Schedt.NPIDLE.getVolatile(s.sched) != 0) {
            upkeep.watchPoller();
        }
        long after = seen.workWaits ? 2 * pollAfter : pollAfter;
        if (last != 0 && now - last > after && s.netpoll().anyWaiters(s) && Schedt.LASTPOLL.compareAndSet(s.sched, last, now)) {
            upkeep.pollNetwork();
        }
    }
}
