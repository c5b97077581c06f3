package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;

/**
 * The Java agent: gives the runtime access to the JDK's virtual threads, so that {@code -javaagent:gmp4j-runtime.jar} is
 * the only flag a program needs. An executable jar of ours names it as {@code Launcher-Agent-Class} instead.
 */
public final class Agent {
    private Agent() {
    }

    /** Started by {@code -javaagent}. */
    public static void premain(String args, Instrumentation instrumentation) {
        open(instrumentation);
    }

    /** Started by {@code Launcher-Agent-Class}, or attached. */
    public static void agentmain(String args, Instrumentation instrumentation) {
        open(instrumentation);
    }

    private static void open(Instrumentation instrumentation) {
        Module base = Object.class.getModule();
        Set<Module> us = Set.of(Agent.class.getModule());
        instrumentation.redefineModule(base, Set.of(), Map.of("jdk.internal.vm", us), Map.of("java.lang", us), Set.of(),
                Map.of());
    }
}
