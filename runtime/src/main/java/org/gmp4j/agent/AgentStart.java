// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.util.Map;
import java.util.Set;

/** What the agent does, on a JDK that can read this class: access, points, the default scheduler. */
final class AgentStart {
    private AgentStart() {
    }

    /**
     * Does it.
     *
     * @param attached whether the program runs already
     * @throws IllegalArgumentException with one sentence about a bad option
     * @throws IllegalStateException with one sentence, when the scheduler cannot run in this JVM
     */
    static void start(String args, Instrumentation instrumentation, boolean attached) {
        open(instrumentation);
        AgentOptions options = AgentOptions.of(args);
        addPoints(PointOptions.of(options, System.getProperties()), instrumentation, attached);
        options.setProperties();
        DefaultStart.ifAsked();
    }

    private static void open(Instrumentation instrumentation) {
        Module base = Object.class.getModule();
        Set<Module> us = Set.of(Agent.class.getModule());
        instrumentation.redefineModule(base, Set.of(), Map.of("jdk.internal.vm", us), Map.of("java.lang", us), Set.of(),
                Map.of());
    }

    private static void addPoints(PointOptions options, Instrumentation instrumentation, boolean attached) {
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
