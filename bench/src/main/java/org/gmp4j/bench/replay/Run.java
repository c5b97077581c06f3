// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.util.Arrays;

import jdk.internal.vm.Continuation;

/**
 * One run of a program: the lanes, the clock, the sleepers, and the schedule so far. The calling thread runs one lane at a time.
 *
 * <p>A step is what a lane does from one point to the next: the access for which it stopped, and what follows it. An option is a lane and
 * the way in which it goes on: by itself, because its sleep has reached its limit, because it is woken without a reason, or with a start of
 * a thread that fails.
 */
final class Run {
    static final int GO = 0;
    static final int TIMEOUT = 1;
    static final int SPURIOUS = 2;
    static final int FAILS = 3;
    static final int KINDS = 4;
    /** A store of the lane reaches memory, and no lane goes on. */
    static final int STORE = 4;
    /** The most lanes of a run. */
    static final int MOST = 16;
    private static final int STORES = MOST * KINDS;
    /** A lane that could go on for so many steps goes on next: no schedule is unfair for longer. */
    private static final int STARVED = 1_500;
    /** After so many steps in which all lanes wait in loops, all stores have reached memory, and the sleep that ends first has ended. */
    private static final int LATE = 50;
    /** After so many such steps, while no lane sleeps for a time, they wait in vain. */
    private static final int IN_VAIN = 4 * STARVED;
    /** How long a step takes, in ns; none in a small program, whose schedules differ by the order of accesses alone. */
    private static final long STEP = 20;
    /** A sleep lasts no longer than this, in ns, beyond its limit. */
    private static final long LATEST = 5_000;
    /** How long a pause of a spin takes, in ns. */
    static final long PAUSE = 500;
    private static final int MOST_ACCESSES = 1_000_000;
    static final long CLOCK_AT_FIRST = 1_000_000_000_000L;

    final Program program;
    /** The number of the run's state; null if the strategy does not compare states. */
    final Digest digest;
    Case its;
    private final Strategy strategy;
    /** Whether lanes hold stores back ({@link StoreBuffer}). */
    final boolean delays;
    /** What the run writes down; null for nothing. */
    final Trace trace;
    final Lane[] lanes = new Lane[MOST];
    int count;
    /** The lane that runs; null while the program is set up or checked. */
    Lane lane;
    /** The number of the lane that took the last step. */
    int last;
    final int[] options = new int[STORES + MOST];
    int optionCount;
    /** The options that were taken. */
    private int[] schedule = new int[256];
    int steps;
    long now = CLOCK_AT_FIRST;
    /** How many sleeps have ended by their limits while another lane could go on. */
    int early;
    int spurious;
    int failedStarts;
    /** How many of the steps are arrivals of stores at memory, in which no lane goes on. */
    private int arrivals;
    Failure failure;
    /** Whether the strategy has ended the run. */
    boolean cut;
    /** Whether the program has ended the run, as a process ends. */
    boolean over;
    private int chosen;
    private long sleeps;
    /** For how many steps all lanes that could go on have waited in loops. */
    private int waits;
    /** The lane that goes on because it has waited too long; null for none. */
    private Lane favoured;
    private int favouredUntil;
    private int accesses;

    Run(Program program, Strategy strategy, Trace trace) {
        this.program = program;
        this.strategy = strategy;
        this.trace = trace;
        digest = strategy.comparesStates() ? new Digest(this) : null;
        delays = strategy.delays;
    }

    static int lane(int option) {
        return option >= STORES ? option - STORES : option / KINDS;
    }

    static int kind(int option) {
        return option >= STORES ? STORE : option % KINDS;
    }

    static int option(int lane, int kind) {
        return kind == STORE ? STORES + lane : lane * KINDS + kind;
    }

    /** Runs the program to its end, or to its first failure. */
    void execute() {
        strategy.begin(this);
        try {
            its = program.make();
            its.run = this;
            its.begin();
            chosen = decide();
            while (chosen >= 0) {
                resume(lanes[lane(chosen)]);
            }
            if (failure == null && !cut) {
                ended();
            }
        } catch (Throwable t) {
            fail(t);
        }
    }

    private void ended() {
        if (over) {
            World.fence(); // The program checks what the process would leave.
        }
        for (int i = 0; i < count && !over; i++) {
            if (lanes[i].state != Lane.State.ENDED && !its.mayRest(lanes[i].name)) {
                fail(lanes[i].name + " sleeps for ever");
                return;
            }
        }
        its.end();
    }

    private void resume(Lane l) {
        lane = l;
        do {
            l.switches = false;
            Continuation c = l.current();
            c.run();
            if (c.isDone()) {
                if (l.mounted == null) {
                    l.stores.drain();
                    l.state = Lane.State.ENDED;
                } else {
                    l.mounted = null;
                    l.switches = true;
                }
            }
        } while (l.switches && failure == null);
        if (l.state == Lane.State.ENDED && failure == null) {
            last = l.index;
            chosen = decide();
        }
        lane = null;
        if (failure != null) {
            chosen = -1;
        }
    }

    /** Adds a lane, which begins at once or when its turn comes. */
    Lane add(String name, Thread thread, Runnable body) {
        if (count == MOST) {
            throw new IllegalStateException("more than " + MOST + " lanes");
        }
        Lane l = new Lane(count, name, thread, () -> {
            try {
                body.run();
            } catch (Throwable t) {
                fail(t);
            }
        });
        l.since = steps;
        World.drain();
        if (digest != null) {
            digest.begins(l, body);
        }
        lanes[count++] = l;
        return l;
    }

    /** Stops the lane that runs before its next access, and returns when that is to be made. */
    void point(int site, long word, Object object, boolean writes) {
        Lane l = lane;
        l.site = site;
        l.word = word;
        l.object = object;
        l.writes = writes;
        l.objectId = digest == null || object == null ? 0 : digest.id(object);
        l.loops &= !writes || site == Sites.PAUSE;
        pause(l);
        if (writes && site != Sites.PAUSE && (object != null || site == Sites.FUTEX_WAIT || site == Sites.FUTEX_WAKE)) {
            l.stores.drain(); // An atomic instruction, or a system call.
        }
        Digest.reads(site);
    }

    /** Counts an access of code that is one step, or that sets up or checks: it must not go on for ever. */
    void accessWithoutPoint() {
        if (++accesses > MOST_ACCESSES) {
            throw new AssertionError("code without points goes on after " + MOST_ACCESSES + " accesses");
        }
    }

    private void pause(Lane l) {
        last = l.index;
        int o = decide();
        if (o != l.index * KINDS) {
            chosen = o;
            suspend();
        }
        if (trace != null) {
            trace.step(this, l);
        }
    }

    /** Asks the strategy whether a start of a thread fails, by the lane that runs. */
    boolean startFails() {
        if (failedStarts >= program.failedStarts()) {
            return false;
        }
        Lane l = lane;
        l.site = Sites.START;
        l.word = Trace.ANYWHERE;
        l.object = null;
        last = l.index;
        options[0] = l.index * KINDS;
        options[1] = l.index * KINDS + FAILS;
        optionCount = 2;
        int o = strategy.choose(this);
        if (o < 0) {
            cut = true;
            chosen = -1;
            suspend();
        }
        take(o);
        if (trace != null) {
            l.site = kind(o) == FAILS ? Sites.NO_START : Sites.START;
            trace.step(this, l);
        }
        Digest.reads(kind(o));
        return kind(o) == FAILS;
    }

    /** Returns how many lanes sleep on the same word for longer. */
    int before(Lane l) {
        int n = 0;
        for (int i = 0; i < count; i++) {
            n += lanes[i].state == Lane.State.ASLEEP && lanes[i].futex == l.futex && lanes[i].asleepSince < l.asleepSince ? 1 : 0;
        }
        return n;
    }

    /** Returns for how many steps all lanes that could go on have waited in loops. */
    int waits() {
        return waits;
    }

    private static void suspend() {
        if (!Continuation.yield(Lane.SCOPE)) {
            throw new IllegalStateException("a lane is pinned");
        }
    }

    /** Lets the lane's own code go on with a stack mounted, or the stack's with the lane's own code. */
    void switchStack(StackThread mounted) {
        lane.mounted = mounted;
        lane.switches = true;
        suspend();
    }

    /** Has the lane that runs wait until another has taken a step. */
    void spin(int site) {
        now += PAUSE;
        lane.spins = true;
        lane.loops = true;
        point(site, Trace.ANYWHERE, null, true);
    }

    /** Puts the lane that runs to sleep. Returns the error number of the futex call. */
    int sleep(long word, long nanos) {
        Lane l = lane;
        l.stores.drain();
        l.loops = false;
        l.state = Lane.State.ASLEEP;
        l.futex = word;
        l.deadline = nanos < 0 || nanos > Long.MAX_VALUE - now ? Long.MAX_VALUE : now + nanos;
        l.asleepSince = sleeps++;
        l.woke = 0;
        if (trace != null) {
            trace.note(l, "sleeps");
        }
        pause(l);
        Digest.reads(l.woke);
        return l.woke;
    }

    /** Wakes up to {@code n} lanes that sleep on the word, in the order in which they fell asleep. Returns how many. */
    int wake(long word, int n) {
        int woken = 0;
        while (woken < n) {
            Lane next = null;
            for (int i = 0; i < count; i++) {
                Lane l = lanes[i];
                if (l.state == Lane.State.ASLEEP && l.futex == word && (next == null || l.asleepSince < next.asleepSince)) {
                    next = l;
                }
            }
            if (next == null) {
                break;
            }
            next.state = Lane.State.READY;
            next.since = steps;
            woken++;
        }
        return woken;
    }

    private int decide() {
        if (failure != null || over) {
            return -1;
        }
        if (program.watched()) {
            watch();
        }
        collect();
        if (optionCount == 0 || failure != null) {
            return -1;
        }
        if (steps - arrivals >= program.steps()) {
            fail("it goes on after " + program.steps() + " steps");
            return -1;
        }
        int o = strategy.choose(this);
        if (o < 0) {
            cut = true;
            return -1;
        }
        take(o);
        if (kind(o) != STORE) {
            return o;
        }
        long word = lanes[lane(o)].stores.drainOne();
        if (trace != null) {
            trace.store(lane(o), word);
        }
        return decide();
    }

    private void watch() {
        Lane l = lane;
        lane = null;
        try {
            its.watch();
        } catch (Throwable t) {
            lane = l;
            fail(t);
        }
        lane = l;
    }

    private void collect() {
        optionCount = 0;
        int ready = 0;
        for (int i = 0; i < count; i++) {
            Lane l = lanes[i];
            if (l.state == Lane.State.ASLEEP && l.deadline != Long.MAX_VALUE && now - l.deadline > LATEST) {
                l.woke = World.TIMED_OUT;
                l.state = Lane.State.READY;
                l.since = steps;
            }
        }
        Lane starved = starved();
        if (starved != null && digest != null) {
            fail("an exhaustive search does not see how long " + starved.name + " has waited");
            return;
        }
        if (starved != null) {
            options[optionCount++] = starved.index * KINDS;
            return;
        }
        for (int i = 0; i < count; i++) {
            if (lanes[i].state == Lane.State.READY && !lanes[i].spins) {
                options[optionCount++] = i * KINDS;
            }
        }
        waits = allLoop() ? waits + 1 : 0;
        if (waits > LATE) {
            World.fence(); // A store is not held back while all wait.
        }
        boolean sleeper = waits > LATE && earliestDeadline() != Long.MAX_VALUE;
        if (optionCount == 0 && !sleeper) {
            for (int i = 0; i < count; i++) {
                if (lanes[i].state == Lane.State.READY) {
                    options[optionCount++] = i * KINDS;
                }
            }
        }
        if (sleeper) {
            optionCount = 0;
        } else if (waits > IN_VAIN) {
            fail(lanes[last].name + " spins for what does not come");
            return;
        }
        ready = optionCount;
        boolean mayWake = early < program.earlyTimeouts();
        long latest = earliestDeadline();
        latest = latest == Long.MAX_VALUE ? latest : latest + LATEST;
        for (int i = 0; i < count; i++) {
            if (lanes[i].state == Lane.State.ASLEEP) {
                long deadline = lanes[i].deadline;
                if (deadline != Long.MAX_VALUE && deadline <= latest && (ready == 0 || mayWake || deadline <= now)) {
                    options[optionCount++] = i * KINDS + TIMEOUT;
                }
                if (ready != 0 && spurious < program.spuriousWakes()) {
                    options[optionCount++] = i * KINDS + SPURIOUS;
                }
            }
        }
        for (int i = 0; i < count; i++) {
            if (!lanes[i].stores.isEmpty()) {
                options[optionCount++] = option(i, STORE);
            }
        }
    }

    /** Returns whether all lanes that can go on are in loops in which they wait for others. */
    private boolean allLoop() {
        boolean any = false;
        for (int i = 0; i < count; i++) {
            if (lanes[i].state == Lane.State.READY) {
                if (!lanes[i].loops) {
                    return false;
                }
                any = true;
            }
        }
        return any;
    }

    /** Returns when the first sleep ends; {@link Long#MAX_VALUE} for never. */
    private long earliestDeadline() {
        long earliest = Long.MAX_VALUE;
        for (int i = 0; i < count; i++) {
            if (lanes[i].state == Lane.State.ASLEEP) {
                earliest = Math.min(earliest, lanes[i].deadline);
            }
        }
        return earliest;
    }

    /** Returns the lane that must go on as it has waited too long, longer than the others, for a number of steps; null for none. */
    private Lane starved() {
        if (favoured != null && (steps > favouredUntil || favoured.state == Lane.State.ENDED)) {
            favoured = null;
        }
        if (favoured != null) { // It may sleep on a lock for a moment, or pause until another has taken a step.
            return favoured.state == Lane.State.READY && !favoured.spins ? favoured : null;
        }
        for (int i = 0; i < count; i++) {
            Lane l = lanes[i];
            if (l.state == Lane.State.READY && steps - l.since > STARVED && (favoured == null || l.since < favoured.since)) {
                favoured = l;
                favouredUntil = steps + STARVED;
            }
        }
        return favoured;
    }

    private void take(int option) {
        if (steps == schedule.length) {
            schedule = Arrays.copyOf(schedule, steps * 2);
        }
        schedule[steps++] = option;
        now += program.small() ? 0 : STEP;
        Lane l = lanes[lane(option)];
        for (int i = 0; i < count; i++) {
            lanes[i].spins = false;
        }
        if (kind(option) == STORE) {
            arrivals++;
            return;
        }
        l.since = steps;
        if (kind(option) == TIMEOUT) {
            early += kind(options[0]) == GO ? 1 : 0;
            now = Math.max(now, l.deadline);
            l.woke = World.TIMED_OUT;
            l.state = Lane.State.READY;
        } else if (kind(option) == SPURIOUS) {
            spurious++;
            l.state = Lane.State.READY;
        } else if (kind(option) == FAILS) {
            failedStarts++;
        }
    }

    /** Returns the options that were taken. */
    int[] schedule() {
        return Arrays.copyOf(schedule, steps);
    }

    void fail(String why) {
        fail(new Failure(lane == null ? "" : lane.name, why, null));
    }

    void fail(Throwable t) {
        fail(Failure.of(lane == null ? "" : lane.name, t));
    }

    private void fail(Failure f) {
        if (failure == null && (!over || lane == null)) { // When the process has ended, no lane fails any more, but a check may.
            failure = f;
        }
    }
}
