// SPDX-License-Identifier: Apache-2.0
package org.gmp4j.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * The settings that determine which classes get points, and when. They come from the system properties {@code gmp.points} ({@code demand},
 * {@code load}, {@code eager}, {@code off}), {@code gmp.points.include} and {@code gmp.points.exclude} (patterns, comma-separated), and
 * from the agent's argument, which overrides them: {@code
 * -javaagent:gmp4j-runtime.jar=include=com.acme.**,java.util.regex.*,exclude=com.acme.gen.**}.
 *
 * <p>Without patterns every class gets points, except the classes of the JDK, of gmp4j, of other agents ({@link Origin}) and of libraries
 * that keep state in the native thread. If several patterns match a class, the pattern that fixes most characters of the name decides.
 * Among patterns that fix equally many, an exclusion decides. For example, with {@code exclude=**,include=com.acme.**} only classes of
 * {@code com.acme} get points. Classes that a point itself needs never get points.
 */
final class PointOptions {
    private static final String PREFIX = "gmp.points";

    /**
     * Libraries that keep state in the native thread from one call to the next, such as the {@code errno} that JNA returns later. At a
     * point between the two calls another goroutine could get the thread.
     */
    private static final String[] OF_THREAD = {"com/sun/jna/", "com/kenai/jffi/", "org/bytedeco/", "org/lwjgl/"};
    /** The packages whose classes are used when a point is linked. */
    private static final String[] CORE = {"java/lang/", "java/util/concurrent/", "java/util/function/", "java/security/",
            "jdk/internal/", "sun/"};
    /** Only loaders of the JDK can define a class with this prefix. */
    private static final String JAVA = "java/";
    private static final String UTIL = "java/util/";

    /** The time at which a class gets points. */
    enum When {
        /** A class gets points when a goroutine has exceeded its quantum in it: {@link OnDemand}. */
        DEMAND,
        /** A class gets points when it loads. */
        LOAD,
        /** A class gets points when it loads, and each point is armed when it is linked: {@link Points#setEager}. */
        EAGER,
        /** No class gets points. */
        OFF
    }

    private When when;
    private List<ClassPattern> include = List.of();
    private List<ClassPattern> exclude = List.of();

    private PointOptions(When when) {
        this.when = when;
    }

    /**
     * Reads the settings.
     *
     * @param otherwise the time at which classes get points if neither the argument nor a property sets one
     * @throws IllegalArgumentException with one sentence for the user
     */
    static PointOptions of(AgentOptions agentOptions, Properties properties, When otherwise) {
        PointOptions options = new PointOptions(otherwise);
        for (String name : List.of("", ".include", ".exclude")) {
            String value = properties.getProperty(PREFIX + name);
            if (value != null) {
                options.set(PREFIX + name, value);
            }
        }
        for (Map.Entry<String, String> e : agentOptions.points().entrySet()) {
            options.set(e.getKey(), e.getValue());
        }
        return options;
    }

    private void set(String name, String value) {
        switch (name) {
            case PREFIX, "points" -> when = switch (value.strip()) {
                case "demand" -> When.DEMAND;
                case "load", "on" -> When.LOAD;
                case "eager" -> When.EAGER;
                case "off" -> When.OFF;
                default -> throw new IllegalArgumentException(
                        "%s is demand, load, eager or off, not \"%s\".".formatted(PREFIX, value));
            };
            case PREFIX + ".include", "include" -> include = patterns(value);
            case PREFIX + ".exclude", "exclude" -> exclude = patterns(value);
            default -> throw new AssertionError(name);
        }
    }

    private static List<ClassPattern> patterns(String value) {
        List<ClassPattern> patterns = new ArrayList<>();
        for (String pattern : value.split(",", -1)) {
            if (!pattern.isBlank()) {
                patterns.add(new ClassPattern(pattern.strip()));
            }
        }
        return List.copyOf(patterns);
    }

    When when() {
        return when;
    }

    /**
     * Returns whether there are patterns to include classes. Because they may match classes of the JDK that are loaded already, the agent
     * then checks loaded classes too.
     */
    boolean includesAny() {
        return !include.isEmpty();
    }

    /**
     * Returns whether the class of this internal name gets points.
     *
     * @param jdk whether the class is of the JDK, which its name does not show: other packages may have names like the JDK's
     * @param agents whether the class is another agent's own
     */
    boolean includes(String name, boolean jdk, boolean agents) {
        boolean jdks = jdk || name.startsWith(JAVA);
        if (jdks && isCore(name)) {
            return false;
        }
        int in = weight(include, name);
        int out = weight(exclude, name);
        return in < 0 && out < 0 ? !jdks && !agents && !startsWith(name, OF_THREAD) : in > out;
    }

    private static int weight(List<ClassPattern> patterns, String name) {
        int weight = -1;
        for (ClassPattern p : patterns) {
            if (p.matches(name)) {
                weight = Math.max(weight, p.weight());
            }
        }
        return weight;
    }

    private static boolean isCore(String name) {
        return startsWith(name, CORE) || name.startsWith(UTIL) && name.indexOf('/', UTIL.length()) < 0;
    }

    private static boolean startsWith(String name, String[] prefixes) {
        for (String p : prefixes) {
            if (name.startsWith(p)) {
                return true;
            }
        }
        return false;
    }
}
