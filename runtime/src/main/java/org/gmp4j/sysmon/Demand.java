// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.agent.OnDemand;
import org.gmp4j.ffi.CompilerThreads;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.report.StackSearch;
import org.gmp4j.stack.JdkFrames;
import org.gmp4j.stack.OwnThread;
import org.jspecify.annotations.Nullable;

/**
 * Gives points to the classes that need them, while the program runs. Sysmon hands over each thread that overran its quantum where no
 * point can stop it ({@link #ask}); a thread of its own looks which method that is, and has the class transformed again when {@link
 * DemandRules} say so. The next call of the method comes to points; this one ends as it would without them.
 *
 * <p>One for the process. What it does may fail in any way, as it loads class files by loaders of the program's and takes memory: then
 * the class goes without points.
 */
final class Demand implements Runnable {
    /** How many frames that may have points are looked at: the innermost that would have some counts. */
    private static final int FRAMES = 8;
    /** How long a thread is watched for more CPU time before the next sample, and how often that is looked at, ns. */
    private static final long PATIENCE = 20_000_000;
    private static final long LOOK = 500_000;
    /** Sysmon asks no sooner than this after a sample that was of no use, doubled from one to the other, ns. */
    private static final long FIRST_PAUSE = 2_000_000;
    private static final long LAST_PAUSE = 128_000_000;

    /** Whether it has begun, or is about to. */
    private static final AtomicBoolean BEGUN = new AtomicBoolean();
    private static volatile @Nullable Demand demand;
    /** How often a stack held a class that was to get points; written by the thread of this. */
    private static volatile long refusals;

    private final OnDemand points;
    private final Thread thread;
    /** The thread to be looked at; set by a sysmon when it is empty, cleared by the thread of this. */
    private final AtomicReference<@Nullable Overrun> asked = new AtomicReference<>();
    /** Before this nobody asks, by nanoTime; written by the thread of this, a benign race for sysmon. */
    private volatile long notBefore = System.nanoTime();

    // Of the thread of this alone.
    private final DemandRules rules = new DemandRules();
    private final Map<Class<?>, Methods> known = new WeakHashMap<>();
    private final List<Wish> wishes = new ArrayList<>();
    private long pause = FIRST_PAUSE;

    /** A thread that overran, and the kernel's number of the M's thread that it ran on. */
    private record Overrun(Thread thread, int tid) {
    }

    /** The methods of a class that would have points; null for all, where its class file could not be read. */
    private record Methods(@Nullable Set<String> names, DemandRules.Samples samples) {
        boolean has(String method) {
            return names == null || names.contains(method);
        }
    }

    /** Those of a class that may have none. */
    private static final Methods NONE = new Methods(Set.of(), new DemandRules.Samples());

    /** A class that is to have points. It is held meanwhile, with its loader: for minutes at most. */
    private static final class Wish {
        private final Class<?> type;
        private final Methods methods;
        /** When it is looked at next. */
        private long next;
        /** The goroutines and threads that had it on their stacks at the last search; null before the first. */
        private @Nullable Set<Long> holders;
        private int retries;

        Wish(Class<?> type, Methods methods, long now) {
            this.type = type;
            this.methods = methods;
            next = now;
        }
    }

    private Demand(OnDemand points) {
        this.points = points;
        thread = new OwnThread(this, "gmp-points");
        Overrun _ = new Overrun(thread, 0); // The class is loaded now: a sysmon may have no memory for it.
    }

    /**
     * Starts it for the process, once points are given on demand: as a scheduler is made, and each second by sysmons, since an agent
     * that is attached may come later. Takes no lock that a goroutine may hold.
     */
    static void begin() {
        OnDemand points = OnDemand.get();
        if (points == null || !BEGUN.compareAndSet(false, true)) {
            return;
        }
        boolean started = false;
        try {
            Demand d = new Demand(points);
            d.thread.start();
            demand = d;
            started = true;
        } catch (OutOfMemoryError e) {
            return; // No thread is to be had: the next call tries again.
        } finally {
            BEGUN.set(started);
        }
    }

    /** By sysmon: this thread has overrun, on an M's thread of that number, and no point can stop it. */
    static void ask(Thread overran, int tid) {
        Demand d = demand;
        if (d != null && d.asked.getOpaque() == null && System.nanoTime() - d.notBefore >= 0) {
            d.asked.setRelease(new Overrun(overran, tid)); // Partner: the getAcquire in run.
            LockSupport.unpark(d.thread);
        }
    }

    /** How often a class did not get its points since a stack held it. */
    static long refusals() {
        return refusals;
    }

    @Override
    public void run() {
        Inheritance.beginPlain(); // The thread that makes the first scheduler may be pinned, or have a low priority.
        for (;;) {
            try {
                work();
            } catch (Throwable t) { // Of a class loader of the program's, or for want of memory: those classes go without.
                wishes.clear();
                asked.setRelease(null);
                notBefore = System.nanoTime() + LAST_PAUSE;
            }
            sleep();
        }
    }

    /** Apart from {@link #run}, whose frame would hold the last thread that overran while this sleeps. */
    private void work() {
        Overrun o = asked.getAcquire();
        if (o != null) {
            lookAt(o);
            asked.setRelease(null);
        }
        grant();
    }

    /** Takes no memory, an iterator included: after a failure for want of it, this must not fail too. */
    private void sleep() {
        long next = Long.MAX_VALUE;
        for (int i = 0; i < wishes.size(); i++) {
            next = Math.min(next, wishes.get(i).next - System.nanoTime());
        }
        boolean _ = Thread.interrupted(); // An interrupt means nothing here, and would end each sleep.
        if (asked.getAcquire() != null || next <= 0) {
            return;
        }
        if (wishes.isEmpty()) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, next);
        }
    }

    /** Takes samples of a thread until its class is to have points, or it does something else. */
    private void lookAt(Overrun o) {
        long now = System.nanoTime();
        if (rules.readsCompilers(now)) {
            rules.compilersHad(CompilerThreads.cpuNanos(), now);
        }
        boolean useful = rules.settled() && sampled(o);
        pause = useful ? FIRST_PAUSE : Math.min(2 * pause, LAST_PAUSE);
        notBefore = System.nanoTime() + (useful ? 0 : pause);
    }

    private boolean sampled(Overrun o) {
        boolean any = false;
        for (int i = 0; i < DemandRules.SAMPLES; i++) {
            if (i > 0 && !ranOn(o.tid)) {
                return any;
            }
            Class<?> type = innermost(JdkFrames.of(o.thread));
            if (type == null) {
                return any;
            }
            any = true;
            Methods methods = methods(type);
            long now = System.nanoTime();
            if (methods.samples.add(now)) {
                methods.samples.clear();
                wishes.add(new Wish(type, methods, now));
                return true;
            }
        }
        return any;
    }

    /** Waits until the M's thread has had so much more of the CPU; false when it does not get it. */
    static boolean ranOn(int tid) {
        long from = OsThread.cpuNanos(tid);
        for (long end = System.nanoTime() + PATIENCE; from >= 0 && System.nanoTime() < end;) {
            LockSupport.parkNanos(LOOK);
            if (OsThread.cpuNanos(tid) - from >= DemandRules.SPACING) {
                return true;
            }
        }
        return false;
    }

    /** The class of the innermost method that would have points; null when there is none, when it has them or is wished for already. */
    private @Nullable Class<?> innermost(StackTraceElement[] frames) {
        int without = 0;
        for (StackTraceElement frame : frames) {
            Class<?> type = JdkFrames.type(frame);
            Methods methods = methods(type);
            if (methods.has(frame.getMethodName())) {
                return points.has(type) || isWished(type) ? null : type;
            }
            if (methods != NONE && ++without == FRAMES) {
                return null;
            }
        }
        return null;
    }

    private Methods methods(Class<?> type) {
        Methods methods = known.get(type);
        if (methods == null) {
            methods = points.mayHave(type) ? new Methods(OnDemand.methods(type), new DemandRules.Samples()) : NONE;
            known.put(type, methods);
        }
        return methods;
    }

    private boolean isWished(Class<?> type) {
        for (Wish w : wishes) {
            if (w.type == type) {
                return true;
            }
        }
        return false;
    }

    /** Gives points to the classes that are wished for and in no call that lasts, all in one pause. */
    private void grant() {
        long now = System.nanoTime();
        List<Wish> due = new ArrayList<>();
        for (Wish w : wishes) {
            if (w.next - now <= 0) {
                due.add(w);
            }
        }
        if (due.isEmpty()) {
            return;
        }
        if (!rules.mayPause(now)) {
            for (Wish w : due) {
                w.next = rules.nextPause(); // All at the same time, so that one pause is enough for them.
            }
            return;
        }
        List<Class<?>> free = new ArrayList<>();
        StackSearch search = new StackSearch();
        for (Wish w : due) {
            search.add(w.type.getName(), w.methods.names);
        }
        boolean whole = search.run();
        for (int i = 0; i < due.size(); i++) {
            Wish w = due.get(i);
            Set<Long> holders = search.holders(i);
            if (whole && DemandRules.isFree(holders, w.holders)) {
                free.add(w.type);
                wishes.remove(w);
            } else {
                w.holders = holders;
                later(w, now);
            }
        }
        if (!free.isEmpty()) {
            rules.paused(now);
            for (Class<?> c : points.give(free)) {
                known.put(c, NONE);
            }
        }
    }

    private void later(Wish w, long now) {
        refusals++;
        long after = DemandRules.retryAfter(w.retries++);
        w.next = now + after;
        if (after < 0) {
            wishes.remove(w);
        }
    }
}
