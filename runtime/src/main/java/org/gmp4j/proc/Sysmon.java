package org.gmp4j.proc;

import java.lang.invoke.VarHandle;

import org.gmp4j.ffi.OsThread;
import org.gmp4j.lock.Note;
import org.gmp4j.queue.GlobalRunq;
import org.gmp4j.stack.JdkPollers;
import org.gmp4j.struct.P;
import org.gmp4j.struct.PStatus;
import org.gmp4j.struct.Schedt;

/**
 * {@code sysmon}: a thread without a P that looks after the others. It sleeps 20 µs, doubling to 10 ms; while a P is in a
 * system call it begins to double only after 50 rounds without work. While all Ps are idle it rests for a quarter of a
 * quantum, at most {@link #MAX_REST}, or until one enters a system call, or work is queued while no P is idle. When they
 * have been idle for a millisecond, or the world is stopped, it sleeps deeply: for 60 ms, or until anything runs. (Go's
 * sleeps so at once. Where goroutines run now and then, as in a service at low load, waking sysmon for each took as much
 * time as the goroutines.) What runs after a rest it looks at after 20
 * µs, 40 µs and so on. After a deep sleep it dozes for a bit more than a millisecond, or until a system call: as a rule all
 * has been idle again for a millisecond then, and it can sleep deeply at once. A hog's first slice may be that much longer.
 * (With a quantum below 5 ms, or no P idle, it dozes less, and rests then.)
 *
 * <p>While a P has work waiting behind a goroutine it looks when the quantum ends, which it knows exactly of slices that
 * are timed ({@link SliceClock}); of others it looks twice in a quantum. When it has told the goroutine to yield it stays
 * at 20 µs until that has done so, for half a millisecond at most. While nothing waits it looks every quarter of a quantum.
 * A thread that it sees asleep it looks at again after 100 µs at most. So that a thread that falls asleep with a P loses
 * it, it looks as often as it rests, or, when one did so within a second, every half a millisecond. And within 20 ms after
 * a P was taken from a system call, whoever enters the next rings for it.
 *
 * <p>Each look costs some 30 µs of CPU time where all threads share one CPU: two switches, and what the caches lose. That is
 * what these rules save. 3,700 of them a second were 13 % of a CPU beside a service.
 *
 * <p>Its duties: {@link Retake}, {@link Strays} among it, {@link Checkdead}, {@link GcWatch}, since when who waits, what C
 * code readied, schedtrace, the machine's CPU limits and whose the signal is once a second, a poll of the network when
 * nobody did for 10 ms or a quantum, or two while work waits, as Ms then poll between slices; and whether sockets are about to be used ({@link JdkPollers}). And what could not be done
 * for want of memory or threads: {@link Leftovers}, {@link Shortage}. Where there is no memory for a duty itself, it waits for
 * the next look: nothing ends sysmon but a bug.
 */
final class Sysmon {
    /** The kernel's time slices for it, of which it never needs a whole one. */
    static final long SLICE = 100_000;
    private static final long MIN_SLEEP = 20_000;
    private static final long MAX_SLEEP = 10_000_000;
    private static final int BUSY_ROUNDS = 50;
    /** So often it looks in a quantum: while a P has work waiting and it is not known when it ends; and while nothing waits. */
    private static final int QUANTUM_LOOKS = 2;
    private static final int BUSY_LOOKS = 4;
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

    private final Scheduler s;
    private final Thread thread;
    private final Retake retake;
    private final Checkdead checkdead;
    /** How long it sleeps at most while work waits, and rests; how often schedtrace prints, 0 for never. */
    private final long workSleep;
    private final long restNanos;
    private final long pollAfter;
    private final long trace;
    private final long began = System.nanoTime();
    /** Rounds without work, and how long it sleeps before the next. */
    private int idle;
    private long sleep = MIN_SLEEP;
    private long lastTrace = began;
    private long lastProcs = began;
    private volatile boolean drained;
    /** Made while whoever builds the scheduler may be told that there is no memory. */
    private final Deferred trial = Deferred.trial();
    /** How often there was no memory for a duty; for whoever looks into a heap dump. */
    private int noMemory;
    /** When it last began to look who waits, and how far it has come: 0 when it has ended. */
    private long lastWaits = began;
    private int waits;

    Sysmon(Scheduler s) {
        this.s = s;
        retake = new Retake(s);
        checkdead = new Checkdead(s);
        workSleep = Math.max(s.config.quantumNanos() / QUANTUM_LOOKS, MIN_SLEEP);
        restNanos = Math.clamp(s.config.quantumNanos() / BUSY_LOOKS, WORK_SLEEP, MAX_REST);
        pollAfter = Math.min(s.config.quantumNanos(), POLL_AFTER);
        trace = s.config.debug().schedtrace() * 1_000_000L;
        thread = new Thread(null, this::run, s.name + "-sysmon", 0, false);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** Its thread, woken to see that the scheduler has ended. */
    Thread thread() {
        Note.ring(Schedt.sysmonnoteAddress(s.sched));
        return thread;
    }

    /** From a goroutine's end: have {@link Scheduler#signalDrained} called soon, from a thread that may block. */
    void drained() {
        drained = true;
        Note.ring(Schedt.sysmonnoteAddress(s.sched));
    }

    private void run() {
        try {
            duty(BEGIN, began);
            Deferred.begin(trial);
            while (Schedt.closingAcquire(s.sched) != Scheduler.STOPPED || s.leftovers.any()) {
                round(); // A method that is called is compiled after some seconds, a loop after half a minute.
            }
            Deferred.end();
            end();
        } catch (Throwable t) {
            Fatal.broken(s, t);
        }
    }

    private void end() {
        for (;;) {
            try {
                retake.close();
                return;
            } catch (OutOfMemoryError e) {
                boolean unused = Note.sleep(Schedt.sysmonnoteAddress(s.sched), MAX_SLEEP);
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
        if (trace > 0 || Schedt.closingAcquire(sched) != 0 || s.shortage.lasts() || !allIdle()) {
            sleep(note, sleepFor());
        } else {
            idle = rest(note) ? 0 : BUSY_ROUNDS;
            sleep = MIN_SLEEP;
        }
        Note.clear(note);
        Inject.drain(s);
        Deferred.drain();
        if (drained) {
            drained = false;
            s.signalDrained();
        }
        long now = System.nanoTime();
        duty(SOCKETS, now);
        duty(LEFTOVERS, now);
        duty(SHORTAGE, now);
        duty(CHECKDEAD, now);
        duty(WATCH_GC, now);
        duty(TIME_WAITS, now);
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
                    CleanStart.begin();
                    boolean unused = OsThread.setSlice(0, SLICE); // Or its look comes late where others want the CPU too.
                }
                case SOCKETS -> JdkPollers.look();
                case LEFTOVERS -> s.leftovers.look();
                case SHORTAGE -> s.shortage.look(now);
                case CHECKDEAD -> checkdead.look();
                case WATCH_GC -> GcWatch.look();
                case TIME_WAITS -> timeWaits(now);
                case STRAYS -> retake.lookForStrays(now);
                case RETAKE -> idle = retake.look(now) ? 0 : idle;
                case POLL -> pollNetwork(now);
                case FOLLOW -> {
                    Preempt.follow();
                    s.updateProcs();
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
    private long sleepFor() {
        long usual = retake.callsStray() ? Math.min(sleep, WORK_SLEEP) : sleep;
        if (retake.workWaits()) {
            long most = Math.min(seldom(), Math.max(MIN_SLEEP, retake.untilOver(System.nanoTime())));
            most = retake.exact() ? most : Math.min(most, workSleep);
            return Math.min(usual, retake.suspected() ? Math.min(most, SUSPECT_SLEEP) : most);
        }
        if (!retake.busy()) {
            return usual;
        }
        long most = Math.max(s.config.quantumNanos() / BUSY_LOOKS, MIN_SLEEP);
        return Math.min(usual, Schedt.npidleVolatile(s.sched) == 0 ? Math.min(most, seldom()) : most);
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
            boolean unused = Note.sleep(note, nanos);
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
        GlobalRunq.lock(sched);
        if (Schedt.closingAcquire(sched) != 0 || s.shortage.lasts() || !allIdle()) {
            GlobalRunq.unlock(sched);
            return true; // A shortage that began since lasts() was asked found sysmonwait 0, and did not ring.
        }
        boolean deep = Schedt.gcwaitingAcquire(sched) != 0
                || System.nanoTime() - idleSince() >= DEEP_AFTER && !retake.callsStray();
        Schedt.setSysmonwaitVolatile(sched, deep ? Schedt.SYSMON_SLEEPS : Schedt.SYSMON_RESTS);
        GlobalRunq.unlock(sched);
        boolean woken = Note.sleep(note, deep ? DEEP_SLEEP : restNanos) && !(deep && dozed(note));
        GlobalRunq.lock(sched);
        Schedt.setSysmonwaitVolatile(sched, 0);
        GlobalRunq.unlock(sched);
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
        if (Schedt.closingAcquire(sched) != 0 || drained || Schedt.injectAcquire(sched) != 0 || Deferred.pending()
                || anyInSyscall()) {
            return false;
        }
        long most = Schedt.npidleVolatile(sched) == 0 ? WORK_SLEEP : DOZE;
        return !Note.sleep(note, Math.min(most, s.config.quantumNanos() / BUSY_LOOKS));
    }

    /** A part of the goroutines at each look, so that they do not keep it from its other duties, however many they are. */
    private void timeWaits(long now) {
        if (waits == 0) {
            if (now - lastWaits < WAITS_EVERY) {
                return;
            }
            lastWaits = now;
        }
        waits = Traceback.timeWaits(s, waits, now);
    }

    /** For whoever runs alone. While work waits Ms poll as each slice ends ({@link FindRunnable#pollDue}), unless none ends. */
    private void pollNetwork(long now) {
        long last = Schedt.lastpollVolatile(s.sched);
        long after = retake.workWaits() ? 2 * pollAfter : pollAfter;
        if (last != 0 && now - last > after && s.netpoll.anyWaiters(s) && Schedt.casLastpoll(s.sched, last, now)) {
            long list = s.netpoll.poll(s, 0);
            if (list != 0) {
                Inject.injectPolled(s, list);
            }
        }
    }
}
