// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.gmp4j.agent.PointOptions.When;

/** Starts the agent, on a JDK that can read this class: opens packages, makes the default scheduler, and adds points. */
final class AgentStart implements Agent.Starter {
    static {
        Agent.starter = new AgentStart();
    }

    /** The number of classes that are transformed again in one pause. A pause with fewer classes would hardly be shorter. */
    private static final int BATCH = 100;

    private AgentStart() {
    }

    /**
     * Starts the agent.
     *
     * @param attached whether the program is running already
     * @throws IllegalArgumentException with one sentence about a bad option
     * @throws IllegalStateException with one sentence, when the scheduler cannot run in this JVM
     */
    @Override
    public void start(String args, Instrumentation instrumentation, boolean attached) {
        open(instrumentation);
        AgentOptions options = AgentOptions.of(args);
        When otherwise = When.LOAD;
        if (options.asksForDefault() || DefaultStart.isAsked()) {
            DefaultStart.check();
            otherwise = When.DEMAND;
        }
        PointOptions points = PointOptions.of(options, System.getProperties(), otherwise);
        boolean onDemand = points.when() == When.DEMAND && instrumentation.isRetransformClassesSupported();
        if (onDemand) {
            OnDemand.start(instrumentation, points);
        }
        options.setProperties();
        DefaultStart.ifAsked(); // If another copy of gmp4j is the scheduler, this throws, and the points stay with that copy.
        if (!onDemand) {
            try {
                addPoints(points, instrumentation, attached);
            } catch (LinkageError | OutOfMemoryError e) { // The scheduler runs without them.
                System.err.println("gmp4j cannot add preemption points in this JVM: " + e);
            }
        }
    }

    /** Opens the JDK's packages to the runtime, and allows the runtime's native calls. */
    static void open(Instrumentation instrumentation) {
        Module base = Object.class.getModule();
        Set<Module> us = Set.of(Agent.class.getModule());
        instrumentation.redefineModule(base, Set.of(), Map.of("jdk.internal.vm", us), Map.of("java.lang", us), Set.of(),
                Map.of());
        JdkAccess.enableNativeAccess(Agent.class.getModule());
    }

    private static void addPoints(PointOptions options, Instrumentation instrumentation, boolean attached) {
        if (options.when() == When.OFF) {
            return;
        }
        if (JdkPoint.PROBLEM != null) {
            System.err.println(JdkPoint.PROBLEM);
            return;
        }
        Points.initialize();
        if (options.when() == When.EAGER) {
            Points.setEager(true);
        }
        PointTransformer transformer = new PointTransformer(options);
        // Only if needed: for a transformer that may change loaded classes the JVM keeps the original file of each changed class.
        boolean loaded = (attached || options.includesAny()) && instrumentation.isRetransformClassesSupported();
        instrumentation.addTransformer(transformer, loaded);
        if (loaded) {
            changeLoaded(transformer, instrumentation);
        }
    }

    /**
     * Adds points to classes that were loaded before the agent: classes of the JDK that patterns name and, when the agent was attached,
     * classes of the program.
     */
    private static void changeLoaded(PointTransformer transformer, Instrumentation instrumentation) {
        List<Class<?>> meant = new ArrayList<>();
        for (Class<?> c : instrumentation.getAllLoadedClasses()) {
            if (transformer.isMeant(instrumentation, c)) {
                meant.add(c);
            }
        }
        for (int i = 0; i < meant.size(); i += BATCH) {
            Retransformation.of(instrumentation, meant.subList(i, Math.min(i + BATCH, meant.size())));
        }
    }
}
