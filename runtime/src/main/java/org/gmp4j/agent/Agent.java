// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.List;

/**
 * The Java agent. It gives the runtime access to the JDK's virtual threads, so that {@code -javaagent:gmp4j-runtime.jar} is the only
 * flag a program needs; it adds preemption points to classes as they load ({@link PointOptions} says to which); and it makes all
 * virtual threads goroutines if the option {@code default} asks for that. An executable jar may name it as
 * {@code Launcher-Agent-Class} instead.
 *
 * <p>This class alone is compiled for Java 8, before the others, so that an older Java says what it lacks.
 */
public final class Agent {
    private static final List<String> JDKS = Arrays.asList("25", "26", "27");
    private static final int BAD_USAGE = 2;
    private static final String FALLBACK = "fallback";
    /** Programs that a variable with the agent in it is not meant for: Maven and Gradle. Those of the JDK are modules of their own. */
    private static final List<String> TOOLS = Arrays.asList("org.codehaus.plexus.classworlds.launcher.Launcher",
            "org.gradle.wrapper.GradleWrapperMain", "org.gradle.launcher.GradleMain", "org.gradle.launcher.daemon.bootstrap.GradleDaemon");

    private Agent() {
    }

    /**
     * Started by {@code -javaagent}. A bad option ends the program with one sentence and exit code 2. Where gmp4j cannot run, the option
     * {@code fallback}, the property {@code gmp.fallback} or the variable {@code GMP_FALLBACK} decides: with {@code warn}, the default,
     * the program goes on without it and one line says why; with {@code off} no line does; with {@code fail} the program ends with one
     * sentence and exit code 2. A tool of the JDK, Maven and Gradle are left alone where {@code JAVA_TOOL_OPTIONS} names the agent.
     */
    public static void premain(String args, Instrumentation instrumentation) {
        if (isTool()) {
            return;
        }
        String fallback = "fail";
        try {
            fallback = fallback(args);
            start(args, instrumentation, false);
        } catch (Throwable e) { // The JVM would print a stack trace, of itself, and end.
            if (e instanceof IllegalArgumentException || fallback.equals("fail")) {
                System.err.println(sentence(e));
                System.exit(BAD_USAGE);
            } else if (fallback.equals("warn")) {
                System.err.println(sentence(e).replaceAll("\\.$", "") + " (the JVM goes on without gmp4j; fallback=fail would end it)");
            }
        }
    }

    private static boolean isTool() {
        String options = System.getenv("JAVA_TOOL_OPTIONS");
        CodeSource source = Agent.class.getProtectionDomain().getCodeSource();
        if (options == null || source == null) {
            return false;
        }
        String jar = source.getLocation().getPath();
        String module = System.getProperty("jdk.module.main", "");
        String main = System.getProperty("sun.java.command", "").split(" ", 2)[0];
        return options.contains(jar.substring(jar.lastIndexOf('/') + 1))
                && (module.startsWith("jdk.") || module.startsWith("java.") || TOOLS.contains(main));
    }

    /** Returns what the option says, else the property, else the variable. */
    private static String fallback(String args) {
        String value = System.getProperty("gmp.fallback", System.getenv("GMP_FALLBACK"));
        for (String part : args == null ? new String[0] : args.split(",")) {
            int equals = part.indexOf('=');
            if (equals >= 0 && part.substring(0, equals).trim().equals(FALLBACK)) {
                value = part.substring(equals + 1);
            }
        }
        String wanted = value == null || value.trim().isEmpty() ? "warn" : value.trim();
        if (!Arrays.asList("warn", "off", "fail").contains(wanted)) {
            throw new IllegalArgumentException("fallback is \"" + wanted + "\": use warn, off or fail");
        }
        return wanted;
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
        if (!JDKS.contains(version)) {
            throw new IllegalStateException("gmp4j needs JDK 25, 26 or 27, this is " + System.getProperty("java.version")
                    + ": start the program with one of these");
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
