// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.sysmon;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import org.gmp4j.agent.CallsOfLine;
import org.gmp4j.agent.CallsOfLine.Called;
import org.gmp4j.agent.OnDemand;
import org.gmp4j.ffi.CompilerThreads;
import org.gmp4j.ffi.Inheritance;
import org.gmp4j.ffi.OsThread;
import org.gmp4j.ffi.VmFlags;
import org.gmp4j.policy.DemandRules;
import org.gmp4j.report.CallProfile;
import org.gmp4j.report.StackSearch;
import org.gmp4j.report.StackSearch.Call;
import org.gmp4j.stack.JdkFrames;
import org.gmp4j.stack.OwnThread;
import org.jspecify.annotations.Nullable;

/**
 * Gives preemption points to the classes that need them, while the program runs. Sysmon passes each thread that overran its quantum in a
 * method without points to the thread {@code gmp-points} ({@link #ask}). That thread finds the method, and transforms its class again when
 * {@link DemandRules} decide so. Later calls of the method reach points; the present call does not.
 *
 * <p>The process has one object of this class. Its work may fail in any way, because it reads class files through class loaders of the
 * program and allocates memory. Then the class gets no points.
 */
final class Demand implements Runnable {
    /**
     * The number of frames that are searched for the innermost method that would get points. Frames of classes that may have no points do
     * not count.
     */
    private static final int FRAMES = 8;
    /** If a sampled thread uses too little CPU time within this time, ns, sampling of the thread ends. */
    private static final long PATIENCE = 20_000_000;
    /** The interval, ns, at which the thread's CPU time is read. */
    private static final long LOOK = 500_000;
    /** After useless samples, sysmons pass no thread to gmp-points for this time, ns. It doubles up to {@link #LAST_PAUSE}. */
    private static final long FIRST_PAUSE = 2_000_000;
    private static final long LAST_PAUSE = 128_000_000;
    /** Sysmons pass no thread for this time, ns, after there was no memory, because each attempt costs the program a collection. */
    private static final long SHORT_OF_MEMORY = 2_000_000_000;

    /** The interval, ns, between two samples of a profile. */
    private static final long PROBE_EVERY = 1_000_000;
    /** The longest duration of a profile, ns. */
    private static final long LONGEST_PROFILE = 4 * DemandRules.PROFILE * PROBE_EVERY;

    /** Whether the thread has started, or is about to. */
    private static final AtomicBoolean BEGUN = new AtomicBoolean();
    private static volatile @Nullable Demand demand;
    /** The number of times that a class got no points because a stack had its frames. Only the thread gmp-points writes it. */
    private static volatile long refusals;
    /** The number of profiles that have begun. Only the thread gmp-points writes it. */
    private static volatile long profiles;

    private final OnDemand points;
    private final Thread thread;
    /** The thread to be sampled. A sysmon sets it while it is null, and the thread gmp-points sets it to null. */
    private final AtomicReference<@Nullable Overrun> asked = new AtomicReference<>();
    /**
     * The nanoTime before which no sysmon passes a thread to gmp-points. The thread gmp-points writes this field. A sysmon that reads an
     * older value may pass a thread too early, which is harmless.
     */
    private volatile long notBefore = System.nanoTime();

    // Only the thread gmp-points uses the fields below.
    private final DemandRules rules = new DemandRules();
    private final Map<Class<?>, Methods> known = new WeakHashMap<>();
    private final List<Wish> wishes = new ArrayList<>();
    private long pause = FIRST_PAUSE;
    /** The nanoTime of the start, or of the last attempt to prepare the classes of points, unless the next field is set. */
    private long triedAt = System.nanoTime();
    private boolean prepared;

    /** A thread that overran, and the kernel's id of the M's thread that it ran on. */
    private record Overrun(Thread thread, int tid) {
    }

    /**
     * A class that has no points yet.
     *
     * @param loops the methods that would have points, by name, with a flag that says whether a loop of the method contains a counting loop
     * ({@link OnDemand#methods}); null, for all methods, if the class file could not be read
     * @param calls the methods that a line of a method calls, by the method's name and the line
     * @param samples the samples of its methods
     */
    private record Methods(@Nullable Map<String, Boolean> loops, Map<String, List<Called>> calls, DemandRules.Samples samples) {
        Methods(@Nullable Map<String, Boolean> loops) {
            this(loops, new HashMap<>(), new DemandRules.Samples());
        }

        boolean has(String method) {
            return loops == null || loops.containsKey(method);
        }

        /** Returns the names of the methods that would have points; null for all methods. */
        @Nullable Set<String> names() {
            return loops == null ? null : loops.keySet();
        }

        /**
         * Returns whether one of the calls, if it is long, keeps the class from its points whatever a profile finds: a call of a hot method
         * ({@link DemandRules}), or of a method in which a loop contains a counting loop. A method of the second kind may compute for long,
         * and a profile misses it if the call waits during the profile, or if the JVM's counted loops have no safepoint polls. Any call
         * counts if its method, or the class's methods, are not known.
         */
        boolean anyHot(Set<Call> calls) {
            for (Call c : calls) {
                String method = c.method();
                if (method == null || loops == null || Boolean.TRUE.equals(loops.get(method)) || samples.hot().contains(method)) {
                    return true;
                }
            }
            return false;
        }
    }

    /** A method that would have points. */
    private record Place(Class<?> type, String method) {
    }

    /** The value for a class that may have no points. */
    private static final Methods NONE = new Methods(Map.of());

    /** A class that is to have points. This keeps the class and its loader alive, for minutes at most. */
    private static final class Wish {
        private final Class<?> type;
        private final Methods methods;
        /** The nanoTime of the next search. */
        private long next;
        /** The calls of the class's methods that the last search found; null if the next search is the first of two. */
        private @Nullable Set<Call> calls;
        /** The names of the methods whose long calls may stay in the old methods, as profiles have found. */
        private final Set<String> mayStay = new HashSet<>();
        private int retries;

        Wish(Class<?> type, Methods methods, long now) {
            this.type = type;
            this.methods = methods;
            next = now;
        }

        /** Discards what was found, so that the next search is the first of two. */
        void forget() {
            calls = null;
            mayStay.clear();
        }
    }

    private Demand(OnDemand points) {
        this.points = points;
        thread = new OwnThread(this, "gmp-points");
        Overrun _ = new Overrun(thread, 0); // This loads the class now, because later a sysmon may have no memory for that.
    }

    /**
     * Starts the thread gmp-points, if points are given on demand and it has not started yet. It is called when a scheduler is made, and by
     * each sysmon every second, because an agent may be attached later. It takes no lock that a goroutine may hold.
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
            return; // There is no thread or no memory, and the next call tries again.
        } finally {
            BEGUN.set(started);
        }
    }

    /**
     * Passes a thread that has overrun its quantum in a method without points to gmp-points. Sysmon calls it.
     *
     * @param tid the kernel's id of the M's thread that it runs on
     */
    static void ask(Thread overran, int tid) {
        Demand d = demand;
        if (d != null && d.asked.getOpaque() == null && System.nanoTime() - d.notBefore >= 0) {
            d.asked.setRelease(new Overrun(overran, tid)); // Partner: the getAcquire in run.
            LockSupport.unpark(d.thread);
        }
    }

    /** Returns the number of times that a class got no points because a stack had its frames. */
    static long refusals() {
        return refusals;
    }

    /** Returns the number of profiles of long calls that have begun. */
    static long profiles() {
        return profiles;
    }

    @Override
    public void run() {
        // The maker of the first scheduler may be bound to CPUs or have a low priority, which this thread inherits.
        Inheritance.beginPlain();
        for (;;) {
            try {
                work();
            } catch (Throwable t) { // A class loader of the program failed, or memory ran out. The classes get no points.
                wishes.clear();
                asked.setRelease(null);
                notBefore = System.nanoTime() + (t instanceof OutOfMemoryError ? SHORT_OF_MEMORY : LAST_PAUSE);
            }
            sleep();
        }
    }

    /**
     * Does the work that is due. It is a method, because a variable of {@link #run} would keep the sampled thread alive during each sleep.
     */
    private void work() {
        long now = System.nanoTime();
        if (!prepared && DemandRules.untilPreparing(now, triedAt) <= 0) {
            triedAt = now; // Another attempt follows if this one finds no memory.
            boolean _ = points.prepare();
            prepared = true;
        }
        Overrun o = asked.getAcquire();
        if (o != null) {
            lookAt(o);
            asked.setRelease(null);
        }
        grant();
    }

    /**
     * Sleeps until a search is due or sysmon passes a thread. It allocates nothing, not even an iterator, because {@link #run} catches no
     * error of it.
     */
    private void sleep() {
        long next = prepared ? Long.MAX_VALUE : DemandRules.untilPreparing(System.nanoTime(), triedAt);
        for (int i = 0; i < wishes.size(); i++) {
            next = Math.min(next, wishes.get(i).next - System.nanoTime());
        }
        boolean _ = Thread.interrupted(); // An interrupt has no meaning here, and would end each sleep.
        if (asked.getAcquire() != null || next <= 0) {
            return;
        }
        if (next == Long.MAX_VALUE) {
            LockSupport.park(this);
        } else {
            LockSupport.parkNanos(this, next);
        }
    }

    /**
     * Takes samples of a thread until the class of a sampled method is to have points, or the thread no longer runs a method that would
     * have points.
     */
    private void lookAt(Overrun o) {
        long now = System.nanoTime();
        if (rules.readsCompilers(now)) {
            rules.compilersWanted(CompilerThreads.wantedNanos(), now);
        }
        boolean useful = rules.settled() && sampled(o);
        pause = useful ? FIRST_PAUSE : Math.min(2 * pause, LAST_PAUSE);
        notBefore = System.nanoTime() + (useful ? 0 : pause);
    }

    /** Takes the samples, and returns whether any was useful. */
    private boolean sampled(Overrun o) {
        boolean any = false;
        for (int i = 0; i < DemandRules.SAMPLES; i++) {
            if (i > 0 && !ranOn(o.tid)) {
                return any;
            }
            Place place = innermost(JdkFrames.of(o.thread));
            if (place == null || points.has(place.type) || isWished(place.type)) {
                return any;
            }
            any = true;
            Methods methods = methods(place.type);
            long now = System.nanoTime();
            if (methods.samples.add(place.method, now)) {
                wishes.add(new Wish(place.type, methods, now));
                return true;
            }
        }
        return any;
    }

    /** Waits until the M's thread has used {@link DemandRules#SPACING} ns more CPU time. Returns false if that takes too long. */
    static boolean ranOn(int tid) {
        long from = OsThread.cpuNanos(tid);
        for (long end = System.nanoTime() + PATIENCE; from >= 0 && System.nanoTime() < end;) {
            rest(LOOK);
            if (OsThread.cpuNanos(tid) - from >= DemandRules.SPACING) {
                return true;
            }
        }
        return false;
    }

    /** Sleeps. An interrupt, which has no meaning here, would end each sleep at once. */
    private static void rest(long nanos) {
        boolean _ = Thread.interrupted();
        LockSupport.parkNanos(nanos);
    }

    /** Returns the innermost method on a stack that would have points; null when there is none. */
    private @Nullable Place innermost(StackTraceElement[] frames) {
        Place called = called(frames);
        if (called != null) {
            return called;
        }
        int without = 0;
        for (StackTraceElement frame : frames) {
            Class<?> type = JdkFrames.type(frame);
            Methods methods = methods(type);
            if (methods.has(frame.getMethodName())) {
                return new Place(type, frame.getMethodName());
            }
            if (methods != NONE && ++without == FRAMES) {
                return null;
            }
        }
        return null;
    }

    /**
     * Returns the method with a loop that the innermost frame's line calls; null when it calls no such method, or the JVM's counted loops
     * have safepoint polls. Without polls a thread stops for a stack trace only when its loop has ended, so the trace shows the caller of
     * the method with the loop.
     */
    private @Nullable Place called(StackTraceElement[] frames) {
        if (frames.length == 0 || VmFlags.countedLoopsPoll()) {
            return null;
        }
        Class<?> type = JdkFrames.type(frames[0]);
        Methods methods = methods(type);
        if (methods == NONE) {
            return null;
        }
        String method = frames[0].getMethodName();
        int line = frames[0].getLineNumber();
        String key = method.concat(":").concat(Integer.toString(line));
        List<Called> calls = methods.calls.get(key);
        if (calls == null) {
            calls = CallsOfLine.of(type, method, line);
            methods.calls.put(key, calls);
        }
        for (Called c : calls) {
            try {
                Class<?> owner = Class.forName(c.owner(), false, type.getClassLoader());
                Methods known = methods(owner);
                if (known.loops != null && known.loops.containsKey(c.method())) {
                    return new Place(owner, c.method());
                }
            } catch (ClassNotFoundException | RuntimeException | LinkageError e) {
                continue; // The line was never executed up to this call, or the loader refuses, for example because its application was
                          // stopped.
            }
        }
        return null;
    }

    private Methods methods(Class<?> type) {
        Methods methods = known.get(type);
        if (methods == null) {
            methods = points.mayHave(type) ? new Methods(OnDemand.methods(type)) : NONE;
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

    /** Gives points, in one pause, to those wished classes of which no long call is under way ({@link DemandRules}). */
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
                w.forget();
                w.next = rules.nextPause(); // All get the same time, so that one pause is enough for them.
            }
            return;
        }
        StackSearch search = new StackSearch();
        for (Wish w : due) {
            search.add(w.type.getName(), w.methods.names());
        }
        boolean whole = search.run();
        long found = System.nanoTime();
        List<Class<?>> free = new ArrayList<>();
        Map<Wish, Set<Call>> doubtful = new HashMap<>();
        for (int i = 0; i < due.size(); i++) {
            Wish w = due.get(i);
            Set<Call> calls = search.calls(i);
            if (w.calls != null) {
                boolean _ = calls.retainAll(w.calls); // A call that both searches found is long.
            }
            boolean hot = w.methods.anyHot(calls);
            boolean profiled = w.mayStay.containsAll(methods(calls));
            switch (DemandRules.after(whole, w.calls != null, calls.isEmpty(), hot, profiled)) {
                case GIVE -> {
                    free.add(w.type);
                    wishes.remove(w);
                }
                case SEARCH -> {
                    w.calls = calls;
                    w.next = found + DemandRules.SECOND_SEARCH;
                }
                case PROFILE -> doubtful.put(w, calls);
                default -> later(w, found);
            }
        }
        if (!free.isEmpty()) {
            rules.paused(found);
            for (Class<?> c : points.give(free)) {
                known.put(c, NONE);
            }
        }
        for (Map.Entry<Wish, Set<Call>> e : doubtful.entrySet()) { // Comes last, because calls begin and end while profiles run.
            profile(e.getKey(), e.getValue());
        }
    }

    /**
     * Finds out whether the long calls of the class's methods may stay in the old methods. The caller has found that none of them is a call
     * of a hot method. If they may stay, two more searches follow at once, because other calls may have begun during the profile.
     */
    private void profile(Wish w, Set<Call> calls) {
        Set<Long> callers = new HashSet<>();
        for (Call c : calls) {
            boolean _ = callers.add(c.holder());
        }
        Set<String> methods = methods(calls);
        CallProfile profile = new CallProfile(callers) {
            /** A callee may be inlined. But a loop in the callee has safepoint polls of its own, so the frames show the callee. */
            @Override
            protected boolean isOwn(StackTraceElement[] frames) {
                return JdkFrames.type(frames[0]) == w.type && methods.contains(frames[0].getMethodName()) && called(frames) == null;
            }
        };
        profiles++;
        long end = System.nanoTime() + LONGEST_PROFILE;
        for (int i = 0; (i < DemandRules.PROFILE || profile.ran() < DemandRules.PROFILE) && System.nanoTime() - end < 0; i++) {
            rest(PROBE_EVERY);
            profile.sample();
        }
        if (DemandRules.mayStay(profile.ran(), profile.own())) {
            w.calls = null;
            boolean _ = w.mayStay.addAll(methods);
            w.next = System.nanoTime();
        } else {
            later(w, System.nanoTime());
        }
    }

    /** Returns the names of the methods that are called. */
    private static Set<String> methods(Set<Call> calls) {
        Set<String> methods = new HashSet<>();
        for (Call c : calls) {
            boolean _ = methods.add(String.valueOf(c.method()));
        }
        return methods;
    }

    /** Sets the time of the next two searches for the class, or drops the class after its last retry. */
    private void later(Wish w, long now) {
        refusals++;
        w.forget();
        long after = DemandRules.retryAfter(w.retries++);
        w.next = now + after;
        if (after < 0) {
            wishes.remove(w);
        }
    }
}
