// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.foreign.Arena;
import java.lang.invoke.CallSite;
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
 * The preemption points that have been reached: how {@code sysmon} makes code that calls nothing pass through the
 * runtime.
 *
 * <p>While {@link #setWanted wanted}, a point calls the hook if its code is interpreted, compiled by C1, or armed.
 * Compiled by C2 and unarmed, a point is nothing. There are two ways to make such code reach the hook:
 *
 * <ol>
 * <li>{@link #nudge}: the threads that are in a method with points right now go on in the interpreter, pass the point, and
 * are back in the compiled code some tens of microseconds later. It costs every running goroutine that much, invalidates
 * nothing, and does not find a recursion that never loops, or a loop that spends its time in methods without points.
 * <li>{@link #arm}: the points of the methods on a goroutine's stack become a load and a branch. HotSpot throws the
 * compiled code away and compiles again; a loop that was vectorised is not any more. It finds everything that has points,
 * and once armed it costs nothing further to stop the goroutine, the next time as well.
 * </ol>
 *
 * <p>Sysmon uses them in this order: want; if the goroutine runs on, nudge, where counted loops have safepoint polls; a millisecond
 * later arm level 0, and then a level deeper each time; when {@code arm} has nothing to arm, take the P. A point at which a nudge stopped
 * a goroutine is armed at the next look ({@link #armLearnt}), and where nudges are late all are, but for those of loops that C2 may
 * vectorise ({@link #armAll}). Every second or so it calls {@link #disarm}.
 *
 * <p>Methods are safe to call from any thread.
 */
public final class Points {
    /** How often a site is disarmed at most; HotSpot stops compiling a method whose code it had to discard 400 times. */
    private static final int MAX_ARMINGS = 16;

    /** What the JDK initialises as it links the first call site of a bootstrap method with arguments. */
    private static final String[] OF_LINKING = {"java.lang.invoke.MethodHandleImpl$ArrayAccessor",
            "java.lang.invoke.MethodHandleImpl$ArrayAccess", "java.lang.invoke.MethodHandleImpl$AsVarargsCollector",
            "java.lang.ClassValue$ClassValueMap", "java.lang.ClassValue$RemovalToken", "java.lang.ClassValue$Entry",
            "java.util.Collections$CopiesList"};

    private static final Object LOCK = new Object();
    /** Under {@link #LOCK}. */
    private static final List<Site.Ref> ARMED = new ArrayList<>();
    private static long armings;
    private static long disarmings;

    private static final LongAdder LINKED = new LongAdder();
    private static final LongAdder REACHED = new LongAdder();
    private static final LongAdder NUDGES = new LongAdder();
    /** How many more calls of the hook may stop nobody. A benign race: some are not counted. */
    private static int patience;

    /**
     * What setWanted last said; and whether any point was linked. Until then JdkPoint is left alone, which makes a class that keeps our
     * class loader for ever. Each side writes its own and then reads the other's, both volatile: one sees the other.
     */
    private static volatile boolean wanted;
    private static volatile boolean used;

    /** Both null until there is one. */
    private static volatile @Nullable Runnable hook;
    /** Whether the hook would stop the calling goroutine. */
    private static volatile @Nullable BooleanSupplier stops;
    private static volatile boolean eager;
    /** The points to be armed: a stack through {@link Site#learntBefore}; any thread pushes. */
    private static final AtomicReference<@Nullable Site> LEARNT = new AtomicReference<>();

    private Points() {
    }

    /** What was done so far; {@code armed} is what is armed now. */
    public record Counters(long classes, long methods, long points, long linked, int armed, long armings, long disarmings,
            long nudges, long reached, Map<LeftAlone, Long> leftAlone) {
    }

    /**
     * Initialises what a point links through. Later the stack may be nearly full, and a class whose initialiser runs out of stack is
     * lost for good.
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
                continue; // Another JDK links without it.
            }
        }
    }

    /**
     * The class file with points, as the agent would load the class; null where it gets none. For class loaders of
     * measurements that hold a class both ways.
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
     * Why points stop no goroutine of ours though classes have some: they are those of another copy of gmp4j, in another class
     * loader.
     *
     * @return one sentence; null when that is not so
     */
    public static @Nullable String problem() {
        try {
            Class<?> made = Class.forName(JdkPoint.CLASS.replace('/', '.'), false, null);
            return JdkPoint.ANOTHERS.equals(JdkPoint.PROBLEM) && made != null ? JdkPoint.ANOTHERS : null;
        } catch (ClassNotFoundException e) {
            return null; // By nobody. JdkPoint, which would make it, is left alone.
        }
    }

    /** What a point calls while {@link #setWanted wanted}, on the thread that reached it; what it throws, the code throws. */
    public static void setHook(Runnable r) {
        setHook(r, null);
    }

    /** The same; {@code wouldStop} says, before the hook is called, whether it stops the thread: such points are learnt. */
    public static void setHook(Runnable r, @Nullable BooleanSupplier wouldStop) {
        stops = wouldStop;
        hook = r;
    }

    /**
     * Whether points that are linked from here on are armed at once and for good, but for those of loops that C2 may vectorise.
     * Then a goroutine stops at its next point without a nudge, and nothing is compiled again for it.
     */
    public static void setEager(boolean on) {
        eager = on;
    }

    /**
     * The same, and arms those that are linked already, or a part of them: for a JVM in whose loops there are no safepoint polls, so that
     * a nudge takes effect only when the loop has ended. Each change of a point in compiled code waits for that too: arming 200 of those
     * at once took sysmon 5 s beside loops of 20 ms.
     *
     * @param nanos for how long it goes on; it arms one at least
     * @return whether all are armed now
     * @throws OutOfMemoryError when there is no memory to arm one; it was not armed then
     */
    public static boolean armAll(long nanos) {
        eager = true;
        VarHandle.fullFence(); // Whoever links one either sees eager, or has added it before we look. Partner: in link.
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
     * Arms the points at which goroutines stopped that were on their way through the interpreter, but for loops that C2 may
     * vectorise: the next overrun there needs no nudge.
     */
    public static void armLearnt() {
        if (LEARNT.get() == null) {
            return;
        }
        synchronized (LOCK) {
            Site learnt;
            List<Site> fresh;
            do { // Makes room for all before the list is taken: a site that was taken is not learnt again before it is forgotten.
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

    /** Whether points call the hook. Set it before a nudge, clear it when nobody is left to be stopped. */
    public static void setWanted(boolean wanted) {
        setWanted(wanted, Integer.MAX_VALUE);
    }

    /**
     * Has points call the hook until that many calls have stopped nobody. Whoever is to be stopped may be in native code or asleep, and
     * the armed loops of all others would call the hook in each round, which takes thirty times as long.
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
     * Sends the threads that are in compiled code with points through the interpreter to their next point. Takes as long as
     * the slowest thread needs to its safepoint poll, usually some microseconds.
     */
    public static void nudge() {
        NUDGES.increment();
        shake();
    }

    private static void shake() {
        Arena.ofShared().close();
    }

    /**
     * Does once what {@code sysmon} does when a goroutine first overruns: a class that has no memory as it is initialised can
     * never be used again.
     */
    public static void rehearse() {
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
     * Arms points of the methods on this stack. Level 0 is the outermost loops of the topmost method that has points, and
     * its entry if it calls itself; each further level the loops one deeper, then the same for the next method down the
     * stack. All methods of that name in the class count as one. Lower levels are armed along with the given one; when all
     * these are armed already, the next level that is not.
     *
     * @return false when everything on the stack is armed, or nothing on it has points
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
            s.prepare();
            refs.add(s.ref);
        }
        ARMED.addAll(refs); // The last step that needs memory: either all are armed, and on the list, or none.
        for (Site s : fresh) {
            s.arm();
        }
        MutableCallSite.syncAll(all);
        armings += fresh.size();
    }

    /** Whether a frame further up is of the same method. A recursion is deep; looking back a little is enough. */
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
     * Collects the unarmed sites of a frame's method up to a depth, or of the next depth that has any when there are none at
     * all so far; returns how many levels the method has.
     */
    private static int collect(StackTraceElement frame, int depth, List<Site> fresh) {
        int levels = 0;
        int next = Integer.MAX_VALUE;
        ClassSites[] classes = ClassSites.of(frame);
        for (ClassSites sites : classes) {
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
     * Disarms the points that have stopped nobody for so long. A point that had to be armed before stays armed twice as
     * long each time, and at last for ever: each change costs a compilation.
     *
     * @return how many were disarmed
     */
    public static int disarm(long idleNanos) {
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

    /** Disarms everything at once, whatever it has cost. */
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

    /** The methods that have armed points, with the depth of each: {@code com.acme.Parser.parse 0}. */
    public static List<String> armed() {
        synchronized (LOCK) {
            return alive().stream().map(Site::toString).distinct().sorted().toList();
        }
    }

    /** Whether any point was ever reached; if not, neither a nudge nor arming helps. */
    public static boolean any() {
        return ClassSites.any();
    }

    /** What was done so far. */
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

    /** The bootstrap method of every point, called through {@link JdkPoint}. */
    static CallSite link(MethodHandles.Lookup lookup, String name, MethodType type, String method, int depth) {
        if (!used) {
            used = true;
            if (wanted) {
                JdkPoint.setWanted(true);
                if (!wanted) { // It was cleared meanwhile, perhaps before we set it: nobody would clear it again.
                    JdkPoint.setWanted(false);
                }
            }
        }
        Site site = new Site(type, method, depth % PointWriter.VECTOR, depth >= PointWriter.VECTOR, eager);
        ClassSites.add(lookup.lookupClass(), site);
        LINKED.increment();
        VarHandle.fullFence(); // Partner: in armAll.
        if (eager && !site.eager && !site.vector && site.learn()) {
            learn(site); // eager was false when the site was made, and armAll may have looked at the sites already.
        }
        return site;
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
                setWanted(false); // It may undo what sysmon says at this moment: sysmon says it again at its next look.
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
