// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The preemption points that have been reached. Through them {@code sysmon} makes code without calls enter the runtime.
 *
 * <p>While {@link #setWanted wanted}, a point calls the hook if it is armed, or if its code is interpreted or compiled by C1. An
 * unarmed point has no instructions in C2's code. There are two ways to make such code reach the hook:
 *
 * <ol>
 * <li>{@link #nudge}: the threads that are in a method with points continue in the interpreter, pass the point, and soon return to the
 * compiled code. A nudge delays every running goroutine briefly, and invalidates no code. It does not reach a recursion that never loops,
 * or a loop that spends its time in methods without points.
 * <li>{@link #arm}: the points of the methods on a goroutine's stack become a load and a branch. HotSpot discards the compiled code and
 * compiles again, without vector instructions in the loops. Arming reaches all code with points. Once the points are armed, a further
 * preemption in that code needs no nudge and no compilation.
 * </ol>
 *
 * <p>Sysmon calls {@link #want}. If the goroutine runs on, sysmon nudges it a few times, provided that counted loops have safepoint polls.
 * After each millisecond of CPU time it arms one more level, from level 0 on. When {@code arm} has nothing to arm, sysmon retakes the P. A
 * point at which a nudge stopped a goroutine is armed at the next scan ({@link #armLearnt}). In a JVM where nudges take effect late, all
 * points are armed except those of loops that C2 may vectorise ({@link #armAll}). About every second sysmon calls {@link #disarm}.
 *
 * <p>Thread-safe.
 */
public final class Points {
    /** The greatest number of times that a site is disarmed. HotSpot stops compiling a method whose code it had to discard 400 times. */
    private static final int MAX_ARMINGS = 16;

    /**
     * Classes that the JDK initialises when it first links a call site whose bootstrap method has arguments, or when a contended LongAdder
     * or ConcurrentHashMap first counts.
     */
    private static final String[] OF_LINKING = {"java.lang.invoke.MethodHandleImpl$ArrayAccessor",
            "java.lang.invoke.MethodHandleImpl$ArrayAccess", "java.lang.invoke.MethodHandleImpl$AsVarargsCollector",
            "java.lang.ClassValue$ClassValueMap", "java.lang.ClassValue$RemovalToken", "java.lang.ClassValue$Entry",
            "java.util.Collections$CopiesList", "java.lang.invoke.ConstantBootstraps", "java.util.concurrent.ThreadLocalRandom",
            "java.util.concurrent.atomic.Striped64$Cell"};

    private static final Object LOCK = new Object();
    /** The sites that were armed after they were linked, and have not been disarmed. Guarded by {@link #LOCK}. */
    private static final List<Site.Ref> ARMED = new ArrayList<>();
    /** Guarded by {@link #LOCK}. */
    private static long armings;
    /** Guarded by {@link #LOCK}. */
    private static long disarmings;

    private static final LongAdder LINKED = new LongAdder();
    private static final LongAdder REACHED = new LongAdder();
    private static final LongAdder NUDGES = new LongAdder();
    /** The number of further calls of the hook that may stop no goroutine. A benign race may lose some counts. */
    private static int patience;

    /**
     * The last argument of setWanted. The field {@code used} says whether any point was linked. Until a point is linked, setWanted does not
     * initialise JdkPoint, because JdkPoint's initialiser defines a class that keeps this loader for ever. A thread that links a point
     * writes {@code used} and then reads {@code wanted}; setWanted writes {@code wanted} and then reads {@code used}. Both fields are
     * volatile, so at least one of the two threads sees the other's write.
     */
    private static volatile boolean wanted;
    private static volatile boolean used;

    /** The hook; null until it is set. */
    private static volatile @Nullable Runnable hook;
    /** The predicate that returns whether the hook would stop the calling goroutine; null when there is none. */
    private static volatile @Nullable BooleanSupplier stops;
    private static volatile boolean eager;
    /** The newest of the points to be armed, the top of a stack through {@link Site#learntBefore}. Any thread pushes. */
    private static final AtomicReference<@Nullable Site> LEARNT = new AtomicReference<>();

    private Points() {
    }

    /** The counts of this process so far. {@code armed} is the number of sites that were armed after they were linked, and still are. */
    public record Counters(long classes, long methods, long points, long linked, int armed, long armings, long disarmings,
            long nudges, long reached, Map<LeftAlone, Long> leftAlone) {
    }

    /**
     * Initialises the classes through which a point is linked and armed. When a point is linked the stack may be nearly full, and when
     * {@code sysmon} arms it, the heap. A class whose initialiser runs out of stack or memory can never be used. Called before the first
     * class has points.
     */
    static void initialize() {
        try {
            for (Class<?> c : new Class<?>[] {Site.class, Site.Ref.class, ClassSites.class}) {
                MethodHandles.lookup().ensureInitialized(c);
            }
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        for (String name : OF_LINKING) {
            try {
                Class.forName(name, true, null);
            } catch (ClassNotFoundException e) {
                continue; // This JDK links without the class.
            }
        }
        shake();
        synchronized (LOCK) {
            ClassSites.expunge();
            ClassSites.addUnarmed(new ArrayList<>(0));
            arm(new ArrayList<>(0));
            int _ = disarm(new ArrayList<>(0));
        }
        armLearnt();
    }

    /**
     * Returns the class file with the points that the agent would add; null when it gets none. It is for measurements that load a class
     * with points and without.
     *
     * @throws IllegalStateException when there are no points in this JVM
     */
    public static byte @Nullable [] addTo(byte[] classFile) {
        if (JdkPoint.PROBLEM != null) {
            throw new IllegalStateException(JdkPoint.PROBLEM);
        }
        return PointTransformer.addPoints(classFile);
    }

    /**
     * Returns in one sentence why points preempt no goroutine of this copy of gmp4j although classes have points: the points may belong to
     * another copy, in another class loader. Returns null when there is no such reason.
     */
    public static @Nullable String problem() {
        try {
            Class<?> made = Class.forName(JdkPoint.CLASS.replace('/', '.'), false, null);
            return JdkPoint.ANOTHERS.equals(JdkPoint.PROBLEM) && made != null ? JdkPoint.ANOTHERS : null;
        } catch (ClassNotFoundException e) {
            return null; // No copy has defined the class. JdkPoint would define it, so it is not used here.
        }
    }

    /**
     * Sets the hook. While {@link #setWanted wanted}, a thread that reaches a point calls it. If the hook throws an exception, the code
     * with the point throws it.
     */
    public static void setHook(Runnable r) {
        setHook(r, null);
    }

    /**
     * Sets the hook, and a predicate that is called before it and returns whether the hook will stop the thread. Points at which the
     * predicate returns true are recorded and then armed.
     */
    public static void setHook(Runnable r, @Nullable BooleanSupplier wouldStop) {
        stops = wouldStop;
        hook = r;
    }

    /**
     * Sets whether points that are linked from now on are armed at once and for good, except those of loops that C2 may vectorise. Then a
     * goroutine stops at its next point without a nudge and without a new compilation.
     */
    public static void setEager(boolean on) {
        eager = on;
    }

    /**
     * Turns {@link #setEager} on, and arms the points that are linked already, as many as the time allows. It is for a JVM whose loops have
     * no safepoint polls, so that a nudge takes effect only when the loop has ended. Each change of a point in compiled code waits for the
     * end of such loops too, so the time is limited.
     *
     * @param nanos the time, ns, after which it stops; it arms at least one point
     * @return whether all are armed now
     * @throws OutOfMemoryError when there is no memory to arm a point, which is not armed then
     */
    public static boolean armAll(long nanos) {
        eager = true;
        // A thread that links a point either sees eager, or has added the point before this search. The partner of this fence is in link.
        VarHandle.fullFence();
        long began = System.nanoTime();
        synchronized (LOCK) {
            List<Site> fresh = new ArrayList<>();
            ClassSites.addUnarmed(fresh);
            int done = 0;
            while (done < fresh.size() && (done == 0 || System.nanoTime() - began < nanos)) {
                arm(List.of(fresh.get(done++)));
            }
            return done == fresh.size();
        }
    }

    /**
     * Arms the points at which goroutines stopped after a nudge, except those of loops that C2 may vectorise. The next goroutine that
     * exceeds its quantum in the loops of these points needs no nudge.
     */
    public static void armLearnt() {
        if (LEARNT.get() == null) {
            return;
        }
        synchronized (LOCK) {
            Site learnt;
            List<Site> fresh;
            do { // Allocates the list before it takes the sites, because a taken site is not recorded again until forget.
                learnt = LEARNT.get();
                fresh = new ArrayList<>(length(learnt));
            } while (!LEARNT.compareAndSet(learnt, null));
            for (Site s = learnt; s != null;) {
                Site before = s.learntBefore;
                s.learntBefore = null;
                s.forget();
                if (!s.isArmed) {
                    fresh.add(s);
                }
                s = before;
            }
            arm(fresh);
        }
    }

    private static int length(Site newest) {
        int n = 0;
        for (Site s = newest; s != null; s = s.learntBefore) {
            n++;
        }
        return n;
    }

    /** Sets whether points call the hook. Set it before a nudge, and clear it when no goroutine has to be stopped any more. */
    public static void setWanted(boolean wanted) {
        setWanted(wanted, Integer.MAX_VALUE);
    }

    /**
     * Makes points call the hook until {@code patience} calls have stopped no goroutine. A limit is needed, because the goroutine to be
     * stopped may be in native code or asleep. Meanwhile the armed loops of all other goroutines call the hook in each round, which makes
     * these loops much slower.
     */
    public static void want(int patience) {
        setWanted(true, patience);
    }

    private static void setWanted(boolean wanted, int patience) {
        Points.patience = patience;
        Points.wanted = wanted;
        if (used) {
            JdkPoint.setWanted(wanted);
        }
    }

    /**
     * Makes the threads that are in compiled code with points continue in the interpreter to their next point. Returns when the
     * slowest thread has reached its safepoint poll, usually after some microseconds.
     */
    public static void nudge() {
        NUDGES.increment();
        shake();
    }

    private static void shake() {
        Arena.ofShared().close();
    }

    /**
     * Arms points of the methods on this stack. Level 0 is the outermost loops of the topmost method that has points, and the method's
     * entry if it calls itself. Each further level is the loops one level deeper. After the deepest loops of a method come the outermost
     * loops of the next method down the stack. All methods of one name in a class count as one. The levels up to {@code level} are armed.
     * If all of them are armed already, the next level that is not armed is armed.
     *
     * @return false when all points of methods on the stack are armed, or no method on it has points
     */
    public static boolean arm(StackTraceElement[] stack, int level) {
        synchronized (LOCK) {
            ClassSites.expunge();
            List<Site> fresh = new ArrayList<>();
            int base = 0;
            for (int i = 0; i < stack.length && (base <= level || fresh.isEmpty()); i++) {
                if (!isRepeated(stack, i)) {
                    base += collect(stack[i], level - base, fresh);
                }
            }
            arm(fresh);
            return !fresh.isEmpty();
        }
    }

    private static void arm(List<Site> fresh) {
        MutableCallSite[] all = fresh.toArray(new MutableCallSite[0]);
        List<Site.Ref> refs = new ArrayList<>(fresh.size());
        for (Site s : fresh) {
            refs.add(s.ref);
        }
        ARMED.addAll(refs); // The last step that needs memory: either all sites are armed and on the list, or none is.
        for (Site s : fresh) {
            s.arm();
        }
        MutableCallSite.syncAll(all);
        armings += fresh.size();
    }

    /** Returns whether a frame further up is of the same method. A few frames are compared, which is enough for a recursion. */
    private static boolean isRepeated(StackTraceElement[] stack, int at) {
        for (int i = at - 1; i >= Math.max(0, at - 16); i--) {
            if (stack[i].getMethodName().equals(stack[at].getMethodName())
                    && stack[i].getClassName().equals(stack[at].getClassName())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Adds to {@code fresh} the unarmed sites of a frame's method up to a depth. If {@code fresh} is empty after that, adds the sites of
     * the next depth that has unarmed ones. Returns the number of levels of the method.
     */
    private static int collect(StackTraceElement frame, int depth, List<Site> fresh) {
        int levels = 0;
        int next = Integer.MAX_VALUE;
        for (ClassSites sites : ClassSites.of(frame)) {
            for (Site.Ref r = sites.last(); r != null; r = r.before) {
                Site s = r.get();
                if (s != null && s.method.equals(frame.getMethodName())) {
                    levels = Math.max(levels, s.depth + 1);
                    if (!s.isArmed) {
                        if (s.depth <= depth) {
                            fresh.add(s);
                        } else {
                            next = Math.min(next, s.depth);
                        }
                    }
                }
            }
        }
        return fresh.isEmpty() && next != Integer.MAX_VALUE ? collect(frame, next, fresh) : levels;
    }

    /**
     * Disarms the points that have stopped no goroutine for {@code idleNanos}. A point that is armed again stays armed twice as long each
     * time, and finally for ever, because each change costs a compilation. Returns the number of disarmed points.
     */
    public static int disarm(long idleNanos) {
        if (!used) {
            return 0; // See any.
        }
        long now = System.nanoTime();
        synchronized (LOCK) {
            ClassSites.expunge();
            List<Site> idle = new ArrayList<>();
            for (Site.Ref r : ARMED) {
                Site s = r.get();
                if (s != null && (s.vector || !eager) && s.armings <= MAX_ARMINGS && now - s.lastUse >= idleNanos << s.armings - 1) {
                    idle.add(s);
                }
            }
            return disarm(idle);
        }
    }

    /** Disarms the points that were armed after they were linked, even if they were armed often. */
    public static int disarmAll() {
        synchronized (LOCK) {
            return disarm(alive());
        }
    }

    private static List<Site> alive() {
        List<Site> sites = new ArrayList<>();
        for (Site.Ref r : ARMED) {
            Site s = r.get();
            if (s != null) {
                sites.add(s);
            }
        }
        return sites;
    }

    private static int disarm(List<Site> sites) {
        MutableCallSite[] all = sites.toArray(new MutableCallSite[0]);
        for (Site s : sites) {
            s.disarm();
        }
        MutableCallSite.syncAll(all);
        for (Iterator<Site.Ref> i = ARMED.iterator(); i.hasNext();) {
            Site s = i.next().get();
            if (s == null || !s.isArmed) {
                i.remove();
            }
        }
        disarmings += sites.size();
        return sites.size();
    }

    /** Returns the methods with points that were armed after they were linked, each with the depth: {@code com.acme.Parser.parse 0}. */
    public static List<String> armed() {
        synchronized (LOCK) {
            return alive().stream().map(Site::toString).distinct().sorted().toList();
        }
    }

    /** Returns whether any class has linked points. Otherwise neither a nudge nor arming stops a goroutine. */
    public static boolean any() {
        return used && ClassSites.any(); // Sysmon must not initialise ClassSites, because it may lack memory for that.
    }

    /** Returns the counts of this process so far. */
    public static Counters counters() {
        Map<LeftAlone, Long> leftAlone = new EnumMap<>(LeftAlone.class);
        for (LeftAlone reason : LeftAlone.values()) {
            if (reason.counted() > 0) {
                leftAlone.put(reason, reason.counted());
            }
        }
        synchronized (LOCK) {
            return new Counters(PointTransformer.CLASSES.sum(), PointTransformer.METHODS.sum(),
                    PointTransformer.POINTS.sum(), LINKED.sum(), ARMED.size(), armings, disarmings, NUDGES.sum(),
                    REACHED.sum(), leftAlone);
        }
    }

    /**
     * Links a point: the bootstrap method of every point, which is called through {@link JdkPoint}.
     *
     * @param type a class for a dynamic constant, or a method type for a call site
     * @return the site, or a call site that calls it
     */
    static Object link(MethodHandles.Lookup lookup, String name, Object type, String method, int depth) {
        if (!used) {
            used = true;
            if (wanted) {
                JdkPoint.setWanted(true);
                if (!wanted) { // setWanted(false) may have cleared JdkPoint's field before the call above set it.
                    JdkPoint.setWanted(false);
                }
            }
        }
        Site site = new Site(method, depth % PointWriter.VECTOR, depth >= PointWriter.VECTOR, eager);
        ClassSites.add(lookup.lookupClass(), site);
        LINKED.increment();
        VarHandle.fullFence(); // The partner of this fence is in armAll.
        if (eager && !site.eager && !site.vector && site.learn()) {
            learn(site); // eager was false when the site was made, and armAll may have read the list without this site.
        }
        return type instanceof MethodType t ? JdkPoint.callSite(site, t) : site;
    }

    static void reached(Site site) {
        REACHED.increment();
        BooleanSupplier s = stops;
        if (s != null) {
            if (s.getAsBoolean()) {
                site.lastUse = System.nanoTime();
                if (!site.isArmed && !site.vector && site.learn()) {
                    learn(site);
                }
            } else if (--patience < 0) {
                setWanted(false); // This may undo a concurrent call by sysmon, but sysmon repeats it at its next scan.
            }
        }
        Runnable r = hook;
        if (r != null) {
            r.run();
        }
    }

    private static void learn(Site site) {
        do {
            site.learntBefore = LEARNT.get();
        } while (!LEARNT.compareAndSet(site.learntBefore, site));
    }
}
