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
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * {@code sysmon}: a thread without a P that looks after the others. While a P is in a system call, or it is not known when a time
 * slice began, it sleeps 20 µs, doubling to 10 ms; with a system call it begins to double only after 50 rounds without work. It never
 * sleeps less than {@link #fairSleep} asks after a look. While all Ps are idle it rests for a quantum, 0.5 to 2.5 ms, or until one
 * enters a system call, or work is queued while no P is idle. When they have been idle for a millisecond, or the world is stopped, it
 * sleeps deeply: for 60 ms, or until anything runs. (Go's sleeps so at once. Where goroutines run now and then, as in a service at low
 * load, waking sysmon for each took as much time as the goroutines.) After a deep sleep it dozes for a quantum, at most a bit more than
 * a millisecond, or until a system call: as a rule all has been idle again for a millisecond then, and it can sleep deeply at once.
 *
 * <p>While a P runs a goroutine it looks when the quantum ends, which it knows exactly of slices that are timed, and where slices are
 * few they are ({@link SliceClock}); else twice in a quantum while work waits, and four times while none does. A goroutine that has had
 * its quantum is looked at every quarter of one. When sysmon has told one to yield it looks again as soon as {@link #fairSleep} lets it,
 * until that has done so, for half a millisecond at most.
 * A thread that it sees asleep it looks at again after 100 µs at most. So that a thread that falls asleep with a P loses
 * it, it looks as often as it rests, or, when one did so within a second, every half a millisecond. And within 20 ms after
 * a P was taken from a system call, whoever enters the next rings for it.
 *
 * <p>Each look costs some 30 µs of CPU time where all threads share one CPU: two switches, and what the caches lose. That is
 * what these rules save. 3,700 of them a second were 13 % of a CPU beside a service.
 *
 * <p>Its duties:
 *
 * <ul>
 * <li>{@link Retake}, {@link Strays} among it, and {@link GcWatch}.
 * <li>A poll of the network when nobody has polled it for 10 ms or a quantum, whichever is shorter; while work waits, for two of these,
 * since Ms then poll between slices. It is looked at when sysmon wakes up anyway, so it may be later by one of its sleeps.
 * <li>Whether sockets are about to be used ({@link JdkPollers}).
 * <li>What the loop leaves to it ({@link Upkeep}): deadlocks, since when each goroutine has waited, what C code readied, schedtrace,
 * once a second the machine's CPU limits and whether the signal is still ours, and what could not be done for want of memory or threads.
 * </ul>
 *
 * <p>Where there is no memory for a duty itself, it waits for the next look: only a bug ends sysmon.
 */
public final class Sysmon implements Monitor {
    /** The kernel's time slices for it, of which it never needs a whole one. */
    static final long SLICE = 100_000;
    private static final long MIN_SLEEP = 20_000;
    /** What a look takes besides the time that it sees itself: two switches, the futex, a timer. */
    static final long SWITCHES = 20_000;
    static final long MAX_FAIR_SLEEP = 200_000;
    /** So many threads are taken to want its CPU: the hog, compiler threads. */
    static final int OTHERS = 4;
    private static final long MAX_SLEEP = 10_000_000;
    private static final int BUSY_ROUNDS = 50;
    /** So often it looks in a quantum: while a P has work waiting and it is not known when it ends; and while nothing waits. */
    private static final int QUANTUM_LOOKS = 2;
    static final int BUSY_LOOKS = 4;
    /** At most so many nanoseconds are between two looks while work waits, or no P is idle, if threads fall asleep. */
    private static final long WORK_SLEEP = 500_000;
    /** It is rung by system calls in sleeps that are not shorter than this. */
    private static final long HEARD_SLEEP = 100_000;
    /** And between the two looks at a thread that seems to sleep in the kernel. */
    private static final long SUSPECT_SLEEP = 100_000;
    private static final long MAX_REST = 2_500_000;
    private static final long DEEP_AFTER = 1_000_000;
    private static final long DEEP_SLEEP = 6 * MAX_SLEEP;
    /** How long it dozes at most. */
    private static final long DOZE = DEEP_AFTER * 5 / 4;
    /** Without a poll of the network for so long, or for a quantum if that is less, it polls itself. */
    private static final long POLL_AFTER = 10_000_000;
    private static final long PROCS_EVERY = 1_000_000_000;
    /** A trace has the lengths of the queues at most so often. */
    private static final long QUEUES_EVERY = 1_000_000;
    /** So far off, in nanoseconds, are the minutes that a traceback says somebody waits. */
    private static final long WAITS_EVERY = 20_000_000_000L;

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

    private final Scheduler s;
    private final Thread thread;
    private final Retake retake;
    private final Runnable end;
    private final Upkeep upkeep;
    final Stalls stalls;
    /** How long it sleeps at most while work waits, and rests; how often schedtrace prints, 0 for never. */
    private final long workSleep;
    private final long restNanos;
    private final long pollAfter;
    private final long trace;
    private final long began = System.nanoTime();
    /** Rounds without work, and how long it sleeps before the next. */
    private int idle;
    private long sleep = MIN_SLEEP;
    /** When it last woke up. */
    private long woken = began;
    private long lastTrace = began;
    private long lastProcs = began;
    private long lastSecond = began;
    private long lastQueues = began;
    /** How often there was no memory for a duty; for whoever looks into a heap dump. */
    private int noMemory;
    /** When it last began to look who waits, and how far it has come: 0 when it has ended. */
    private long lastWaits = began;
    private int waits;

    /** Makes that of a scheduler. */
    public static final Function<Scheduler, Monitor> MAKER = new Maker();

    /** No lambda, as those below: each is a class that the JVM would generate as it starts. */
    private record Maker() implements Function<Scheduler, Monitor> {
        @Override
        public Monitor apply(Scheduler s) {
            return new Sysmon(s);
        }
    }

    /** What its thread does, or the end of that. */
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
        stalls = new Stalls(s.config.debug());
        retake = new Retake(s, stalls);
        end = new Step(this, true);
        upkeep = new Upkeep(s);
        workSleep = Math.max(s.config.leastQuantumNanos() / QUANTUM_LOOKS, MIN_SLEEP);
        restNanos = Math.clamp(s.config.quantumNanos(), WORK_SLEEP, MAX_REST);
        pollAfter = Math.min(s.config.leastQuantumNanos(), POLL_AFTER);
        trace = s.config.debug().schedtrace() * 1_000_000L;
        thread = new Thread(null, new Step(this, false), s.name() + "-sysmon", 0, false);
        thread.setDaemon(true);
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

    private void run() {
        try {
            duty(BEGIN, began);
            upkeep.open();
            while (!upkeep.isOver()) {
                round(); // A method that is called is compiled after some seconds, a loop after half a minute.
            }
            upkeep.close();
            untilDone(end, Schedt.sysmonnoteAddress(s.sched));
        } catch (Throwable t) {
            upkeep.broken(t);
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
        if (trace > 0 || Schedt.closingAcquire(sched) != 0 || upkeep.shortageLasts() || !allIdle()) {
            sleep(note, Math.max(sleepFor(), fairSleep(System.nanoTime() - woken, retake.inSyscall() || retake.suspected())));
        } else {
            idle = rest(note) ? 0 : BUSY_ROUNDS;
            sleep = MIN_SLEEP;
        }
        Note.clear(note);
        upkeep.drain();
        long now = System.nanoTime();
        woken = now;
        duty(SOCKETS, now);
        duty(LEFTOVERS, now);
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
        if (trace == 0 && Schedt.closingAcquire(sched) == 0 && allIdle()) {
            duty(STRAYS, now);
            return; // Nothing to retake, and what follows may wait for a stopped world or for a lock that it holds.
        }
        idle++;
        duty(POLL, now); // What it finds may be what somebody's time slice is over for.
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
                case SHORTAGE -> upkeep.shortage(now);
                case CHECKDEAD -> upkeep.checkdead();
                case WATCH_GC -> GcWatch.look();
                case TIME_WAITS -> timeWaits(now);
                case STRAYS -> retake.lookForStrays(now);
                case RETAKE -> idle = retake.look(now) ? 0 : idle;
                case POLL -> pollNetwork(now);
                case FOLLOW -> upkeep.follow();
                case SECOND -> upkeep.everySecond();
                default -> upkeep.trace(now - began);
            }
        } catch (OutOfMemoryError e) {
            noMemory++;
        }
    }

    /**
     * While a goroutine runs, not so long that the beginning of its time slice would be off by much; and while no P is idle,
     * not so long that what comes next would wait long behind a thread that fell asleep.
     */
    private long sleepFor() {
        boolean soon = idle == 0 || retake.inSyscall() || retake.suspected() || !retake.exact();
        long usual = soon || !retake.busy() ? sleep : MAX_SLEEP;
        usual = retake.callsStray() ? Math.min(usual, WORK_SLEEP) : usual;
        if (retake.workWaits()) {
            long most = Math.min(seldom(), Math.max(MIN_SLEEP, retake.untilOver(System.nanoTime())));
            most = retake.exact() ? most : Math.min(most, workSleep);
            return Math.min(usual, retake.suspected() ? Math.min(most, SUSPECT_SLEEP) : most);
        }
        if (!retake.busy()) {
            return usual;
        }
        long most = retake.exact() ? retake.untilOver(System.nanoTime()) : s.config.quantumNanos() / BUSY_LOOKS;
        most = Math.max(most, MIN_SLEEP);
        return Math.min(usual, Math.min(most, Schedt.npidleVolatile(s.sched) == 0 ? seldom() : restNanos));
    }

    /** How long a thread that falls asleep with a P may keep it before the first look. */
    private long seldom() {
        return retake.tookFromSleeper() ? WORK_SLEEP : restNanos;
    }

    /**
     * Something runs. Who enters a system call rings if these are long: one look then notes the call, and the next, soon, takes
     * its P. A call that has been noted already, and leaves its P where nobody wants it, keeps sysmon from no sleep.
     */
    private void sleep(long note, long nanos) {
        if (nanos < HEARD_SLEEP || !retake.tookFromSyscall()) {
            boolean _ = Note.sleep(note, nanos);
            return;
        }
        Schedt.setSysmonwaitVolatile(s.sched, Schedt.SYSMON_HEARS);
        VarHandle.fullFence(); // As in dozed.
        if (retake.newSyscall() || Note.sleep(note, nanos)) {
            idle = 0;
            sleep = MIN_SLEEP;
        }
        Schedt.setSysmonwaitVolatile(s.sched, 0);
    }

    /**
     * How many nanoseconds it sleeps at least after it was awake for {@code awake}, so that the kernel gives it the CPU at once when it
     * wakes up. Linux does that for a thread with short slices unless it is ahead of its fair share; then it looks again at the next tick,
     * which may be 4 ms away. Beside n threads that want the same CPU sysmon is ahead until each of them has run as long as it has.
     * Without this, naps of 20 µs after looks of 40 had sysmon wait for 2 to 4 ms beside every second hog of 5 ms.
     *
     * @param urgent whether it waits for a thread that blocks: that one does not want a CPU
     */
    static long fairSleep(long awake, boolean urgent) {
        return Math.min(awake * (urgent ? 1 : OTHERS) + SWITCHES, MAX_FAIR_SLEEP);
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
        return Schedt.gcwaitingAcquire(sched) != 0
                || Schedt.npidleVolatile(sched) == Schedt.gomaxprocsOpaque(sched);
    }

    /**
     * Nothing runs. Rests, or sleeps deeply when nothing did for long, and dozes when that ends. Who takes an idle P takes
     * sched.lock for it, and so sees which of the two it is.
     *
     * @return whether it was rung, and did not doze to the end; or something runs already
     */
    private boolean rest(long note) {
        long sched = s.sched;
        SchedLock.lock(sched);
        if (Schedt.closingAcquire(sched) != 0 || upkeep.shortageLasts() || !allIdle()) {
            SchedLock.unlock(sched);
            return true; // A shortage that began since lasts() was asked found sysmonwait 0, and did not ring.
        }
        boolean deep = Schedt.gcwaitingAcquire(sched) != 0
                || System.nanoTime() - idleSince() >= DEEP_AFTER && !retake.callsStray();
        Schedt.setSysmonwaitVolatile(sched, deep ? Schedt.SYSMON_SLEEPS : Schedt.SYSMON_RESTS);
        SchedLock.unlock(sched);
        boolean woken = Note.sleep(note, deep ? DEEP_SLEEP : restNanos) && !(deep && dozed(note));
        SchedLock.lock(sched);
        Schedt.setSysmonwaitVolatile(sched, 0);
        SchedLock.unlock(sched);
        return woken;
    }

    /** Since when all Ps are, which they are; under the lock. */
    private long idleSince() {
        long since = began;
        for (Processor pr : s.procs()) {
            since = Math.max(since, P.idlesince(pr.pp));
        }
        return since;
    }

    /**
     * Something took a P, or wants sysmon: sleeps a little longer, unless it is to do something. What rang before the clear
     * is seen below, but for a shortage, which is in no hurry; what rings later ends this. sysmonwait is not 0 meanwhile,
     * or startTheWorld has made it so, and rung after the clear.
     *
     * @return whether it slept as long as it meant to
     */
    private boolean dozed(long note) {
        long sched = s.sched;
        Note.clear(note);
        Schedt.setSysmonwaitVolatile(sched, Schedt.SYSMON_RESTS);
        VarHandle.fullFence(); // The other side's is between what is read below and the ring.
        if (Schedt.closingAcquire(sched) != 0 || upkeep.pending() || anyInSyscall()) {
            return false;
        }
        long most = Schedt.npidleVolatile(sched) == 0 ? WORK_SLEEP : DOZE;
        return !Note.sleep(note, Math.min(most, s.config.quantumNanos()));
    }

    /** A part of the goroutines at each look, so that they do not keep it from its other duties, however many they are. */
    private void timeWaits(long now) {
        if (waits == 0) {
            if (now - lastWaits < WAITS_EVERY) {
                return;
            }
            lastWaits = now;
        }
        waits = upkeep.timeWaits(waits, now);
    }

    /** For whoever runs alone. While work waits Ms poll as each slice ends ({@code FindRunnable.pollDue}), unless none ends. */
    private void pollNetwork(long now) {
        long last = Schedt.lastpollVolatile(s.sched);
        long after = retake.workWaits() ? 2 * pollAfter : pollAfter;
        if (last != 0 && now - last > after && s.netpoll().anyWaiters(s) && Schedt.casLastpoll(s.sched, last, now)) {
            upkeep.pollNetwork();
        }
    }
}
