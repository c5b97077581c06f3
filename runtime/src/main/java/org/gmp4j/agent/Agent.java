// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.lang.instrument.Instrumentation;
import java.security.CodeSource;
import java.util.Arrays;
import java.util.List;

/**
 * The Java agent. It gives the runtime access to the JDK's virtual threads, so that {@code -javaagent:gmp4j-runtime.jar} is the only
 * flag a program needs. It adds preemption points to the classes that {@link PointOptions} selects. With the option
 * {@code default} it makes all virtual threads goroutines. An executable jar may name this class as its {@code Launcher-Agent-Class}, and
 * then needs no flag.
 *
 * <p>Only this class and its {@link Starter} are compiled for Java 8, so that an older Java can load them. Then it reports which Java is
 * needed.
 */
public final class Agent {
    private static final List<String> JDKS = Arrays.asList("25", "26", "27");
    private static final int BAD_USAGE = 2;
    private static final String FALLBACK = "fallback";
    /** The main classes of Maven and Gradle: see {@link #premain}. */
    private static final List<String> TOOLS = Arrays.asList("org.codehaus.plexus.classworlds.launcher.Launcher",
            "org.gradle.wrapper.GradleWrapperMain", "org.gradle.launcher.GradleMain", "org.gradle.launcher.daemon.bootstrap.GradleDaemon");

    /**
     * Starts the agent. An older Java cannot load the starter's class, so that class sets this field when it is initialised. (A call by
     * reflection takes longer to link.)
     */
    @SuppressWarnings("NullAway.Init")
    static Starter starter;

    interface Starter {
        void start(String args, Instrumentation instrumentation, boolean attached);
    }

    private Agent() {
    }

    /**
     * Starts the agent for {@code -javaagent}. A bad option ends the program with one sentence and exit code 2. The option {@code
     * fallback}, else the property {@code gmp.fallback}, else the variable {@code GMP_FALLBACK}, says what happens if gmp4j cannot run.
     * With {@code warn}, the default, the program runs without gmp4j, and one line says why. With {@code off} the program runs without
     * gmp4j and without that line. With {@code fail} the program ends with one sentence and exit code 2. If {@code JAVA_TOOL_OPTIONS} names
     * the agent, the agent does nothing in tools of the JDK, in Maven and in Gradle.
     */
    public static void premain(String args, Instrumentation instrumentation) {
        if (isTool()) {
            return;
        }
        String fallback = "fail";
        try {
            fallback = fallback(args);
            start(args, instrumentation, false);
        } catch (Throwable e) { // An exception would make the JVM print a stack trace and end.
            if (e instanceof IllegalArgumentException || fallback.equals("fail")) {
                System.err.println(sentence(e));
                end(instrumentation);
            } else if (fallback.equals("warn")) {
                System.err.println(sentence(e).replaceAll("\\.$", "") + " (the JVM goes on without gmp4j; fallback=fail would end it)");
            }
        }
    }

    private static void end(Instrumentation instrumentation) {
        System.err.flush();
        try {
            Class.forName("org.gmp4j.agent.AgentExit").getDeclaredMethod("now", int.class, Instrumentation.class)
                    .invoke(null, BAD_USAGE, instrumentation);
        } catch (ReflectiveOperationException | LinkageError e) {
            System.exit(BAD_USAGE); // An older Java cannot load AgentExit.
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

    /** Returns the value of the option {@code fallback}, else of the property, else of the variable, else {@code warn}. */
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

    /**
     * The JVM calls this for {@code Launcher-Agent-Class}, before the main class is loaded, and when the agent is attached to a running
     * program. An exception in an attached agent goes to the program that attaches it.
     */
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
            Class<?> unused = Class.forName("org.gmp4j.agent.AgentStart");
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("gmp4j's jar is not whole: " + e, e);
        }
        starter.start(args, instrumentation, attached);
    }
}
