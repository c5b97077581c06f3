// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;

/**
 * The Java agent. It gives the runtime access to the JDK's virtual threads, so that {@code -javaagent:gmp4j-runtime.jar} is the only
 * flag a program needs; it adds preemption points to classes as they load ({@link PointOptions} says to which); and it makes all
 * virtual threads goroutines if the option {@code default} asks for that. An executable jar may name it as
 * {@code Launcher-Agent-Class} instead.
 *
 * <p>This class alone is compiled for Java 8, before the others, so that an older Java says what it lacks.
 */
public final class Agent {
    private static final String JDK = "25";
    private static final int BAD_USAGE = 2;

    private Agent() {
    }

    /** Started by {@code -javaagent}. Whatever goes wrong ends the program with one sentence and exit code 2. */
    public static void premain(String args, Instrumentation instrumentation) {
        try {
            start(args, instrumentation, false);
        } catch (Throwable e) { // The JVM would print a stack trace, of itself, and end as well.
            System.err.println(sentence(e));
            System.exit(BAD_USAGE);
        }
    }

    private static String sentence(Throwable e) {
        Throwable reason = e;
        while (reason instanceof ExceptionInInitializerError && reason.getCause() != null) {
            reason = reason.getCause();
        }
        boolean ours = reason instanceof IllegalArgumentException || reason instanceof IllegalStateException;
        if (!ours || reason.getMessage() == null) {
            return "gmp4j cannot start in this JVM: " + reason;
        }
        return reason.getMessage().startsWith("gmp4j ") ? reason.getMessage() : "gmp4j: " + reason.getMessage();
    }

    /** Started by {@code Launcher-Agent-Class}, before the main class is loaded, or attached to a running program. */
    public static void agentmain(String args, Instrumentation instrumentation) {
        if ("main".equals(Thread.currentThread().getName())) {
            premain(args, instrumentation);
        } else {
            start(args, instrumentation, true);
        }
    }

    private static void start(String args, Instrumentation instrumentation, boolean attached) {
        String version = System.getProperty("java.specification.version");
        if (!JDK.equals(version)) {
            throw new IllegalStateException("gmp4j needs JDK " + JDK + ", this is " + System.getProperty("java.version")
                    + ": start the program with a JDK " + JDK);
        }
        try {
            Object unused = Class.forName("org.gmp4j.agent.AgentStart")
                    .getDeclaredMethod("start", String.class, Instrumentation.class, boolean.class)
                    .invoke(null, args, instrumentation, attached);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException) {
                throw (RuntimeException) e.getCause();
            }
            throw (Error) e.getCause(); // It declares no others.
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("gmp4j's jar is not whole: " + e, e);
        }
    }
}
