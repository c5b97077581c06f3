// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.LongAdder;

import org.gmp4j.agent.PointScan.MethodPoints;
import org.jspecify.annotations.Nullable;

/**
 * Points on demand: classes load as they are, and get points when somebody asks for it ({@code sysmon.Demand} does). Until the first
 * class is asked for, no transformer is registered: with one, HotSpot builds each class that loads anew and shows it its file.
 *
 * <p>From then on the transformer stays, so that the points survive when another agent transforms the class again. Other agents' changes
 * survive ours in the same way, in whatever order they were made: the JVM asks all transformers each time.
 *
 * <p>Methods are safe to call from any thread; {@link #give} from one at a time.
 */
public final class OnDemand implements ClassFileTransformer {
    private static volatile @Nullable OnDemand on;

    private static final LongAdder GIVEN = new LongAdder();
    private static final LongAdder PAUSES = new LongAdder();
    private static final LongAdder NANOS = new LongAdder();

    private final Instrumentation instrumentation;
    private final PointTransformer points;
    /** The classes that have points, or are about to get them. Other threads read it as the JVM transforms classes again. */
    private final Set<Class<?>> given = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    /** Written and read by {@link #give}. */
    private boolean registered;

    private OnDemand(Instrumentation instrumentation, PointTransformer points) {
        this.instrumentation = instrumentation;
        this.points = points;
    }

    /** From here on classes get points when they are asked for. */
    static void start(Instrumentation instrumentation, PointTransformer points) {
        on = new OnDemand(instrumentation, points);
    }

    /** What gives points on demand in this JVM; null when they are not given so. */
    public static @Nullable OnDemand get() {
        return on;
    }

    /**
     * What was done so far.
     *
     * @param classes how many classes have got points
     * @param pauses how often classes were transformed again, each of which stops all threads
     * @param nanos how long that took in all, of which the threads stand still for a part
     */
    public record Counts(long classes, long pauses, long nanos) {
    }

    /** What was done so far in this process. */
    public static Counts counts() {
        return new Counts(GIVEN.sum(), PAUSES.sum(), NANOS.sum());
    }

    /** Whether a class may have points, as far as its name, its origin and its kind say. */
    public boolean mayHave(Class<?> c) {
        return !c.isHidden() && instrumentation.isModifiableClass(c)
                && points.isMeant(c.getModule(), c.getClassLoader(), c.getName().replace('.', '/'), c.getProtectionDomain());
    }

    /** Whether a class has got points, or is about to get them. */
    public boolean has(Class<?> c) {
        return given.contains(c);
    }

    /**
     * The names of the methods of a class that would get points.
     *
     * @return none when it would get none; null when its class file cannot be had, as of a class that was made at run time, or when what
     *     its loader gives for it is none, as where class files are encrypted
     */
    public static @Nullable Set<String> methods(Class<?> c) {
        String name = c.getName();
        try (InputStream in = c.getResourceAsStream(name.substring(name.lastIndexOf('.') + 1) + ".class")) {
            if (in == null) {
                return null;
            }
            PointScan scan = PointScan.of(in.readAllBytes());
            if (scan.leftAlone() == LeftAlone.UNKNOWN_FORMAT) {
                return null;
            }
            Set<String> methods = new TreeSet<>();
            if (scan.leftAlone() == null) {
                for (MethodPoints m : scan.found()) {
                    methods.add(scan.utf8(m.name()));
                }
            }
            return methods;
        } catch (IOException | RuntimeException | LinkageError e) {
            return null; // A loader may throw anything, such as one whose application was stopped.
        }
    }

    /**
     * Gives points to these classes, in one pause where the JVM can; a class that cannot be changed stays as it is.
     *
     * @return the classes that could not be changed, none as a rule
     */
    public List<Class<?>> give(List<Class<?>> classes) {
        long began = System.nanoTime();
        if (!registered) {
            instrumentation.addTransformer(this, true);
            registered = true;
        }
        given.addAll(classes);
        List<Class<?>> failed = classes; // For want of memory perhaps; then it is thrown.
        try {
            failed = Retransformation.of(instrumentation, classes);
        } finally {
            failed.forEach(given::remove);
        }
        GIVEN.add(classes.size() - failed.size());
        PAUSES.increment();
        NANOS.add(System.nanoTime() - began);
        return failed;
    }

    @Override
    public byte @Nullable [] transform(@Nullable Module module, @Nullable ClassLoader loader, @Nullable String name,
            @Nullable Class<?> loaded, @Nullable ProtectionDomain domain, byte[] classFile) {
        return loaded == null || !given.contains(loaded) ? null
                : points.transform(module, loader, name, loaded, domain, classFile);
    }
}
