// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.LongAdder;

import org.gmp4j.agent.PointScan.MethodPoints;
import org.jspecify.annotations.Nullable;

/**
 * Points on demand: classes load unchanged, and get points when {@code sysmon.Demand} asks for them. No transformer is registered before
 * the first such request, because HotSpot would reconstitute the file of each class that loads, to pass it to the transformer. The class of
 * points is not defined at the start either, because a start would load some 40 classes for it.
 *
 * <p>From then on the transformer stays registered, so that points survive when another agent transforms their class again. The other
 * agents' changes survive too, in any order of the agents, because the JVM calls all transformers each time.
 *
 * <p>Any thread may call the methods, but calls of {@link #give} and {@link #prepare} must not overlap.
 */
public final class OnDemand implements ClassFileTransformer {
    private static volatile @Nullable OnDemand on;

    /**
     * The number of pieces that {@link #room} allocates. The initialisers need less memory than these pieces together. No collector treats
     * a piece as a large object.
     */
    private static final int ROOM_PIECES = 16;
    private static final int PIECE = 64 << 10;

    private static final LongAdder GIVEN = new LongAdder();
    private static final LongAdder PAUSES = new LongAdder();
    private static final LongAdder NANOS = new LongAdder();

    private final Instrumentation instrumentation;
    private final PointOptions options;
    /** Made when the first class is considered. Guarded by the monitor. */
    private @Nullable PointTransformer points;
    /** The classes that have points, or are about to get them. Other threads read this set when the JVM transforms classes again. */
    private final Set<Class<?>> given = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    /** Whether {@link #prepare} has defined the class of points. Only the thread gmp-points accesses this field and the next two. */
    private boolean prepared;
    /** Whether {@link #prepare} has found that classes can have no points in this JVM. */
    private boolean refused;
    private boolean registered;

    private OnDemand(Instrumentation instrumentation, PointOptions options) {
        this.instrumentation = instrumentation;
        this.options = options;
    }

    /** Starts points on demand: from now on {@link #give} adds points to classes. */
    static void start(Instrumentation instrumentation, PointOptions options) {
        on = new OnDemand(instrumentation, options);
    }

    private synchronized PointTransformer points() {
        PointTransformer made = points;
        if (made == null) {
            int _ = room();
            made = new PointTransformer(options);
            points = made;
        }
        return made;
    }

    /** Returns the object that adds points on demand in this JVM; null when points are not added on demand. */
    public static @Nullable OnDemand get() {
        return on;
    }

    /**
     * The work of this class so far.
     *
     * @param classes the number of classes that have got points
     * @param pauses the number of calls of {@link #give}, each normally one pause, in which the JVM stops all threads
     * @param nanos the total time of the transformations, ns; the threads are stopped for a part of it
     */
    public record Counts(long classes, long pauses, long nanos) {
    }

    /** Returns the counts of this process so far. */
    public static Counts counts() {
        return new Counts(GIVEN.sum(), PAUSES.sum(), NANOS.sum());
    }

    /** Returns whether a class may have points, by its name, its origin and its kind. */
    public boolean mayHave(Class<?> c) {
        return points().isMeant(instrumentation, c);
    }

    /** Returns whether a class has points, or is about to get them. */
    public boolean has(Class<?> c) {
        return given.contains(c);
    }

    /**
     * Finds the methods that would get points in a class. Each name has a flag that says whether, in a method of that name, a loop contains
     * a counting loop.
     *
     * @return an empty map when no method would get points; null when there is no class file, for instance for a class made at run time, or
     *     when the file is unreadable, for instance encrypted
     */
    public static @Nullable Map<String, Boolean> methods(Class<?> c) {
        String name = c.getName();
        try (InputStream in = c.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            if (in == null) {
                return null;
            }
            PointScan scan = PointScan.of(in.readAllBytes());
            if (scan.leftAlone() == LeftAlone.UNKNOWN_FORMAT) {
                return null;
            }
            Map<String, Boolean> methods = new TreeMap<>();
            if (scan.leftAlone() == null) {
                for (MethodPoints m : scan.found()) {
                    boolean _ = methods.merge(scan.utf8(m.name()), scan.countsWithinLoop(m), Boolean::logicalOr);
                }
            }
            return methods;
        } catch (IOException | RuntimeException | LinkageError e) {
            return null; // A loader, such as one of a stopped application, may throw any exception.
        }
    }

    /**
     * Adds points to these classes, in one pause if the JVM can do that. A class that cannot be changed stays as it is.
     *
     * @return the classes that could not be changed, normally none
     */
    public List<Class<?>> give(List<Class<?>> classes) {
        if (!prepare()) {
            return classes;
        }
        int _ = room(); // JDK 25 crashes when it lacks memory for the exception that refuses a transformation.
        long began = System.nanoTime();
        if (!registered) {
            instrumentation.addTransformer(this, true);
            registered = true;
        }
        List<Class<?>> failed = classes; // The value if an error is thrown, for instance for lack of memory.
        try {
            boolean _ = given.addAll(classes);
            failed = Retransformation.of(instrumentation, classes);
        } finally {
            for (int i = 0; i < failed.size(); i++) { // There may be no memory for an iterator or a lambda.
                boolean _ = given.remove(failed.get(i));
            }
        }
        GIVEN.add(classes.size() - failed.size());
        PAUSES.increment();
        NANOS.add(System.nanoTime() - began);
        return failed;
    }

    /**
     * Defines the class of points inside the JDK, and initialises the classes by which points are linked and armed. {@code sysmon.Demand}
     * calls this some seconds after the start, because a class whose initialiser lacks memory can never be used. The first request calls it
     * too, as it may come before that.
     *
     * @return false if classes can have no points in this JVM; the first such call prints the reason
     * @throws OutOfMemoryError when there is little memory; the next call tries again, but if an initialiser ran out of memory, that call
     *     returns false
     */
    public boolean prepare() {
        if (prepared || refused) {
            return prepared;
        }
        int _ = room();
        String problem;
        try {
            problem = JdkPoint.PROBLEM;
            if (problem == null) {
                Points.initialize();
                PointTransformer _ = points();
            }
        } catch (LinkageError e) {
            problem = "gmp4j cannot add preemption points in this JVM, because a class could not be initialised: " + e;
        }
        if (problem != null) {
            System.err.println(problem);
        }
        prepared = problem == null;
        refused = !prepared;
        return prepared;
    }

    /** Throws an OutOfMemoryError if there is little memory, because a class whose initialiser lacks memory can never be used. */
    private static int room() {
        return new byte[ROOM_PIECES][PIECE].length;
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader, @Nullable String name,
            @Nullable Class<?> loaded, @Nullable ProtectionDomain domain, byte[] classFile) {
        return loaded == null || !given.contains(loaded) ? null
                : points().transform(module, loader, name, loaded, domain, classFile);
    }
}
