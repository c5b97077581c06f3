package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.Map;
import java.util.Set;

/**
 * The Java agent: gives the runtime access to the JDK's virtual threads, so that {@code -javaagent:gmp4j-runtime.jar} is
 * the only flag a program needs, and adds preemption points to classes as they load ({@link PointOptions} says to which).
 * An executable jar of ours names it as {@code Launcher-Agent-Class} instead.
 */
public final class Agent {
    private Agent() {
    }

    /** Started by {@code -javaagent}. A bad option ends the program with one sentence and exit code 2. */
    public static void premain(String args, Instrumentation instrumentation) {
        open(instrumentation);
        try {
            addPoints(args, instrumentation, false);
        } catch (IllegalArgumentException e) {
            System.err.println("gmp4j: " + e.getMessage());
            System.exit(2);
        }
    }

    /** Started by {@code Launcher-Agent-Class}, before the main class is loaded, or attached to a running program. */
    public static void agentmain(String args, Instrumentation instrumentation) {
        if ("main".equals(Thread.currentThread().getName())) {
            premain(args, instrumentation);
        } else {
            open(instrumentation);
            addPoints(args, instrumentation, true);
        }
    }

    private static void open(Instrumentation instrumentation) {
        Module base = Object.class.getModule();
        Set<Module> us = Set.of(Agent.class.getModule());
        instrumentation.redefineModule(base, Set.of(), Map.of("jdk.internal.vm", us), Map.of("java.lang", us), Set.of(),
                Map.of());
    }

    private static void addPoints(String args, Instrumentation instrumentation, boolean attached) {
        PointOptions options = PointOptions.of(args, System.getProperties());
        if (!options.on()) {
            return;
        }
        if (JdkPoint.PROBLEM != null) {
            System.err.println(JdkPoint.PROBLEM);
            return;
        }
        Points.setEager(options.eager());
        PointTransformer transformer = new PointTransformer(options);
        // A transformer that may change loaded classes makes the JVM keep the original of every class that it changes.
        boolean loaded = (attached || options.includesAny()) && instrumentation.isRetransformClassesSupported();
        instrumentation.addTransformer(transformer, loaded);
        if (loaded) {
            changeLoaded(transformer, instrumentation);
        }
    }

    /** The classes that were there before us: those of the JDK that patterns name, and all others when we are attached. */
    private static void changeLoaded(PointTransformer transformer, Instrumentation instrumentation) {
        for (Class<?> c : instrumentation.getAllLoadedClasses()) {
            if (instrumentation.isModifiableClass(c) && !c.isHidden() && transformer.isMeant(c.getModule(),
                    c.getClassLoader(), c.getName().replace('.', '/'), c.getProtectionDomain())) {
                try {
                    instrumentation.retransformClasses(c);
                } catch (UnmodifiableClassException | LinkageError | InternalError e) {
                    LeftAlone.FAILED.count();
                }
            }
        }
    }
}
