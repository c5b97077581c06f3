// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.bench.replay;

import java.nio.channels.Selector;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * What rewritten code calls in place of the machine: the points, the clock, futexes, monitors and threads. Outside of a run, and on the
 * code of a program that sets up or checks, there are no points.
 */
public final class World {
    static final int TIMED_OUT = org.gmp4j.ffi.Errno.ETIMEDOUT;
    private static final int CHANGED = org.gmp4j.ffi.Errno.EAGAIN;
    /** Monitors are futexes with negative words. */
    private static final long MONITOR = Long.MIN_VALUE;
    private static final Thread[] PLAIN = new Thread[Run.MOST];

    /** The run under way; null for none. */
    static Run run;
    /** The site of the next access to an off-heap word. */
    private static int site;
    /** How many monitors and class initialisers the lane is in. It is not left there: the code is one step. */
    private static int atomic;
    private static final Map<Object, Integer> NUMBERS = new IdentityHashMap<>();

    private World() {
    }

    /** Begins a run: forgets the last one. */
    static void begin(Run next) {
        run = next;
        Digest.now = null;
        atomic = 0;
        NUMBERS.clear();
        Memory.reset();
        Descriptors.reset();
        Statics.restore();
        Digest.now = next.digest;
    }

    static void end() {
        Digest.now = null;
        run = null;
    }

    static void failed(Throwable t) {
        run.fail(t);
    }

    /** Returns the lane that runs; null for none. */
    static Lane lane() {
        return run == null ? null : run.lane;
    }

    /** Returns whether the caller stops at points. */
    static boolean stops() {
        return run != null && run.lane != null && atomic == 0;
    }

    // Points

    /** Sets the site of the next access. */
    public static void at(int next) {
        site = next;
    }

    /** A point before an access to the word at an address. */
    static void word(long address, boolean writes, boolean plain) {
        if (!stops()) {
            if (run != null) {
                run.accessWithoutPoint();
            }
        } else if (!plain || run.program.plain()) {
            int here = site;
            run.point(here, address, null, writes);
            site = here; // Other lanes have run meanwhile, and the caller may make a second access.
        }
    }

    /** A point before a read of an object's field, or of an object of {@code java.util.concurrent.atomic}. */
    public static void reads(Object o, int at) {
        if (stops()) {
            run.point(at, 0, o, false);
        }
    }

    /** A point before a write of an object's field. */
    public static void writes(Object o, int at) {
        if (stops()) {
            run.point(at, 0, o, true);
        }
    }

    /** A point before a plain read of an object's field. */
    public static void readsPlain(Object o, int at) {
        if (stops() && run.program.plain()) {
            run.point(at, 0, o, false);
        }
    }

    /** A point before a plain write of an object's field. */
    public static void writesPlain(Object o, int at) {
        if (stops() && run.program.plain()) {
            run.point(at, 0, o, true);
        }
    }

    /** A pause of a spin, or a yield of the thread: the lane goes on when another has taken a step. */
    public static void pause() {
        if (stops()) {
            run.spin(Sites.PAUSE);
        } else if (run != null) {
            run.now += Run.PAUSE; // Code that is one step, or that sets up, may wait for a time.
        }
    }

    /** {@code Thread.sleep}. */
    public static void pause(long millis) {
        pause();
    }

    // The order of stores

    /** Returns where the lane that runs holds its stores back; null if they reach memory at once. */
    static StoreBuffer buffer() {
        return stops() && run.delays ? run.lane.stores : null;
    }

    /** A full fence: all stores of the lane that runs reach memory. */
    public static void drain() {
        if (run != null && run.lane != null) {
            run.lane.stores.drain();
        }
    }

    // The clock

    /** {@code System.nanoTime}. A class initialiser, which runs once for many runs, reads the time at which each begins. */
    public static long nanoTime() {
        long t = run == null || Statics.initialising() ? Run.CLOCK_AT_FIRST : run.now;
        Digest.reads(t);
        return t;
    }

    // Futexes

    /** {@code Futex.await} without a limit. */
    public static int await(long word, int expected) {
        return await(word, expected, -1);
    }

    /** {@code Futex.await}. */
    public static int await(long word, int expected, long nanos) {
        if (run == null || run.lane == null) {
            throw new IllegalStateException("what a program sets up or checks must not sleep");
        }
        if (atomic != 0) {
            throw new IllegalStateException("a lane sleeps in a monitor");
        }
        run.point(Sites.FUTEX_WAIT, word, null, true);
        boolean changed = Memory.peekInt(word) != expected;
        Digest.reads(changed ? 1 : 0);
        return changed ? CHANGED : run.sleep(word, nanos);
    }

    /** {@code Futex.wake}. */
    public static int wake(long word, int n) {
        if (stops()) {
            run.point(Sites.FUTEX_WAKE, word, null, true);
        }
        int woken = run == null ? 0 : run.wake(word, n);
        Digest.reads(woken);
        return woken;
    }

    // Monitors

    /** Enters a monitor. */
    public static void enter(Object monitor) {
        if (stops()) {
            run.point(Sites.MONITOR, 0, monitor, true);
        }
        atomic++;
    }

    /** Begins a class initialiser. */
    public static void enter() {
        atomic++;
    }

    /** Leaves a monitor. */
    public static void exit(Object monitor) {
        atomic--;
    }

    /** Ends what {@link #enter()} began. */
    public static void exit() {
        atomic--;
    }

    /** {@code Object.wait}, with a limit in ms, 0 for none. */
    public static void await(Object monitor, long millis) {
        int held = atomic;
        atomic = 0;
        int _ = run.sleep(monitor(monitor), millis == 0 ? -1 : millis * 1_000_000);
        atomic = held;
    }

    /** {@code Object.wait}. */
    public static void await(Object monitor, long millis, int nanos) {
        int held = atomic;
        atomic = 0;
        long all = millis * 1_000_000 + nanos;
        int _ = run.sleep(monitor(monitor), all == 0 ? -1 : all);
        atomic = held;
    }

    /** {@code Object.notifyAll}. */
    public static void notifyAll(Object monitor) {
        if (run != null) {
            int _ = run.wake(monitor(monitor), Integer.MAX_VALUE);
        }
    }

    private static long monitor(Object monitor) {
        return MONITOR + number(monitor);
    }

    /** {@code System.identityHashCode}: the number of the object in this run. */
    public static int number(Object o) {
        Integer known = NUMBERS.putIfAbsent(o, NUMBERS.size() + 1);
        int n = known == null ? NUMBERS.size() : known;
        Digest.numbered(o, n);
        return n;
    }

    /** Returns how many objects have numbers. */
    static int numbers() {
        return NUMBERS.size();
    }

    // Threads

    /** {@code Thread.currentThread}. */
    public static Thread currentThread() {
        Lane l = lane();
        return l == null ? Thread.currentThread() : l.mounted != null ? l.mounted : l.thread;
    }

    /** {@code Thread.isVirtual}. */
    public static boolean isVirtual(Thread t) {
        return t instanceof StackThread || t.isVirtual();
    }

    /** Returns the thread of a lane that is no M. */
    static Thread plainThread(int i) {
        if (PLAIN[i] == null) {
            PLAIN[i] = new Thread("lane " + i);
            Digest.outlasts(PLAIN[i]);
        }
        return PLAIN[i];
    }

    /** {@code Thread.start}: the thread begins when its lane is chosen. */
    public static void start(Thread t) {
        if (stops() && run.startFails()) {
            throw new OutOfMemoryError("unable to create native thread: none is left");
        }
        Lane _ = run.add(shortName(t), t, t);
    }

    /** {@code Thread.startVirtualThread}, of a thread that no scheduler of ours runs: it is one of the threads that are no Ms. */
    public static Thread startVirtual(Runnable body) {
        Thread t = plainThread(run.count);
        Lane _ = run.add("virtual" + run.count, t, body);
        return t;
    }

    /** The part of a thread's name behind that of its scheduler: M0. */
    private static String shortName(Thread t) {
        return t.getName().substring(t.getName().lastIndexOf('-') + 1);
    }

    private static Lane laneOf(Thread t) {
        for (int i = 0; i < run.count; i++) {
            if (run.lanes[i].thread == t) {
                return run.lanes[i];
            }
        }
        return null;
    }

    /** {@code Thread.isAlive}. */
    public static boolean isAlive(Thread t) {
        asks();
        Lane l = run == null ? null : laneOf(t);
        boolean alive = l != null && l.state != Lane.State.ENDED;
        Digest.reads(alive ? 1 : 0);
        return alive;
    }

    /** A point before the lane asks whether another sleeps or has ended. Each step may change that, so it depends on all others. */
    static void asks() {
        if (stops()) {
            run.point(Sites.ASKS, Trace.ANYWHERE, null, false);
        }
    }

    /** {@code Thread.join}. */
    public static void join(Thread t) {
        while (isAlive(t)) {
            pause();
        }
    }

    /** {@code Thread.interrupted}. */
    public static boolean interrupted() {
        Lane l = lane();
        if (l == null) {
            return false;
        }
        boolean was = isInterrupted(currentThread());
        if (l.mounted != null) {
            l.mounted.interrupted = false;
        } else {
            l.interrupted = false;
        }
        return was;
    }

    /** {@code Thread.isInterrupted}. */
    public static boolean isInterrupted(Thread t) {
        if (stops()) {
            run.point(Sites.JDK, 0, t, false);
        }
        Lane l = t instanceof StackThread ? null : laneOf(t);
        boolean interrupted = t instanceof StackThread s ? s.interrupted : l != null && l.interrupted;
        Digest.reads(interrupted ? 1 : 0);
        return interrupted;
    }

    /** {@code Thread.interrupt}: sets the status, tells a wait of ours, and ends a park. */
    public static void interrupt(Thread t) {
        if (stops()) {
            run.point(Sites.JDK, 0, t, true);
        }
        Selector told;
        if (t instanceof StackThread s) {
            s.interrupted = true;
            told = s.told;
        } else {
            Lane l = laneOf(t);
            l.interrupted = true;
            told = l.told;
        }
        Digest.reads(told);
        if (told != null) {
            if (stops()) {
                run.point(Sites.JDK, 0, t, false);
            }
            Selector _ = told.wakeup();
        }
        JdkStacks.unpark(t);
    }

    /** {@code AbstractSelector.begin}: an interrupt of the caller tells the selector from now on. */
    public static void begins(Selector told) {
        writes(currentThread(), Sites.JDK);
        Lane l = lane();
        if (l.mounted != null) {
            l.mounted.told = told;
        } else {
            l.told = told;
        }
        if (isInterrupted(currentThread())) {
            Selector _ = told.wakeup();
        }
    }

    /** {@code AbstractSelector.end}. */
    public static void ends(Selector told) {
        writes(currentThread(), Sites.JDK);
        Lane l = lane();
        if (l.mounted != null) {
            l.mounted.told = null;
        } else {
            l.told = null;
        }
    }

    // Settings

    /** {@code Runtime.availableProcessors}: with one, locks do not spin before they sleep. */
    public static int processors(Runtime r) {
        return 1;
    }

    /** {@code Integer.getInteger}: small sizes, so that a ring wraps around and semaphores share a root within a few steps. */
    public static Integer setting(String name, int otherwise) {
        return switch (name) {
            case "gmp.runqlen" -> 4;
            case "gmp.semaroots" -> 2;
            default -> otherwise;
        };
    }

    /** The checks that are on. */
    public static boolean flag(String name) {
        return name.equals("lockrank");
    }

    /** A random number that is none. */
    public static int random(java.util.concurrent.ThreadLocalRandom r) {
        return (int) (number(new Object()) * 0x9E3779B9L >>> 3);
    }

    /** {@code nextInt(int)}. */
    public static int random(java.util.concurrent.ThreadLocalRandom r, int bound) {
        return Math.floorMod(random(r), bound);
    }

    /** {@code nextLong}. */
    public static long randomLong(java.util.concurrent.ThreadLocalRandom r) {
        return random(r) * 0x9E3779B97F4A7C15L;
    }

    // What the machine answers

    /** A call of the kernel that makes all CPUs run a fence. */
    public static void fence() {
        for (int i = 0; run != null && i < run.count; i++) {
            run.lanes[i].stores.drain();
        }
    }

    /** The kernel can do it. */
    public static boolean yes() {
        return true;
    }

    /** The number of the calling thread. */
    public static int tid() {
        return lane() == null ? 1 : lane().index + 1;
    }

    /** {@code OsThread.state}: a lane runs or sleeps. */
    public static int state(int tid) {
        asks();
        boolean runs = run.lanes[tid - 1].state == Lane.State.READY;
        Digest.reads(runs ? 1 : 0);
        return runs ? 'R' : 'S';
    }

    /** {@code OsThread.cpuNanos}: it cannot be read, so a thread counts as having had a CPU all the time. */
    public static long cpuNanos(int tid) {
        return 0;
    }

    /** {@code OsThread.setSlice}. */
    public static boolean setSlice(int tid, long nanos) {
        return true;
    }

    /** Nothing was to do. */
    public static long none(long bytes) {
        return 0;
    }

    /** Nothing is to do. */
    public static void ignore(Object o) {
        // The object stands for something of the JDK's.
    }
}
